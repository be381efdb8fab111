// Random numbers of Philox 4x32 with 10 rounds, in the order of cuRAND's device functions.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/random/random_generator.hpp>
#include <parallax/primitives/math/philox.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

struct philox_generator {
  static constexpr std::string_view name = "philox";

  static constexpr tracer bits(key_words key, const dims& shape, element_type type) {
    key_words n = row_major_number(*key.first.owner, shape);
    if (type == element_type::uint64) return cipher(key, n, philox_stream::wide_words);
    tracer word = cipher(key, n, philox_stream::words);
    return type == element_type::uint8 ? low_byte(word) : word;
  }
  static constexpr tracer keys(key_words key, dims shape) {
    shape.push_back(dim{2});
    return cipher(key, row_major_number(*key.first.owner, shape), philox_stream::key_words);
  }
  static constexpr tracer fold_in(key_words key, tracer data) {
    context& trace = *key.first.owner;
    auto constant = [&](std::int64_t value) { return build::integer_literal(trace, element_type::uint32, value); };
    tracer number = build::convert(data, element_type::uint32), word = row_major_number(trace, {dim{2}}).second;
    tracer low = emit<primitives::shift_left>({number, constant(1)}) + word;
    return cipher(key, {emit<primitives::shift_right>({number, constant(31)}), low}, philox_stream::key_words);
  }

 private:
  using philox_stream = primitives::philox_stream;

  static constexpr tracer cipher(key_words key, key_words number, philox_stream stream) {
    return emit<primitives::philox4x32>({key.second, key.first, number.first, number.second}, {stream});
  }
};

} // namespace detail

/// Random numbers of Philox 4x32 with 10 rounds, which are faster to make than those of `random`: bits and uniform
/// numbers take a half to three quarters of the time on a CPU, those of 64 bits up to all of it. Four words share a
/// block of the cipher, so that rows which begin inside of one cost up to three times as much.
///
/// `bits<std::uint32_t>(key(seed), shape)` has as element n, in row-major order, what cuRAND's `curand(&state)` returns
/// first after `curand_init(seed, 0, n, &state)`, on all backends; `bits<std::uint64_t>` has elements 2 n, the lower
/// half, and 2 n + 1 of these, `bits<std::uint8_t>` the lowest byte of element n. The other distributions are made of
/// bits as those of `random` are. Keys are made of cuRAND's last subsequence, number 2^64 - 1: key i of `split`, and
/// `fold_in(key, i)`, is its elements 2 i and 2 i + 1.
using philox = random_generator<detail::philox_generator>;

} // namespace parallax::PARALLAX_INLINE_VERSION
