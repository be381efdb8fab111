// Divisions of a row's elements by one number: its reciprocal is computed once, and the quotients have the bits of true
// divisions.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/program/kernel.hpp>

#include <cmath>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The reciprocal of a divisor, for `divided`; 0 if quotients have to be computed by a division.
PARALLAX_DEVICE PARALLAX_INLINE float reciprocal_of(float divisor) {
  const float size = math::abs(divisor);
  return size >= 0x1p-20f && size <= 0x1p100f ? 1.f / divisor : 0.f;
}

/// x / divisor, rounded as a division is. A product with a rounded reciprocal is off by less than two units in the last
/// place; one correction by the remainder makes it the nearest number (Markstein, 1990): the test goes through all
/// pairs of significands that come near enough to the middle between two numbers. The remainder is exact within the
/// bounds here.
PARALLAX_DEVICE PARALLAX_INLINE float divided(float x, float divisor, float reciprocal) {
  const float near = x * reciprocal, rest = std::fma(-divisor, near, x), size = math::abs(near);
  if (size >= 0x1p-80f && size <= 0x1p100f) return std::fma(rest, reciprocal, near);
  return x == 0 && reciprocal != 0 ? near : x / divisor;
}

namespace detail {

/// Statement I as a division by one number for all of a row: `divisor` is the number of the divisor's statement, or -1.
template <class Schedule, int I, class Statement> struct row_division {
  static constexpr int divisor = -1;
};
template <class Schedule, int I, element_type Type, std::int64_t Parameter, int X, int Y>
  requires(Type == element_type::float32 || Type == element_type::float16 || Type == element_type::bfloat16)
struct row_division<Schedule, I, compute_statement<primitives::divide, Type, Parameter, X, Y>> {
  static constexpr int divisor = Schedule::is_uniform(Y) && !Schedule::is_uniform(I) ? Y : -1;
};

template <int I, bool Exists> struct numbered_reciprocal {
  float value;
};
template <int I> struct numbered_reciprocal<I, false> {};
template <int I> PARALLAX_DEVICE PARALLAX_INLINE float& reciprocal_at(numbered_reciprocal<I, true>& r) {
  return r.value;
}
template <int I> PARALLAX_DEVICE PARALLAX_INLINE float reciprocal_at(const numbered_reciprocal<I, true>& r) {
  return r.value;
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
