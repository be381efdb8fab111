// CUDA graphs: work recorded from a stream, launched as one.
#pragma once

#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>

#include <cstddef>

namespace parallax::cuda {

/// The part of `device_api` that is about graphs.
struct graph_calls {
  using graph_node = cudaGraphNode_t;

  /// The captured graph (its nodes are handles for updates) and the executable made of it.
  struct graph {
    cudaGraph_t recorded = nullptr;
    cudaGraphExec_t executable = nullptr;
  };

  /// Only calls of the same thread are recorded or forbidden meanwhile.
  static status begin_capture(cudaStream_t stream) {
    return detail::runtime_status("cudaStreamBeginCapture",
                                  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }

  /// The node that what comes next would depend on. Fails where that is not one.
  static status last_captured(cudaStream_t stream, graph_node& node) {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t code = cudaStreamGetCaptureInfo(stream, &capturing, nullptr, nullptr, &nodes, nullptr, &count);
#else
    const cudaError_t code = cudaStreamGetCaptureInfo_v2(stream, &capturing, nullptr, nullptr, &nodes, &count);
#endif
    if (code != cudaSuccess) return detail::runtime_status("cudaStreamGetCaptureInfo", code);
    if (capturing != cudaStreamCaptureStatusActive || count != 1)
      return detail::runtime_status("cudaStreamGetCaptureInfo", cudaErrorIllegalState);
    node = nodes[0];
    return {};
  }

  static status end_capture(cudaStream_t stream, graph& made) {
    made = {};
    return detail::runtime_status("cudaStreamEndCapture", cudaStreamEndCapture(stream, &made.recorded));
  }

  static status instantiate(graph& made) {
    return detail::runtime_status("cudaGraphInstantiate", cudaGraphInstantiate(&made.executable, made.recorded, 0));
  }

  template <device_kernel K>
  static status update_launch(const graph& of, graph_node node, K, const launch_shape& shape,
                              const typename K::arguments& arguments) {
    void* values[] = {const_cast<typename K::arguments*>(&arguments)};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void*>(&detail::entry<K>);
    launch.gridDim = dim3(shape.blocks);
    launch.blockDim = dim3(shape.threads);
    launch.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
    launch.kernelParams = values;
    return detail::runtime_status("cudaGraphExecKernelNodeSetParams",
                                  cudaGraphExecKernelNodeSetParams(of.executable, node, &launch));
  }

  static status launch_graph(const graph& launched, cudaStream_t stream) {
    return detail::runtime_status("cudaGraphLaunch", cudaGraphLaunch(launched.executable, stream));
  }

  /// What still runs of it runs to its end.
  static status destroy_graph(const graph& old) {
    status destroyed;
    if (old.executable != nullptr)
      destroyed = detail::runtime_status("cudaGraphExecDestroy", cudaGraphExecDestroy(old.executable));
    if (old.recorded == nullptr) return destroyed;
    const status forgotten = detail::runtime_status("cudaGraphDestroy", cudaGraphDestroy(old.recorded));
    return destroyed.ok() ? forgotten : destroyed;
  }
};

} // namespace parallax::cuda
