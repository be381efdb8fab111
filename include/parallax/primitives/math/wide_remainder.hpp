// The remainder of numbers of two words.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The remainder of `upper * 2^bits + lower` divided by `divisor`, all of one unsigned type of `bits` bits. A divisor
/// of 0 stands for 2^bits, which the type cannot represent.
struct wide_remainder : elementwise {
  static constexpr std::string_view name = "wide_rem";
  static constexpr no_rule vjp{"integers alone have it"};

  static constexpr abstract_value shape(const shape_application& a) {
    for (const abstract_value& x : a.operands)
      if (x.type != a.operands[0].type || (x.type != element_type::uint32 && x.type != element_type::uint64))
        a.trace.fail(message() << "wide_rem: words and divisors are uint32 or uint64, all alike, not "
                               << name_of(x.type));
    return elementwise::shape(a);
  }
  template <class V> static PARALLAX_HD V evaluate(V upper, V lower, V divisor) {
    if constexpr (std::is_unsigned_v<math::element_of<V>>) return math::wide_remainder(upper, lower, divisor);
    else return lower; // of no type that `shape` admits
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
