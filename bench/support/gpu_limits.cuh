// What a GPU can do at best: the limits that benchmarks are compared with.
#pragma once

#include "gpu_timing.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

/// Bytes per second, read and written, of the device's own copy of 256 MiB, which is more than caches hold.
inline double copy_bandwidth() {
  static const double measured = [] {
    constexpr std::int64_t count = std::int64_t{1} << 28;
    const auto from = random_array<std::uint8_t, 1>({count}, 1), to = random_array<std::uint8_t, 1>({count}, 2);
    auto copy = [&] {
      plx::cuda::check(api::copy_between(data_of(to), device().physical, data_of(from), device().physical,
                                         static_cast<std::size_t>(count), stream()));
    };
    return 2. * static_cast<double>(count) / times_of(device_seconds(copy, 5, 20)).median;
  }();
  return measured;
}

/// Reads 16 bytes at a time, four of them before it uses any.
struct read_kernel {
  using vector = plx::cuda::vector_of<std::uint32_t, 4>;
  struct arguments {
    const vector* x;
    std::uint32_t* mixed; ///< one of each thread
    std::int64_t vectors;
  };
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const std::int64_t step = block.blocks() * block.threads();
    const std::int64_t first = block.block() * block.threads() + block.thread();
    std::uint32_t mixed = 0;
    for (std::int64_t i = first; i < a.vectors; i += 4 * step) {
      vector loaded[4];
      for (int k = 0; k < 4; ++k) {
        const std::int64_t at = i + k * step;
        loaded[k] = block.load(a.x + (at < a.vectors ? at : i)); // no branch comes between the loads
      }
      for (const vector& each : loaded)
        for (std::uint32_t word : each.values) mixed ^= word;
    }
    block.store(a.mixed + first, mixed);
  }
};

/// Bytes per second of reading 256 MiB: the most that some numbers of blocks reach.
inline double read_bandwidth() {
  static const double measured = [] {
    constexpr std::int64_t count = std::int64_t{1} << 28;
    const auto from = random_array<std::uint8_t, 1>({count}, 1);
    const auto full = static_cast<unsigned>(device().properties.multiprocessors) * 8; // 2,048 threads on each
    const auto mixed = uninitialised<std::uint32_t, 1>({std::int64_t{full} * 4 * 256});
    double best = 0;
    for (const unsigned blocks : {full, 2 * full, 4 * full}) {
      auto read = [&] {
        plx::cuda::check(
            api::launch(read_kernel{}, {blocks, 256, 0}, stream(),
                        {reinterpret_cast<const read_kernel::vector*>(data_of(from)), data_of(mixed), count / 16}));
      };
      best = std::max(best, static_cast<double>(count) / times_of(device_seconds(read, 5, 20)).median);
    }
    return best;
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
    return times_of(host_seconds(launch, 100, 20)).median;
  }();
  return measured;
}

} // namespace bench
