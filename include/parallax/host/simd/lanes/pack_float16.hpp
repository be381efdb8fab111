// Floating types of 16 bits in packs, whose lanes are floats that have been rounded: rounding, and the way from and to
// the 16 bits in memory.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/math/number_types.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

using math::floating16_element;

/// The bits of `lanes` elements as they lie in memory.
using half_vector = vector<std::uint16_t, lanes>;
using float_part = pack<float>::part_type;
using word_part = pack<float>::bits_type;
using mask_part = pack<float>::mask_type;

// The conversions of <immintrin.h>, without the header.
#if defined(__AVX512F__)
#define PARALLAX_FLOAT16_MOVES
PARALLAX_INLINE half_vector narrow_float16(float_part x) {
  using words = vector<std::int16_t, lanes>;
  return half_vector(__builtin_ia32_vcvtps2ph512_mask(x, 0, words{}, static_cast<unsigned short>(-1)));
}
PARALLAX_INLINE float_part widen_float16(half_vector x) {
#ifdef __clang__
  constexpr unsigned short all = 0xFFFF;
#else
  constexpr short all = -1;
#endif
  constexpr int current_rounding = 4;
  return __builtin_ia32_vcvtph2ps512_mask(vector<std::int16_t, lanes>(x), float_part{}, all, current_rounding);
}
#elif defined(__F16C__) && defined(__AVX__)
#define PARALLAX_FLOAT16_MOVES
PARALLAX_INLINE half_vector narrow_float16(float_part x) { return half_vector(__builtin_ia32_vcvtps2ph256(x, 0)); }
PARALLAX_INLINE float_part widen_float16(half_vector x) {
  return __builtin_ia32_vcvtph2ps256(vector<std::int16_t, lanes>(x));
}
#endif

PARALLAX_INLINE word_part in_all(std::uint32_t value) { return word_part{} + value; }
/// -1 where x < limit, both below 2^31: machines compare signed words only.
PARALLAX_INLINE mask_part below(word_part x, std::uint32_t limit) { return mask_part(x) < mask_part(in_all(limit)); }
/// a where the mask is -1, b where it is 0.
template <class M> PARALLAX_INLINE word_part choose_word(M mask, word_part a, word_part b) {
  return (word_part(mask) & a) | (~word_part(mask) & b);
}

/// Words of 16 bits as words of 32, and back if they fit.
PARALLAX_INLINE word_part wide_words(half_vector halves) {
#if defined(__SSE2__) && !defined(__AVX__) && !defined(__clang__) // g++ would go through each word
  using words = vector<std::uint16_t, 8>;
  const vector<std::uint64_t, 2> low{__builtin_bit_cast(std::uint64_t, halves), 0};
  return word_part(__builtin_shuffle(words(low), words{}, words{0, 8, 1, 9, 2, 10, 3, 11}));
#else
  return __builtin_convertvector(halves, word_part);
#endif
}
PARALLAX_INLINE half_vector narrow_words(word_part words) {
#if defined(__SSE2__) && !defined(__AVX__)
  const mask_part extended = mask_part(words << 16) >> 16; // the instruction saturates
  const auto packed = vector<std::uint64_t, 2>(__builtin_ia32_packssdw128(extended, extended));
  return __builtin_bit_cast(half_vector, static_cast<std::uint64_t>(packed[0]));
#else
  return __builtin_convertvector(words, half_vector);
#endif
}

/// Rounds floats to numbers of T. NaN stays NaN.
template <floating16_element T> PARALLAX_INLINE float_part round_to(float_part x) {
  const word_part bits = word_part(x);
  if constexpr (std::is_same_v<T, bfloat16>) {
    const word_part size = bits & 0x7FFFFFFFU, rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
    return float_part(choose_word(below(size, 0x7F800001U), rounded, bits | 0x400000U) & 0xFFFF0000U);
  } else {
#ifdef PARALLAX_FLOAT16_MOVES
    return widen_float16(narrow_float16(x));
#else
    const word_part size = bits & 0x7FFFFFFFU;
    word_part normal = (size + 0xFFFU + (size >> 13 & 1U)) & ~0x1FFFU;
    normal = choose_word(below(normal, 0x47800000U), normal, in_all(0x7F800000U));
    normal = choose_word(below(size, 0x7F800001U), normal, (size | 0x400000U) & ~0x1FFFU);
    // multiples of 2^-24, which is the last place of 0.5
    const float_part half = float_part(in_all(0x3F000000U));
    const word_part small = word_part(float_part(size) + half - half);
    return float_part(choose_word(below(size, 0x38800000U), small, normal) | (bits & 0x80000000U));
#endif
  }
}

/// The lanes of a pack that was read from memory.
template <floating16_element T> PARALLAX_INLINE pack<T> from_halves(half_vector halves) {
  pack<T> result;
  if constexpr (std::is_same_v<T, bfloat16>) {
    result.template set_part<0>(float_part(wide_words(halves) << 16));
  } else {
#ifdef PARALLAX_FLOAT16_MOVES
    result.template set_part<0>(widen_float16(halves));
#else
    const word_part bits = wide_words(halves), size = bits & 0x7FFFU;
    // a product gives the exponent of a float, exactly for subnormal numbers too
    const float_part scale = float_part(in_all(0x77800000U)); // 2^112
    word_part wide = word_part(float_part(size << 13) * scale);
    wide = choose_word(below(size, 0x7C00U), wide, (size << 13) | 0x7F800000U);
    result.template set_part<0>(float_part(wide | (bits & 0x8000U) << 16));
#endif
  }
  return result;
}

template <floating16_element T> PARALLAX_INLINE half_vector to_halves(const pack<T>& x) {
  const float_part part = x.template part<0>();
  if constexpr (std::is_same_v<T, bfloat16>) {
    return narrow_words(word_part(part) >> 16);
  } else {
#ifdef PARALLAX_FLOAT16_MOVES
    return narrow_float16(part);
#else
    const word_part bits = word_part(part), size = bits & 0x7FFFFFFFU;
    const float_part scale = float_part(in_all(0x07800000U)); // 2^-112
    word_part narrow = word_part(float_part(size) * scale) >> 13;
    narrow = choose_word(below(size, 0x7F800000U), narrow, (size >> 13 & 0x3FFU) | 0x7C00U);
    return narrow_words(narrow | (bits >> 16 & 0x8000U));
#endif
  }
}

#undef PARALLAX_FLOAT16_MOVES

/// The lanes as floats, and floats rounded to T.
template <floating16_element T> PARALLAX_INLINE pack<float> widened(const pack<T>& x) {
  return by_parts<pack<float>>([](auto part) { return part; }, x);
}
template <floating16_element T> PARALLAX_INLINE pack<T> rounded(const pack<float>& x) {
  return by_parts<pack<T>>([](auto part) { return round_to<T>(part); }, x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
