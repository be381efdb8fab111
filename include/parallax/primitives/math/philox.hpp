// The words of Philox's streams, as an elementwise primitive: each from the key and its own number.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/math/philox.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The numbers that are wanted: 32-bit words of subsequence 0, pairs of these as 64-bit numbers, or words of
/// subsequence 2^64 - 1, which keys are made of.
enum class philox_stream { words, wide_words, key_words };
constexpr std::string_view name_of(philox_stream stream) {
  constexpr std::string_view names[] = {"words", "wide_words", "key_words"};
  return names[static_cast<int>(stream)];
}

/// Operands: two key words, the lower one of cuRAND's seed first; the upper and the lower half of the element's number
/// in the stream, all uint32.
struct philox4x32 : elementwise {
  static constexpr std::string_view name = "philox4x32";
  struct parameters {
    philox_stream stream = philox_stream::words;
    static constexpr void describe(auto& p, auto& member) { member("stream", p.stream); }
  };
  static constexpr no_rule vjp{"random bits are no numbers that move"};

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = elementwise::shape(a);
    for (const abstract_value& x : a.operands)
      if (x.type != element_type::uint32)
        a.trace.fail(message() << "philox4x32: keys and numbers are uint32, not " << name_of(x.type));
    if (p.stream == philox_stream::wide_words) result.type = element_type::uint64;
    return result;
  }

  /// The values shared by elements that one thread computes one after another.
  using shared_by_neighbours = math::philox_words;

  template <element_type, std::int64_t Stream>
  static PARALLAX_HD PARALLAX_INLINE auto evaluate(shared_by_neighbours& words, std::uint32_t key0, std::uint32_t key1,
                                                   std::uint32_t high, std::uint32_t low) {
    if constexpr (is_wide<Stream>) return words.wide_word(key0, key1, high, low, subsequence<Stream>);
    else return words.word(key0, key1, high, low, subsequence<Stream>);
  }
  template <element_type, std::int64_t Stream, class V>
  static PARALLAX_HD PARALLAX_INLINE auto evaluate(V key0, V key1, V high, V low) {
    if constexpr (is_wide<Stream>) return math::philox_wide_word(key0, key1, high, low, subsequence<Stream>);
    else return math::philox_word(key0, key1, high, low, subsequence<Stream>);
  }

 private:
  template <std::int64_t Stream>
  static constexpr bool is_wide = Stream == static_cast<std::int64_t>(philox_stream::wide_words);
  template <std::int64_t Stream>
  static constexpr std::uint32_t subsequence =
      Stream == static_cast<std::int64_t>(philox_stream::key_words) ? 0xFFFFFFFF : 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
