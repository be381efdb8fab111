// The derivative of a softmax, however the softmax is computed.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The second operand y, which is the softmax of the first along an axis. Derivatives take y for constant and use y (t
/// - sum(y t)) for the first operand, so that only the result is kept for them.
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
  /// The rule for cotangents, and for tangents too, since the derivative is a symmetric matrix.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    const tracer y = build::widen(a.result), t = build::widen(a.cotangent), sum = build::sum(y * t, p.axis);
    const tracer slope = y * (t - build::insert_axis(sum, p.axis, y.dimension(p.axis)));
    a.give(0, build::convert(slope, a.result.type()));
  }
  template <element_type, std::int64_t, class V> static PARALLAX_HD V evaluate(V, V y) { return y; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
