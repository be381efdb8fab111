// A softmax's derivative, whatever computes the softmax.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The second operand, which is the softmax of the first along an axis and constant for derivatives: those are
/// y (t - sum(y t)), of the result alone. What computed it need not be kept for them.
struct as_softmax : elementwise {
  static constexpr std::string_view name = "as_softmax";

  struct parameters {
    int axis = 0;
    static constexpr void describe(auto& p, auto& member) { member("axis", p.axis); }
  };

  static constexpr abstract_value shape(const shape_application& a, const parameters&) { return a.operands[1]; }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const int mapped = a.operands[a.operands[0].is_mapped() ? 0 : 1].axis;
    const growing_vector<tracer> operands =
        parallax::detail::vector_of(a.operands, [&](const batched& x) { return build::mapped_at(x, mapped, a.size); });
    return {emit<as_softmax>(a.trace, operands, parameters{p.axis + (mapped <= p.axis ? 1 : 0)}), mapped};
  }
  /// Of tangents as of cotangents, since the derivative is a symmetric matrix.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const tracer y = build::widen(a.result), t = build::widen(a.cotangent), sum = build::sum(y * t, p.axis);
    const tracer slope = y * (t - build::insert_axis(sum, p.axis, y.dimension(p.axis)));
    a.give(0, build::convert(slope, a.result.type()));
  }
  template <element_type, std::int64_t, class V> static PARALLAX_HD V evaluate(V, V y) { return y; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
