// The time that work on a stream takes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cuda_runtime.h>

#include <chrono>
#include <thread>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// A point of a stream, with the time when the stream reached it.
class timed_event {
 public:
  timed_event() = default;
  timed_event(const timed_event&) = delete;
  timed_event& operator=(const timed_event&) = delete;
  ~timed_event() {
    if (event != nullptr) std::ignore = cudaEventDestroy(event);
  }
  status record(cudaStream_t stream) {
    const cudaError_t created = event == nullptr ? cudaEventCreate(&event) : cudaSuccess;
    return runtime_status("cudaEventRecord", created == cudaSuccess ? cudaEventRecord(event, stream) : created);
  }
  cudaEvent_t get() const { return event; }
  /// Waits until the stream has reached the event. `not_ready` if it has not after `most`, for example behind a
  /// collective that does not end.
  status wait(std::chrono::seconds most) const {
    const auto until = std::chrono::steady_clock::now() + most;
    status asked = query();
    while (asked.is == status::kind::not_ready && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
      asked = query();
    }
    return asked;
  }

  /// The time since `begin`. Both events have been reached.
  status seconds_since(double& seconds, const timed_event& begin) const {
    float milliseconds = 0;
    const cudaError_t code = cudaEventElapsedTime(&milliseconds, begin.event, event);
    seconds = static_cast<double>(milliseconds) * 1e-3;
    return runtime_status("cudaEventElapsedTime", code);
  }

 private:
  status query() const { return runtime_status("cudaEventQuery", cudaEventQuery(event)); }

  cudaEvent_t event = nullptr;
};

/// The mean time of the work that `enqueue` enqueues, in several runs after one that is not counted. Waits for the
/// stream, and returns `not_ready` if the stream does not reach the end in time.
template <class Enqueue> status time_launches(double& seconds, cudaStream_t stream, const Enqueue& enqueue) {
  constexpr int times = 5;
  constexpr std::chrono::seconds most_waited(10);
  if (status s = enqueue(); !s.ok()) return s;
  timed_event begin, end;
  if (status s = begin.record(stream); !s.ok()) return s;
  for (int n = 0; n < times; ++n)
    if (status s = enqueue(); !s.ok()) return s;
  if (status s = end.record(stream); !s.ok()) return s;
  if (status s = end.wait(most_waited); !s.ok()) return s;
  const status measured = end.seconds_since(seconds, begin);
  seconds /= times;
  return measured;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
