// A primitive that exists for a test only: a catalogue that has it is another one.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct one_more : elementwise {
  static constexpr std::string_view name = "one_more";
  static constexpr void vjp(vjp_application& a) { a.give(0, a.cotangent); }
  template <class V> static PARALLAX_HD V evaluate(V x) { return x; }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
