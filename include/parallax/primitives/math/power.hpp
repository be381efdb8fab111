// Powers and roots.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct power : elementwise {
  static constexpr std::string_view name = "pow";
  static constexpr void vjp(vjp_application& a) {
    tracer x = a.operand(0), y = a.operand(1);
    if (a.wants(0)) {
      // 0 rather than 0 * inf if y is 0; the exponent there keeps the derivatives of the slope finite
      tracer lower = emit<power>({x, build::select(y == 0, build::like(y, 1), y - 1)});
      a.give(0, a.cotangent * build::select(y == 0, build::like(y, 0), y * lower));
    }
    if (a.wants(1)) {
      tracer safe = build::select(x == 0, build::like(x, 1), x);
      a.give(1, a.cotangent * (emit<log>({safe}) * a.result));
    }
  }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) {
    if constexpr (std::is_integral_v<math::element_of<V>>) return math::integral_pow(x, y);
    else return math::pow(x, y);
  }
};

/// x to a constant integer power.
struct integer_power : elementwise, of_numbers {
  static constexpr std::string_view name = "integer_pow";
  struct parameters {
    std::int64_t exponent = 1;
    static constexpr void describe(auto& p, auto& member) { member("exponent", p.exponent); }
  };
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const std::int64_t n = p.exponent;
    if (n == 0) return;
    tracer x = a.operand(0);
    tracer lower = n == 2 ? x : n == 1 ? build::like(x, 1) : emit<integer_power>({x}, {n - 1});
    a.give(0, a.cotangent * (static_cast<double>(n) * lower));
  }
  template <element_type, std::int64_t Exponent, class V> static PARALLAX_HD V evaluate(V x) {
    return math::integer_pow(x, static_cast<int>(Exponent));
  }
};

struct sqrt : elementwise {
  static constexpr std::string_view name = "sqrt";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * 0.5f / a.result); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::sqrt(x); }
};

/// 1 / sqrt(x)
struct rsqrt : elementwise {
  static constexpr std::string_view name = "rsqrt";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent * (-0.5f * a.result / a.operand(0))); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::rsqrt(x); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
