// The error function and its inverse.
#pragma once

#include <parallax/primitives/elementwise.hpp>

namespace parallax::primitives {

struct erf : elementwise {
  static constexpr std::string_view name = "erf";
  static constexpr void vjp(vjp_application& a) {
    constexpr double two_over_sqrt_pi = 1.1283791670955126;
    tracer x = a.operand(0);
    a.give(0, a.cotangent * (two_over_sqrt_pi * emit<exp>({-(x * x)})));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::erf(x); }
};

struct erf_inv : elementwise {
  static constexpr std::string_view name = "erf_inv";
  static constexpr void vjp(vjp_application& a) {
    constexpr double half_sqrt_pi = 0.886226925452758;
    a.give(0, a.cotangent * (half_sqrt_pi * emit<exp>({a.result * a.result})));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::erf_inv(x); }
};

} // namespace parallax::primitives
