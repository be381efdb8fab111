// The Threefry 2x32 block cipher with 20 rounds: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// Which part of the cipher's two 32-bit words is wanted.
enum class threefry_word { first, second, exclusive_or };
constexpr std::string_view name_of(threefry_word word) {
  constexpr std::string_view names[] = {"first", "second", "exclusive_or"};
  return names[static_cast<int>(word)];
}

/// Operands: two key words, two counter words, all uint32.
struct threefry2x32 : elementwise {
  static constexpr std::string_view name = "threefry2x32";
  struct parameters {
    threefry_word word = threefry_word::first;
    static constexpr void describe(auto& p, auto& member) { member("word", p.word); }
  };
  static constexpr no_rule vjp{"random bits are no numbers that move"};

  static constexpr abstract_value shape(const shape_application& a, const parameters&) {
    abstract_value result = elementwise::shape(a);
    for (const abstract_value& x : a.operands)
      if (x.type != element_type::uint32)
        a.trace.fail(message() << "threefry2x32: keys and counters are uint32, not " << name_of(x.type));
    return result;
  }
  template <element_type, std::int64_t Word, class V>
  static PARALLAX_HD auto evaluate(V key0, V key1, V counter0, V counter1) {
    auto [x, y] = math::threefry2x32(key0, key1, counter0, counter1);
    if constexpr (Word == static_cast<std::int64_t>(threefry_word::first)) return x;
    else if constexpr (Word == static_cast<std::int64_t>(threefry_word::second)) return y;
    else return math::bit_xor(x, y);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
