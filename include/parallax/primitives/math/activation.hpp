// Activations of neural networks that libraries of matrix products offer as epilogues.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/exponential.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// max(x, 0)
struct relu : elementwise {
  static constexpr std::string_view name = "relu";
  /// The slope at 0 is 0, as in JAX. The rule reads the result, so the operand need not be kept.
  static constexpr void vjp(vjp_application& a) {
    a.give(0, build::select(a.result > build::like(a.result, 0), a.cotangent, build::like(a.cotangent, 0)));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::relu(x); }
};

/// x * logistic(2 u), which is x * (1 + tanh(u)) / 2, of u = sqrt(2 / pi) * (x + 0.044715 x^3)
struct gelu : elementwise {
  static constexpr std::string_view name = "gelu";
  static constexpr void vjp(vjp_application& a);
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::gelu(x); }
};

/// The derivative of `gelu`.
struct gelu_derivative : elementwise {
  static constexpr std::string_view name = "gelu_derivative";
  static constexpr void vjp(vjp_application& a) {
    tracer x = a.operand(0), square = x * x;
    tracer slope = math::gelu_scale * (1 + 3 * math::gelu_cubic * square);
    tracer s = emit<logistic>({math::gelu_scale * (x + math::gelu_cubic * (x * square))});
    tracer curvature = (6 * math::gelu_scale * math::gelu_cubic) * x;
    tracer t = s * (1 - s), u = t * slope; // first, because they are 0 if powers of the slope are infinite
    a.give(0, a.cotangent * (2 * u + x * (u * ((1 - 2 * s) * slope) + t * curvature)));
  }
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::gelu_derivative(x); }
};

constexpr void gelu::vjp(vjp_application& a) { a.give(0, a.cotangent * emit<gelu_derivative>({a.operand(0)})); }

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
