// CUDA graphs: work recorded from a stream, launched as one.
#pragma once

#include <parallax/cuda/runtime_status.cuh>

#include <cuda_runtime.h>

namespace parallax::cuda {

/// The part of `device_api` that is about graphs.
struct graph_calls {
  using graph = cudaGraphExec_t;

  /// Only calls of the same thread are recorded or forbidden meanwhile.
  static status begin_capture(cudaStream_t stream) {
    return detail::runtime_status("cudaStreamBeginCapture",
                                  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }

  /// Updates `replaced` where only arguments differ from what it was, and makes it anew elsewhere.
  static status end_capture(cudaStream_t stream, graph& replaced) {
    cudaGraph_t captured = nullptr;
    if (cudaError_t code = cudaStreamEndCapture(stream, &captured); code != cudaSuccess)
      return detail::runtime_status("cudaStreamEndCapture", code);
    const status made = make(captured, replaced);
    const status destroyed = detail::runtime_status("cudaGraphDestroy", cudaGraphDestroy(captured));
    return made.ok() ? destroyed : made;
  }

  static status launch_graph(graph launched, cudaStream_t stream) {
    return detail::runtime_status("cudaGraphLaunch", cudaGraphLaunch(launched, stream));
  }

  static status destroy_graph(graph old) {
    if (old == nullptr) return {};
    return detail::runtime_status("cudaGraphExecDestroy", cudaGraphExecDestroy(old));
  }

 private:
  static status make(cudaGraph_t captured, graph& replaced) {
    if (replaced != nullptr) {
      cudaGraphExecUpdateResultInfo difference = {};
      const cudaError_t updated = cudaGraphExecUpdate(replaced, captured, &difference);
      if (updated != cudaErrorGraphExecUpdateFailure) return detail::runtime_status("cudaGraphExecUpdate", updated);
      static_cast<void>(cudaGetLastError()); // the graphs differ in more than arguments: no failure
      const status destroyed = destroy_graph(replaced);
      replaced = nullptr;
      if (!destroyed.ok()) return destroyed;
    }
    return detail::runtime_status("cudaGraphInstantiate", cudaGraphInstantiate(&replaced, captured, 0));
  }
};

} // namespace parallax::cuda
