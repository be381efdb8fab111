// Philox on packs. A block lies across four neighbouring lanes, one word in each: a product of even lanes, in 64-bit
// lanes, then has both halves that a round needs, and elements in order get their words in the right lanes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/simd/lanes/pack_arithmetic.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/math/philox.hpp>

#include <bit>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail::philox {

static_assert(std::endian::native == std::endian::little, "parallax: two 32-bit lanes are read as one of 64 bits");

using word_pack = pack<std::uint32_t>;
using words = word_pack::part_type;
using wide_words = vector<std::uint64_t, lanes / 2>;
using lane_numbers = std::make_integer_sequence<int, lanes>;

/// The lanes with the numbers `From...`.
template <int... From> PARALLAX_INLINE words shuffled(words x) {
#ifdef __clang__
  return __builtin_shufflevector(x, x, From...);
#else // cudafe++ loses the other one's arguments
  return __builtin_shuffle(x, words{static_cast<std::uint32_t>(From)...});
#endif
}
/// In every four lanes, the lanes numbered X, Y, Z and W of the four.
template <int X, int Y, int Z, int W, int... I>
PARALLAX_INLINE words rearranged(words x, std::integer_sequence<int, I...>) {
  constexpr int from[4] = {X, Y, Z, W};
  return shuffled<((I & ~3) + from[I & 3])...>(x);
}
template <int X, int Y, int Z, int W> PARALLAX_INLINE words rearranged(words x) {
  return rearranged<X, Y, Z, W>(x, lane_numbers{});
}
/// Each lane of the lower or the upper half twice.
template <int Half, int... I> PARALLAX_INLINE words doubled(words x, std::integer_sequence<int, I...>) {
  return shuffled<(Half * (lanes / 2) + I / 2)...>(x);
}
/// Four words, in every four lanes.
template <int... I> PARALLAX_INLINE words repeated(math::philox_block four, std::integer_sequence<int, I...>) {
  const std::uint32_t of[4] = {four.x, four.y, four.z, four.w};
  return words{of[I & 3]...};
}
PARALLAX_INLINE words repeated(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) {
  return repeated({x, y, z, w}, lane_numbers{});
}

/// The products of the even lanes.
PARALLAX_INLINE words even_products(words x, words y) {
// g++ does not see that the operands of a product have 32 bits
#if defined(__AVX512F__) && !defined(__clang__)
  return words(__builtin_ia32_pmuludq512_mask(vector<int, lanes>(x), vector<int, lanes>(y),
                                              vector<long long, lanes / 2>{}, static_cast<unsigned char>(-1)));
#elif defined(__AVX2__) && !defined(__clang__)
  return words(__builtin_ia32_pmuludq256(vector<int, lanes>(x), vector<int, lanes>(y)));
#elif defined(__SSE2__) && !defined(__AVX__) && !defined(__clang__)
  return words(__builtin_ia32_pmuludq128(vector<int, lanes>(x), vector<int, lanes>(y)));
#else
  return words((wide_words(x) & 0xFFFFFFFFU) * (wide_words(y) & 0xFFFFFFFFU));
#endif
}

/// Encrypts the counters, one in every four lanes. The keys' words are in the first and the third of the four, the
/// others are 0.
PARALLAX_INLINE words encrypt(words counter, words key) {
  const words multipliers = repeated(math::detail::philox_multiplier_x, 0, math::detail::philox_multiplier_z, 0);
  const words increments = repeated(math::detail::philox_increment_x, 0, math::detail::philox_increment_y, 0);
  PARALLAX_UNROLL(10)
  for (int round = 0; round < math::detail::philox_rounds; ++round) {
    const words products = even_products(counter, multipliers);
    counter = rearranged<3, 2, 1, 0>(products) ^ words(wide_words(counter) >> 32) ^ key;
    key += increments;
  }
  return counter;
}

/// The keys and counters that each lane wants a word of.
struct places {
  words key0, key1, high, low;

  /// The blocks of the first of every four lanes. The second lane has the same `high`, the third one the same keys.
  PARALLAX_INLINE words blocks(std::uint32_t subsequence) const {
    const words x = low >> 2 | high << 30, y = high >> 2;
    const words counter = (x & repeated(0xFFFFFFFF, 0, 0, 0)) | (y & repeated(0, 0xFFFFFFFF, 0, 0)) |
                          repeated(0, 0, subsequence, subsequence);
    const words key = (key0 & repeated(0xFFFFFFFF, 0, 0, 0)) | (key1 & repeated(0, 0, 0xFFFFFFFF, 0));
    return encrypt(counter, key);
  }
  template <int X, int Y, int Z, int W> PARALLAX_INLINE places rearranged() const {
    return {philox::rearranged<X, Y, Z, W>(key0), philox::rearranged<X, Y, Z, W>(key1),
            philox::rearranged<X, Y, Z, W>(high), philox::rearranged<X, Y, Z, W>(low)};
  }
  /// 0 in every lane if the words of every four lanes are those of one block, in order.
  PARALLAX_INLINE words disorder() const {
    return ((low & 3) ^ repeated(0, 1, 2, 3)) | differences(rearranged<1, 2, 3, 0>());
  }
  /// 0 in the lanes whose words are in the same blocks as those of `other`.
  PARALLAX_INLINE words differences(const places& other) const {
    return (key0 ^ other.key0) | (key1 ^ other.key1) | (high ^ other.high) | (low >> 2 ^ other.low >> 2);
  }
};

