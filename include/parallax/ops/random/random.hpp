// `random` has the bits of JAX's threefry generator in its partitionable layout.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/random/random_generator.hpp>
#include <parallax/primitives/math/threefry.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A generator: bits of a type (uint8, uint32 or uint64) in a shape, and new keys of a shape or of a number.
struct threefry_generator {
  static constexpr std::string_view name = "random";

  static constexpr tracer bits(key_words key, const dims& shape, element_type type) {
    key_words n = row_major_number(*key.first.owner, shape);
    if (type == element_type::uint32) return cipher(key, n, threefry_word::exclusive_or);
    if (type == element_type::uint8) return low_byte(cipher(key, n, threefry_word::exclusive_or));
    tracer high = build::convert(cipher(key, n, threefry_word::first), element_type::uint64);
    tracer low = build::convert(cipher(key, n, threefry_word::second), element_type::uint64);
    tracer width = build::integer_literal(*high.owner, element_type::uint64, 32);
    return emit<primitives::bitwise_or>({emit<primitives::shift_left>({high, width}), low});
  }
  static constexpr tracer keys(key_words key, const dims& shape) {
    return pairs(key, row_major_number(*key.first.owner, shape), shape);
  }
  static constexpr tracer fold_in(key_words key, tracer data) {
    tracer zero = build::integer_literal(*key.first.owner, element_type::uint32, 0);
    return pairs(key, {zero, build::convert(data, element_type::uint32)}, {});
  }

 private:
  using threefry_word = primitives::threefry_word;

  static constexpr tracer cipher(key_words key, key_words counter, threefry_word word) {
    return emit<primitives::threefry2x32>({key.first, key.second, counter.first, counter.second}, {word});
  }
  static constexpr tracer pairs(key_words key, key_words counter, dims shape) {
    const int last = shape.size();
    shape.push_back(dim{1});
    return emit<primitives::concatenate>({build::reshape(cipher(key, counter, threefry_word::first), shape),
                                          build::reshape(cipher(key, counter, threefry_word::second), shape)},
                                         {last});
  }
};

} // namespace detail

/// The bits of JAX's threefry generator.
using random = random_generator<detail::threefry_generator>;

} // namespace parallax::PARALLAX_INLINE_VERSION
