// Sums and products of extents that may be beyond 64 bits.
#pragma once

#include <parallax/core/version.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Adds `b` to `sum`. Returns false, and leaves `sum` as it was, if the result is beyond 64 bits.
constexpr bool checked_add(std::int64_t& sum, std::int64_t b) {
  if (!__builtin_is_constant_evaluated()) { // the builtin asks the processor, and is no constant for all compilers
    std::int64_t result = 0;
    if (__builtin_add_overflow(sum, b, &result)) return false;
    sum = result;
    return true;
  }
  using limits = std::numeric_limits<std::int64_t>;
  if (b > 0 ? sum > limits::max() - b : sum < limits::min() - b) return false;
  sum += b;
  return true;
}

/// Multiplies `product` by `b`. Returns false, and leaves `product` as it was, if the result is beyond 64 bits. -2^63
/// counts as beyond.
constexpr bool checked_multiply(std::int64_t& product, std::int64_t b) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (!__builtin_is_constant_evaluated()) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(product, b, &result) || result < -largest) return false;
    product = result;
    return true;
  }
  if (product == 0 || b == 0) {
    product = 0;
    return true;
  }
  if (product < -largest || b < -largest) return false;
  const std::int64_t a_size = product < 0 ? -product : product, b_size = b < 0 ? -b : b;
  constexpr std::int64_t small = std::int64_t{1} << 31; // products of small numbers need no division
  if ((a_size >= small || b_size >= small) && a_size > largest / b_size) return false;
  product *= b;
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
