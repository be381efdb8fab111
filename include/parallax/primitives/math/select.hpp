// Choice between two operands, element by element.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The second operand where the first is true, the third elsewhere.
struct select : elementwise {
  static constexpr std::string_view name = "select";
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = elementwise::shape(a);
    result.type = a.operands[1].type;
    result.weak = a.operands[1].weak && a.operands[2].weak;
    return result;
  }
  static constexpr void vjp(vjp_application& a) {
    tracer zero = build::like(a.cotangent, 0);
    if (a.wants(1)) a.give(1, build::select(a.operand(0), a.cotangent, zero));
    if (a.wants(2)) a.give(2, build::select(a.operand(0), zero, a.cotangent));
  }
  template <class Mask, class V> static PARALLAX_HD V evaluate(Mask condition, V on_true, V on_false) {
    return math::select(condition, on_true, on_false);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
