// The error function, its inverse, and the function that their slopes are made of.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/math/exp_of_square.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// exp(x^2) or exp(-x^2), with an error of some units in the last place however large x^2 is.
struct exp_of_square : elementwise {
  static constexpr std::string_view name = "exp_of_square";
  struct parameters {
    std::int64_t sign = 1; ///< 1 or -1
    static constexpr void describe(auto& p, auto& member) { member("sign", p.sign); }
  };
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    a.give(0, a.cotangent * (static_cast<double>(2 * p.sign) * (a.operand(0) * a.result)));
  }
  template <element_type, std::int64_t Sign, class V> static PARALLAX_HD V evaluate(V x) {
    return math::exp_of_square<(Sign < 0)>(x);
  }
};

struct erf : elementwise {
  static constexpr std::string_view name = "erf";
  static constexpr void vjp(vjp_application& a) {
    constexpr double two_over_sqrt_pi = 1.1283791670955126;
    a.give(0, a.cotangent * (two_over_sqrt_pi * emit<exp_of_square>({a.operand(0)}, {-1})));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::erf(x); }
};

struct erf_inv : elementwise {
  static constexpr std::string_view name = "erf_inv";
  static constexpr void vjp(vjp_application& a) {
    constexpr double half_sqrt_pi = 0.886226925452758;
    a.give(0, a.cotangent * (half_sqrt_pi * emit<exp_of_square>({a.result}, {1})));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::erf_inv(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
