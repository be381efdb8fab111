// How the simulator's collectives combine elements.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/math/number_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace simulator {

using parallax::element_type;
using parallax::cuda::reduction_kind;

/// Calls `f` with a value of the C++ type; a boolean is taken for the byte that it is.
template <class F> void with_type(element_type type, F f) {
  switch (type) {
  case element_type::boolean:
  case element_type::uint8: return f(std::uint8_t{});
  case element_type::int32: return f(std::int32_t{});
  case element_type::uint32: return f(std::uint32_t{});
  case element_type::int64: return f(std::int64_t{});
  case element_type::uint64: return f(std::uint64_t{});
  case element_type::float16: return f(parallax::float16{});
  case element_type::bfloat16: return f(parallax::bfloat16{});
  case element_type::float32: return f(float{});
  case element_type::float64: return f(double{});
  }
}

/// The sum of two elements; integers wrap around.
template <class T> T added(T a, T b) {
  if constexpr (parallax::math::floating_element<T>) return a + b;
  else return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}

/// The larger of two elements, or the smaller; of a number and a NaN the number, as with NCCL's fmax and fmin.
template <class T> T extreme(T a, T b, bool larger) {
  if constexpr (parallax::math::floating_element<T>) {
    if (a != a) return b;
    if (b != b) return a;
  }
  return larger ? std::max(a, b) : std::min(a, b);
}

/// total[i] = how(total[i], more[i]). Of booleans the sum is whether any holds.
inline void combine(void* total, const void* more, std::size_t count, element_type type, reduction_kind how) {
  if (type == element_type::boolean && how == reduction_kind::sum) how = reduction_kind::max;
  with_type(type, [&](auto zero) {
    using value = decltype(zero);
    auto* into = static_cast<value*>(total);
    const auto* from = static_cast<const value*>(more);
    for (std::size_t i = 0; i < count; ++i)
      into[i] =
          how == reduction_kind::sum ? added(into[i], from[i]) : extreme(into[i], from[i], how == reduction_kind::max);
  });
}

} // namespace simulator
