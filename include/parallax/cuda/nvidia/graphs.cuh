// CUDA graphs: work recorded from a stream, launched as one.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

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

  using capture_mode = cudaStreamCaptureMode;
  static constexpr capture_mode relaxed_capture_mode = cudaStreamCaptureModeRelaxed;
  static status exchange_capture_mode(capture_mode& mode) {
    return detail::runtime_status("cudaThreadExchangeStreamCaptureMode", cudaThreadExchangeStreamCaptureMode(&mode));
  }

  /// The node that the next work would depend on. Fails if there is not exactly one.
  static status last_captured(cudaStream_t stream, graph_node& node) {
    capture_place place;
    const status found = find(stream, place);
    if (!found.ok()) return found;
    if (place.count != 1) return detail::runtime_status("cudaStreamGetCaptureInfo", cudaErrorIllegalState);
    node = place.nodes[0];
    return {};
  }

#if CUDART_VERSION >= 12040
  static status can_branch(bool& possible) {
    int version = 0;
    const cudaError_t code = cudaDriverGetVersion(&version);
    possible = code == cudaSuccess && version >= 12040;
    return detail::runtime_status("cudaDriverGetVersion", code);
  }
  static status create_condition(graph_condition& made, cudaStream_t stream) {
    capture_place place;
    if (const status found = find(stream, place); !found.ok()) return found;
    cudaGraphConditionalHandle handle = 0;
    const cudaError_t code = cudaGraphConditionalHandleCreate(&handle, place.graph, 0, cudaGraphCondAssignDefault);
    made.handle = handle;
    return detail::runtime_status("cudaGraphConditionalHandleCreate", code);
  }
  static status begin_body(conditional_kind kind, graph_condition condition, cudaStream_t stream, cudaStream_t inner) {
    capture_place place;
    if (const status found = find(stream, place); !found.ok()) return found;
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = condition.handle;
    node.conditional.type = kind == conditional_kind::once ? cudaGraphCondTypeIf : cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t added = nullptr;
    if (const cudaError_t code = add(added, place, node); code != cudaSuccess)
      return detail::runtime_status("cudaGraphAddNode", code);
    if (const cudaError_t code = go_on_behind(stream, added); code != cudaSuccess)
      return detail::runtime_status("cudaStreamUpdateCaptureDependencies", code);
    return detail::runtime_status("cudaStreamBeginCaptureToGraph",
                                  cudaStreamBeginCaptureToGraph(inner, node.conditional.phGraph_out[0], nullptr,
                                                                nullptr, 0, cudaStreamCaptureModeThreadLocal));
  }
  static status end_body(cudaStream_t inner) {
    cudaGraph_t same = nullptr; // which is the node's
    return detail::runtime_status("cudaStreamEndCapture", cudaStreamEndCapture(inner, &same));
  }
#else // this toolkit has no such nodes
  static status can_branch(bool& possible) {
    possible = false;
    return {};
  }
  static status create_condition(graph_condition&, cudaStream_t) { return no_conditions(); }
  static status begin_body(conditional_kind, graph_condition, cudaStream_t, cudaStream_t) { return no_conditions(); }
  static status end_body(cudaStream_t) { return no_conditions(); }
  static status no_conditions() {
    return detail::runtime_status("cudaGraphConditionalHandleCreate", cudaErrorNotSupported);
  }
#endif

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

  /// Destroys a graph. Launches that still run run to their end.
  static status destroy_graph(const graph& old) {
    status destroyed;
    if (old.executable != nullptr)
      destroyed = detail::runtime_status("cudaGraphExecDestroy", cudaGraphExecDestroy(old.executable));
    if (old.recorded == nullptr) return destroyed;
    const status forgotten = detail::runtime_status("cudaGraphDestroy", cudaGraphDestroy(old.recorded));
    return destroyed.ok() ? forgotten : destroyed;
  }

 private:
  /// The graph that a stream is captured to, and the nodes that the next work depends on.
  struct capture_place {
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
  };
  static status find(cudaStream_t stream, capture_place& place) {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
#if CUDART_VERSION >= 13000
    const cudaError_t code =
        cudaStreamGetCaptureInfo(stream, &capturing, nullptr, &place.graph, &place.nodes, nullptr, &place.count);
#else
    const cudaError_t code =
        cudaStreamGetCaptureInfo_v2(stream, &capturing, nullptr, &place.graph, &place.nodes, &place.count);
#endif
    if (code != cudaSuccess) return detail::runtime_status("cudaStreamGetCaptureInfo", code);
    if (capturing != cudaStreamCaptureStatusActive)
      return detail::runtime_status("cudaStreamGetCaptureInfo", cudaErrorIllegalState);
    return {};
  }
#if CUDART_VERSION >= 13000
  static cudaError_t add(cudaGraphNode_t& made, const capture_place& place, cudaGraphNodeParams& node) {
    return cudaGraphAddNode(&made, place.graph, place.nodes, nullptr, place.count, &node);
  }
  static cudaError_t go_on_behind(cudaStream_t stream, cudaGraphNode_t node) {
    return cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
  }
#elif CUDART_VERSION >= 12040
  static cudaError_t add(cudaGraphNode_t& made, const capture_place& place, cudaGraphNodeParams& node) {
    return cudaGraphAddNode(&made, place.graph, place.nodes, place.count, &node);
  }
  static cudaError_t go_on_behind(cudaStream_t stream, cudaGraphNode_t node) {
    return cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies);
  }
#endif
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
