// How long calls take: the device's by its own clock (CUDA events), the host's by the host's.
#pragma once

#include "gpu_device.cuh"

#include <parallax/cuda/nvidia/time_launches.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace bench {

using plx::cuda::detail::timed_event;

/// Marks a time on device 0; of all devices, what they have got to do lies before it, and what they get later behind.
inline void mark(timed_event& at, bool all_devices) {
  using event = plx::cuda::unique_event<api>;
  static std::vector<event>& arrived = *new std::vector<event>; // events do not outlive the driver
  auto& backend = gpu_backend::instance();
  const int devices = all_devices ? backend.device_count() : 1;
  for (int i = 1; i < devices; ++i) {
    backend.device_at(i).activate();
    if (arrived.size() < static_cast<std::size_t>(i)) arrived.emplace_back();
    const event& each = arrived[static_cast<std::size_t>(i - 1)];
    plx::cuda::check(api::record_event(each.get(), backend.device_at(i).stream()));
    plx::cuda::check(api::wait_event(stream(), each.get()));
  }
  device().activate();
  plx::cuda::check(at.record(stream()));
  for (int i = 1; i < devices; ++i) plx::cuda::check(api::wait_event(backend.device_at(i).stream(), at.get()));
}

/// Seconds of the device for one call, in each of so many samples of so many calls. Nothing is waited for between them.
inline std::vector<double> device_seconds(const std::function<void()>& enqueue, int runs, int samples,
                                          bool all_devices = false) {
  std::vector<timed_event> marks(static_cast<std::size_t>(samples) + 1);
  enqueue(); // so that the device has something to do when the first mark is reached
  mark(marks[0], all_devices);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    for (int k = 0; k < runs; ++k) enqueue();
    mark(marks[i], all_devices);
  }
  wait();
  std::vector<double> result;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    double seconds = 0;
    plx::cuda::check(marks[i].seconds_since(seconds, marks[i - 1]));
    result.push_back(seconds / runs);
  }
  return result;
}

/// Seconds of the host for one call, which the device may do later, in each of so many samples of so many calls.
inline std::vector<double> host_seconds(const std::function<void()>& enqueue, int runs, int samples) {
  std::vector<double> result;
  for (int i = 0; i < samples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < runs; ++k) enqueue();
    result.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs);
    wait();
  }
  return result;
}

/// Seconds of one call: the fastest, the middle one, and what nine of ten keep within.
struct call_times {
  double minimum = 0, median = 0, ninetieth = 0;
  std::size_t samples = 0;
};
inline call_times times_of(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t last = samples.size() - 1;
  return {samples.front(), samples[last / 2], samples[(last * 9 + 9) / 10], samples.size()};
}

/// How many calls a sample has, and how many samples a round.
struct sampling {
  int runs = 1, samples = 1;
};
inline sampling sampling_for(const gpu_case& measured, const contender& who) {
  for (int i = 0; i < 3; ++i) who.enqueue(); // chooses algorithms, takes memory, captures a graph and launches it
  wait();
  const double once = device_seconds(who.enqueue, 1, 1, measured.on_all_devices)[0];
  // fewer calls than a stream holds, so that the host waits in none
  if (measured.what == gpu_case::measure::host_time) return {static_cast<int>(std::clamp(2e-3 / once, 5., 100.)), 10};
  const int runs = static_cast<int>(std::clamp(1e-3 / once, 1., 1000.));
  return {runs, static_cast<int>(std::clamp(0.05 / (once * runs), 3., 10.))};
}
inline std::vector<double> seconds_of(const gpu_case& measured, const contender& who, const sampling& so) {
  return measured.what == gpu_case::measure::host_time
             ? host_seconds(who.enqueue, so.runs, so.samples)
             : device_seconds(who.enqueue, so.runs, so.samples, measured.on_all_devices);
}

/// The times of a case's contenders, who take turns: all meet the same temperature and clocks.
inline std::vector<call_times> times_of(const gpu_case& measured, const std::vector<contender>& contenders) {
  std::vector<sampling> how;
  for (const contender& each : contenders) how.push_back(sampling_for(measured, each));
  std::vector<std::vector<double>> seconds(contenders.size());
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      std::ranges::copy(seconds_of(measured, contenders[i], how[i]), std::back_inserter(seconds[i]));
  std::vector<call_times> result;
  for (std::vector<double>& each : seconds) result.push_back(times_of(std::move(each)));
  return result;
}

} // namespace bench
