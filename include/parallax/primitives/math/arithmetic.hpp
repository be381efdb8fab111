// Arithmetic on two operands, and negation.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct add : elementwise {
  static constexpr std::string_view name = "add";
  static constexpr void vjp(vjp_application& a) {
    a.give(0, a.cotangent);
    a.give(1, a.cotangent);
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::add(x, y); }
};

struct subtract : elementwise, of_numbers {
  static constexpr std::string_view name = "sub";
  static constexpr void vjp(vjp_application& a) {
    a.give(0, a.cotangent);
    if (a.wants(1)) a.give(1, -a.cotangent);
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::sub(x, y); }
};

struct multiply : elementwise {
  static constexpr std::string_view name = "mul";
  static constexpr void vjp(vjp_application& a) {
    if (a.wants(0)) a.give(0, a.cotangent * a.operand(1));
    if (a.wants(1)) a.give(1, a.cotangent * a.operand(0));
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::mul(x, y); }
};

struct divide : elementwise {
  static constexpr std::string_view name = "div";
  static constexpr void vjp(vjp_application& a) {
    if (a.wants(0)) a.give(0, a.cotangent / a.operand(1));
    if (a.wants(1)) a.give(1, -a.cotangent * a.result / a.operand(1));
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::div(x, y); }
};

/// The remainder of a division rounded towards zero.
struct remainder : elementwise, of_numbers {
  static constexpr std::string_view name = "rem";
  static constexpr void vjp(vjp_application& a) {
    if (a.wants(0)) a.give(0, a.cotangent);
    if (a.wants(1)) {
      tracer quotient = emit<subtract>({a.operand(0), a.result}) / a.operand(1);
      a.give(1, -a.cotangent * quotient);
    }
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::rem(x, y); }
};

namespace detail {
/// The operand that equals the extreme gets the cotangent; operands that tie share it equally.
constexpr void extreme_vjp(vjp_application& a) {
  for (int i = 0; i < 2; ++i) {
    if (!a.wants(i)) continue;
    tracer chosen = a.operand(i) == a.result, tie = a.operand(0) == a.operand(1);
    tracer share = build::select(tie, a.cotangent * 0.5f, a.cotangent);
    a.give(i, build::select(chosen, share, build::like(a.cotangent, 0)));
  }
}
} // namespace detail

struct maximum : elementwise, of_ordered {
  static constexpr std::string_view name = "max";
  static constexpr void vjp(vjp_application& a) { detail::extreme_vjp(a); }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::max(x, y); }
};

struct minimum : elementwise, of_ordered {
  static constexpr std::string_view name = "min";
  static constexpr void vjp(vjp_application& a) { detail::extreme_vjp(a); }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::min(x, y); }
};

struct negative : elementwise, of_numbers {
  static constexpr std::string_view name = "neg";
  static constexpr void vjp(vjp_application& a) { a.give(0, -a.cotangent); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::neg(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
