// Exponentials, logarithms, and the sigmoids made of them.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct exp : elementwise {
  static constexpr std::string_view name = "exp";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * a.result); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::exp(x); }
};

struct log : elementwise {
  static constexpr std::string_view name = "log";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent / a.operand(0)); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::log(x); }
};

/// log(1 + x), exact for small x
struct log1p : elementwise {
  static constexpr std::string_view name = "log1p";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent / (a.operand(0) + 1)); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::log1p(x); }
};

/// exp(x) - 1, exact for small x. Its slope is not computed from the result, which has lost exp(x) if it is near -1.
struct expm1 : elementwise {
  static constexpr std::string_view name = "expm1";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * emit<exp>({a.operand(0)})); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::expm1(x); }
};

struct tanh : elementwise {
  static constexpr std::string_view name = "tanh";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * ((1 + a.result) * (1 - a.result))); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::tanh(x); }
};

/// 1 / (1 + exp(-x))
struct logistic : elementwise {
  static constexpr std::string_view name = "logistic";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * (a.result * (1 - a.result))); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::logistic(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
