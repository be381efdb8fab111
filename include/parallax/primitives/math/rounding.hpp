// Absolute value, sign, rounding.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct absolute : elementwise {
  static constexpr std::string_view name = "abs";
  static constexpr void vjp(vjp_application& a) {
    // +1 at 0, as in JAX
    a.give(0, build::select(a.operand(0) >= 0, a.cotangent, -a.cotangent));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) {
    if constexpr (std::is_same_v<math::element_of<V>, bool>) return x; // as in JAX
    else return math::abs(x);
  }
};

/// -1, 0 or 1; NaN stays NaN
struct sign : elementwise, of_numbers {
  static constexpr std::string_view name = "sign";
  static constexpr zero_rule vjp{};
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::sign(x); }
};

struct floor : elementwise {
  static constexpr std::string_view name = "floor";
  static constexpr zero_rule vjp{};
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::floor(x); }
};

struct is_finite : predicate {
  static constexpr std::string_view name = "is_finite";
  template <class V> static PARALLAX_HD auto evaluate(V x) { return math::is_finite(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
