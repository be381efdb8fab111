// How long work takes that is enqueued on a stream.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>

#include <tuple>

namespace parallax::cuda::detail {

/// A moment of a stream, whose time is known.
class timed_event {
 public:
  timed_event() = default;
  timed_event(const timed_event&) = delete;
  timed_event& operator=(const timed_event&) = delete;
  ~timed_event() {
    if (event != nullptr) std::ignore = cudaEventDestroy(event);
  }
  cudaError_t record(cudaStream_t stream) {
    const cudaError_t created = cudaEventCreate(&event);
    return created == cudaSuccess ? cudaEventRecord(event, stream) : created;
  }
  cudaEvent_t get() const { return event; }

 private:
  cudaEvent_t event = nullptr;
};

/// The mean time of what `enqueue` enqueues, of several times behind one that is not counted. Waits for the stream.
template <class Enqueue> status time_launches(double& seconds, cudaStream_t stream, const Enqueue& enqueue) {
  constexpr int times = 5;
  if (status s = enqueue(); !s.ok()) return s;
  timed_event begin, end;
  if (status s = runtime_status("cudaEventRecord", begin.record(stream)); !s.ok()) return s;
  for (int n = 0; n < times; ++n)
    if (status s = enqueue(); !s.ok()) return s;
  if (status s = runtime_status("cudaEventRecord", end.record(stream)); !s.ok()) return s;
  if (status s = runtime_status("cudaEventSynchronize", cudaEventSynchronize(end.get())); !s.ok()) return s;
  float milliseconds = 0;
  const cudaError_t code = cudaEventElapsedTime(&milliseconds, begin.get(), end.get());
  seconds = static_cast<double>(milliseconds) / (1000. * times);
  return runtime_status("cudaEventElapsedTime", code);
}

} // namespace parallax::cuda::detail
