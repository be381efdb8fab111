// Sine, cosine, tangent; angles in radians.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct sin : elementwise {
  static constexpr std::string_view name = "sin";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * emit<cos>({a.operand(0)})); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::sin(x); }
};

struct cos : elementwise {
  static constexpr std::string_view name = "cos";
  static constexpr void vjp(vjp_application& a) { a.give(0, -(a.cotangent * emit<sin>({a.operand(0)}))); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::cos(x); }
};

struct tan : elementwise {
  static constexpr std::string_view name = "tan";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * (1 + a.result * a.result)); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::tan(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
