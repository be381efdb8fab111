// The names in `math` of a kernel's operations on registers of lanes, which forward to the registers' own functions.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/math/scalar_operations.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::math {

namespace detail {
template <class V> struct element_of_lanes {
  using type = typename V::value_type;
};
template <element T> struct element_of_lanes<T> {
  using type = T;
};
} // namespace detail

/// The element type of V, an element or a register of lanes.
template <class V> using element_of = typename detail::element_of_lanes<V>::type;

// A register of lanes brings its own overloads, which are found where it is defined. Kernels can call these by
// qualified names too, because the functions here forward to them.
#define PARALLAX_FORWARD(function)                                                                                     \
  PARALLAX_CALLS_HOST template <class V, class... More>                                                                \
    requires(!element<V>)                                                                                              \
  PARALLAX_HD PARALLAX_INLINE auto function(const V& x, const More&... more) {                                         \
    return function(x, more...);                                                                                       \
  }
#define PARALLAX_FORWARD_TO(function)                                                                                  \
  PARALLAX_CALLS_HOST template <element To, class V>                                                                   \
    requires(!element<V>)                                                                                              \
  PARALLAX_HD PARALLAX_INLINE auto function(const V& x) {                                                              \
    return function<To>(x);                                                                                            \
  }

PARALLAX_FORWARD(add)
PARALLAX_FORWARD(sub)
PARALLAX_FORWARD(mul)
PARALLAX_FORWARD(neg)
PARALLAX_FORWARD(div)
PARALLAX_FORWARD(rem)
PARALLAX_FORWARD(max)
PARALLAX_FORWARD(min)
PARALLAX_FORWARD(abs)
PARALLAX_FORWARD(sign)
PARALLAX_FORWARD(bit_and)
PARALLAX_FORWARD(bit_or)
PARALLAX_FORWARD(bit_xor)
PARALLAX_FORWARD(bit_not)
PARALLAX_FORWARD(shift_left)
PARALLAX_FORWARD(shift_right_logical)
PARALLAX_FORWARD(shift_right_arithmetic)
PARALLAX_FORWARD(lt)
PARALLAX_FORWARD(le)
PARALLAX_FORWARD(gt)
PARALLAX_FORWARD(ge)
PARALLAX_FORWARD(eq)
PARALLAX_FORWARD(ne)
PARALLAX_FORWARD(select)
PARALLAX_FORWARD(is_finite)
PARALLAX_FORWARD_TO(convert)
PARALLAX_FORWARD_TO(bit_cast)
PARALLAX_FORWARD(exp)
PARALLAX_FORWARD(expm1)
PARALLAX_FORWARD(log)
PARALLAX_FORWARD(log1p)
PARALLAX_FORWARD(tanh)
PARALLAX_FORWARD(sin)
PARALLAX_FORWARD(cos)
PARALLAX_FORWARD(tan)
PARALLAX_FORWARD(erf)
PARALLAX_FORWARD(sqrt)
PARALLAX_FORWARD(floor)
PARALLAX_FORWARD(ceil)
PARALLAX_FORWARD(pow)

PARALLAX_CALLS_HOST template <class Function, class V, class... More>
  requires(!element<V>)
PARALLAX_HD PARALLAX_INLINE auto each_lane(Function function, const V& x, const More&... more) {
  return each_lane(function, x, more...);
}

#undef PARALLAX_FORWARD
#undef PARALLAX_FORWARD_TO

} // namespace parallax::PARALLAX_INLINE_VERSION::math
