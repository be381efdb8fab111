// The device and stream of a launch.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/kernels/loop/loop.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <launch_api Api> struct launch_context {
  typename Api::stream stream{};
  const device_properties* properties = nullptr;
  void* scratch = nullptr; ///< device memory that kernels share in stream order, aligned to 16 bytes
  std::size_t scratch_bytes = 0;
  std::int64_t largest = largest_loop; ///< loops with more elements or farther offsets are launched in parts
};

namespace detail {

inline constexpr int elementwise_threads = 256;

/// The number of blocks for so much work, at most a few for each block that fits the device at once: threads then take
/// several pieces.
template <launch_api Api>
unsigned block_count(std::int64_t work, std::int64_t per_block, const launch_context<Api>& where) {
  std::int64_t most = std::int64_t{where.properties->multiprocessors} * 32;
  return static_cast<unsigned>(std::clamp<std::int64_t>((work + per_block - 1) / per_block, 1, most));
}

/// The smallest power of two that is not below `x`, but at most `most`, itself a power of two.
constexpr int power_of_two(std::int64_t x, int most) {
  return x >= most ? most : static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(x, 1))));
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
