// Changes of element type, and the identity that stops derivatives.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The nearest value of another type. JAX: lax.convert_element_type.
struct convert : elementwise {
  static constexpr std::string_view name = "convert";
  using parameters = conversion_parameters;
  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    return {p.type, false, a.operands[0].shape};
  }
  /// A cotangent that is a sum need not be representable in the result's type, so it is taken unrounded if possible.
  static constexpr void vjp(vjp_application& a, const parameters&) {
    a.give(0, build::convert_unrounded(a.cotangent, a.operand(0).type()));
  }
  template <element_type To, std::int64_t, class V> static PARALLAX_HD auto evaluate(V x) {
    return math::convert<element_t<To>>(x);
  }
};

/// The same bits as another type of the same size. JAX: lax.bitcast_convert_type.
struct bitcast : elementwise {
  static constexpr std::string_view name = "bitcast";
  using parameters = conversion_parameters;
  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    element_type to = p.type;
    if (size_of(to) != size_of(a.operands[0].type) || to == element_type::boolean ||
        a.operands[0].type == element_type::boolean)
      a.trace.fail(message() << "bitcast: " << name_of(a.operands[0].type) << " and " << name_of(to)
                             << " differ in size or are truth values; bitcast between types of equal size");
    return {to, false, a.operands[0].shape};
  }
  static constexpr zero_rule vjp{};
  template <element_type To, std::int64_t, class V> static PARALLAX_HD auto evaluate(V x) {
    return math::bit_cast<element_t<To>>(x);
  }
};

/// The same value, which a checkpoint may keep. JAX: ad_checkpoint.checkpoint_name
struct named : elementwise {
  static constexpr std::string_view name = "name";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return x; }
};

/// The operand, constant for derivatives.
struct stop_gradient : elementwise {
  static constexpr std::string_view name = "stop_gradient";
  static constexpr zero_rule vjp{};
  template <class V> static PARALLAX_HD V evaluate(V x) { return x; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