/// Whether any lane is not 0.
PARALLAX_INLINE bool any(words x) {
  word_pack lane;
  lane.set_part<0>(x);
  std::uint64_t all = 0;
  for (int i = 0; i < lanes; i += 2) {
    std::uint64_t two;
    __builtin_memcpy(&two, lane.lane + i, sizeof two);
    all |= two;
  }
  return all != 0;
}

/// The words of lanes in any order and with any keys: the block of each of four lanes is computed in turn, until all
/// lanes have their words. Not inlined, since it is long and rarely needed.
[[gnu::noinline]] inline words scattered_words(const places& wanted, std::uint32_t subsequence) {
  places turned = wanted;
  words found{}, missing = ~found;
  for (int turn = 0; turn < 4; ++turn) {
    // backwards: if neighbours are in two blocks, the first and the second turn find all words
    if (turn > 0) turned = turned.rearranged<3, 0, 1, 2>();
    const places leader = turned.rearranged<0, 0, 0, 0>();
    const words blocks = leader.blocks(subsequence);
    const words here = words(wanted.differences(leader) == 0) & missing, number = wanted.low & 3;
    words word = rearranged<0, 0, 0, 0>(blocks) & words(number == 0);
    word |= rearranged<1, 1, 1, 1>(blocks) & words(number == 1);
    word |= rearranged<2, 2, 2, 2>(blocks) & words(number == 2);
    word |= rearranged<3, 3, 3, 3>(blocks) & words(number == 3);
    found |= word & here;
    missing &= ~here;
    if (!any(missing)) break;
  }
  return found;
}

} // namespace detail::philox

/// math::philox_words::word of each lane.
PARALLAX_INLINE pack<std::uint32_t> philox_word(const pack<std::uint32_t>& key0, const pack<std::uint32_t>& key1,
                                                const pack<std::uint32_t>& high, const pack<std::uint32_t>& low,
                                                std::uint32_t subsequence) {
  namespace philox = detail::philox;
  const philox::places p{key0.part<0>(), key1.part<0>(), high.part<0>(), low.part<0>()};
  pack<std::uint32_t> result;
  if (__builtin_expect(!philox::any(p.disorder()), 1)) result.set_part<0>(p.blocks(subsequence));
  else result.set_part<0>(philox::scattered_words(p, subsequence));
  return result;
}

/// math::philox_words::wide_word of each lane.
PARALLAX_INLINE pack<std::uint64_t> philox_wide_word(const pack<std::uint32_t>& key0, const pack<std::uint32_t>& key1,
                                                     const pack<std::uint32_t>& high, const pack<std::uint32_t>& low,
                                                     std::uint32_t subsequence) {
  namespace philox = detail::philox;
  using part = pack<std::uint64_t>::part_type;
  // half of the lanes need as many words as there are lanes
  auto half = [&]<int Half>(std::integral_constant<int, Half>) {
    auto twice = [](const auto& x) { return philox::doubled<Half>(x.template part<0>(), philox::lane_numbers{}); };
    const philox::words number = twice(low), odd = philox::repeated(0, 1, 0, 1);
    return philox::places{twice(key0), twice(key1), twice(high) << 1 | number >> 31, number << 1 | odd};
  };
  const philox::places lower = half(std::integral_constant<int, 0>{}), upper = half(std::integral_constant<int, 1>{});
  pack<std::uint64_t> result;
  // with the keys of the lower half, which are then prepared only once
  const philox::places other{lower.key0, lower.key1, upper.high, upper.low};
  const philox::words keys = (lower.key0 ^ upper.key0) | (lower.key1 ^ upper.key1);
  if (__builtin_expect(!philox::any(lower.disorder() | other.disorder() | keys), 1)) {
    result.set_part<0>(part(lower.blocks(subsequence)));
    result.set_part<1>(part(other.blocks(subsequence)));
  } else {
    result.set_part<0>(part(philox::scattered_words(lower, subsequence)));
    result.set_part<1>(part(philox::scattered_words(upper, subsequence)));
  }
  return result;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
