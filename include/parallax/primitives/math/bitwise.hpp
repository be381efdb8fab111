// Bitwise operations on integers; on truth values they are the logical ones.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct bitwise : elementwise {
  static constexpr abstract_value shape(const shape_application& a) {
    if (is_inexact(a.operands[0].type))
      a.trace.fail(message() << a.name << ": bitwise operations take integers or truth values, not "
                             << name_of(a.operands[0].type) << "; convert first, or use bitcast"
                             << (a.name == "xor" ? "; for powers there are plx::pow and plx::square" : ""));
    return elementwise::shape(a);
  }
  static constexpr no_rule vjp{"integers and booleans alone have it"};
};

struct bitwise_and : bitwise {
  static constexpr std::string_view name = "and";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::bit_and(x, y); }
};
struct bitwise_or : bitwise {
  static constexpr std::string_view name = "or";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::bit_or(x, y); }
};
struct bitwise_xor : bitwise {
  static constexpr std::string_view name = "xor";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::bit_xor(x, y); }
};
struct bitwise_not : bitwise {
  static constexpr std::string_view name = "not";
  template <class V> static PARALLAX_HD V evaluate(V x) { return math::bit_not(x); }
};
/// Bits shifted out are lost; shifting by the width or more gives 0.
struct shift_left : bitwise {
  static constexpr std::string_view name = "shift_left";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::shift_left(x, y); }
};
/// Arithmetic for signed types, logical for unsigned ones.
struct shift_right : bitwise {
  static constexpr std::string_view name = "shift_right";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::shift_right(x, y); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
