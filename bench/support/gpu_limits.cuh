// What a GPU can do at best: the limits that benchmarks are compared with.
#pragma once

#include "gpu_device.cuh"

#include <algorithm>
#include <cstddef>

namespace bench {

/// Units that do multiply-adds.
enum class arithmetic { f32, f64, tensor_f32, tensor_16_bit };

/// Floating-point operations per second at the highest clock; 0 where the architecture is not known here.
inline double peak_flops(arithmetic units) {
  auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    require(cudaDeviceGetAttribute(&value, which, device().physical) == cudaSuccess, "cudaDeviceGetAttribute");
    return value;
  };
  // of one multiprocessor in one cycle, in the order of the enumeration; a multiply-add is two
  struct {
    int capability;
    double each[4];
  } const known[] = {{80, {128, 128, 1024, 2048}}, {90, {256, 256, 2048, 4096}}, {100, {256, 128, 4096, 8192}}};
  const int capability =
      10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  for (const auto& architecture : known)
    if (architecture.capability == capability)
      return architecture.each[static_cast<int>(units)] * attribute(cudaDevAttrMultiProcessorCount) *
             (attribute(cudaDevAttrClockRate) * 1e3);
  return 0;
}

/// Bytes per second, read and written, of the device's own copy of 256 MiB.
inline double copy_bandwidth() {
  static const double measured = [] {
    constexpr std::int64_t count = std::int64_t{1} << 28;
    const auto from = random_array<std::uint8_t, 1>({count}, 1), to = random_array<std::uint8_t, 1>({count}, 2);
    auto copy = [&] {
      plx::cuda::check(api::copy_between(data_of(to), device().physical, data_of(from), device().physical,
                                         static_cast<std::size_t>(count), stream()));
    };
    double best = 1;
    for (int i = 0; i < 10; ++i) best = std::min(best, seconds_of_runs(copy, 20) / 20);
    return 2. * static_cast<double>(count) / best;
  }();
  return measured;
}

/// Seconds of the host for launching a kernel that does next to nothing.
inline double launch_seconds() {
  static const double measured = [] {
    const auto x = uninitialised<float, 1>({32});
    auto launch = [&] {
      plx::cuda::check(api::launch(fill_kernel<float>{}, {1, 32, 0}, stream(), {data_of(x), x.size(), 1}));
    };
    double best = 1;
    for (int i = 0; i < 10; ++i) best = std::min(best, host_seconds_of_runs(launch, 500) / 500);
    return best;
  }();
  return measured;
}

} // namespace bench
