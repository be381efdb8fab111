// Sums of products of two contiguous rows of numbers.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// The most terms that are added up in their own type. Longer sums are added up from such sums in float64, so that no
/// digits are lost.
inline constexpr std::int64_t terms_of_dot = 8192;

template <std::floating_point T> PARALLAX_INLINE T dot_of_some(const T* x, const T* y, std::int64_t count) {
  const auto add_at = [&](pack<T>& sum, std::int64_t at)
                          PARALLAX_INLINE_LAMBDA { sum = math::add(sum, math::mul(load(x + at), load(y + at))); };
  // four sums that do not wait for one another; as variables, since compilers keep arrays in memory
  pack<T> first = broadcast(T{0}), second = first, third = first, fourth = first;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    add_at(first, i), add_at(second, i + lanes);
    add_at(third, i + 2 * lanes), add_at(fourth, i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) add_at(first, i);
  if (i < count) {
    const int rest = static_cast<int>(count - i);
    second = math::add(second, math::mul(load(x + i, rest), load(y + i, rest)));
  }
  const pack<T> all = math::add(math::add(first, second), math::add(third, fourth));
  return host::reduce(all, [](const pack<T>& a, const pack<T>& b) { return math::add(a, b); });
}

/// The sum of x[i] * y[i].
template <std::floating_point T> T dot(const T* x, const T* y, std::int64_t count) {
  if (count <= terms_of_dot) return dot_of_some(x, y, count);
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += terms_of_dot)
    sum += static_cast<double>(dot_of_some(x + i, y + i, std::min(terms_of_dot, count - i)));
  return static_cast<T>(sum);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
