// The Philox 4x32 block cipher with 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011), and
// the streams of 32-bit words that cuRAND makes with it.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/math/scalar_operations.hpp>

#ifdef __CUDACC__
#if __has_include(<curand_philox4x32_x.h>)
#define PARALLAX_HAS_CURAND_PHILOX
#include <curand_philox4x32_x.h>
#endif
#endif

namespace parallax::PARALLAX_INLINE_VERSION::math {

namespace detail {
// Philox's multipliers, and the numbers added to its key words in each round.
inline constexpr std::uint32_t philox_multiplier_x = 0xD2511F53, philox_multiplier_z = 0xCD9E8D57;
inline constexpr std::uint32_t philox_increment_x = 0x9E3779B9, philox_increment_y = 0xBB67AE85;
inline constexpr int philox_rounds = 10;
} // namespace detail

/// A counter, or the cipher's output for it.
struct philox_block {
  std::uint32_t x, y, z, w;

  friend constexpr bool operator==(const philox_block&, const philox_block&) = default;
};
struct philox_key {
  std::uint32_t x, y;
};

/// The counter encrypted with the key, by this file's own rounds.
PARALLAX_HD constexpr philox_block philox4x32_rounds(philox_block c, philox_key key) {
  for (int round = 0; round < detail::philox_rounds; ++round) {
    const std::uint64_t of_x = std::uint64_t{detail::philox_multiplier_x} * c.x;
    const std::uint64_t of_z = std::uint64_t{detail::philox_multiplier_z} * c.z;
    c = {static_cast<std::uint32_t>(of_z >> 32) ^ c.y ^ key.x, static_cast<std::uint32_t>(of_z),
         static_cast<std::uint32_t>(of_x >> 32) ^ c.w ^ key.y, static_cast<std::uint32_t>(of_x)};
    key = {key.x + detail::philox_increment_x, key.y + detail::philox_increment_y};
  }
  return c;
}

/// The counter encrypted with the key: by cuRAND's function on CUDA devices.
PARALLAX_HD inline philox_block philox4x32(philox_block counter, philox_key key) {
#if defined(__CUDA_ARCH__) && defined(PARALLAX_HAS_CURAND_PHILOX)
  const uint4 block =
      curand_Philox4x32_10(make_uint4(counter.x, counter.y, counter.z, counter.w), make_uint2(key.x, key.y));
  return {block.x, block.y, block.z, block.w};
#else
  return philox4x32_rounds(counter, key);
#endif
}

/// The words of a stream, computed in blocks of four; the last block is kept for the next words. Word n of a key's
/// subsequence s is the result of cuRAND's `curand` after `curand_init(seed, s, n, &state)`, if the key's words are the
/// seed's lower and upper half: word n % 4 of the block of counter (n / 4, s), each of 64 bits, lower half first.
class philox_words {
 public:
  /// Word number `high` * 2^32 + `low` of the subsequence whose number has the halves `subsequence`.
  PARALLAX_HD PARALLAX_INLINE std::uint32_t word(std::uint32_t key0, std::uint32_t key1, std::uint32_t high,
                                                 std::uint32_t low, std::uint32_t subsequence) {
    find(key0, key1, high, low, subsequence);
    const std::uint32_t first = low & 1 ? block.y : block.x, second = low & 1 ? block.w : block.z;
    return low & 2 ? second : first;
  }
  /// Words 2 n and 2 n + 1 as one number, the first one in the low bits, for n = `high` * 2^32 + `low`.
  PARALLAX_HD PARALLAX_INLINE std::uint64_t wide_word(std::uint32_t key0, std::uint32_t key1, std::uint32_t high,
                                                      std::uint32_t low, std::uint32_t subsequence) {
    find(key0, key1, high << 1 | low >> 31, low << 1, subsequence);
    const std::uint32_t lower = low & 1 ? block.z : block.x, upper = low & 1 ? block.w : block.y;
    return std::uint64_t{upper} << 32 | lower;
  }

 private:
  philox_block counter{}, block{};
  philox_key key{};
  bool known = false;

  /// Computes the block that contains a word, unless it is the block kept. Neighbouring words are in one block.
  PARALLAX_HD PARALLAX_INLINE void find(std::uint32_t key0, std::uint32_t key1, std::uint32_t high, std::uint32_t low,
                                        std::uint32_t subsequence) {
    const philox_block wanted{low >> 2 | high << 30, high >> 2, subsequence, subsequence};
    if (known && wanted == counter && key0 == key.x && key1 == key.y) return;
    counter = wanted;
    key = {key0, key1};
    block = philox4x32(counter, key);
    known = true;
  }
};

// Functions like `philox_words::word` and `wide_word` for registers of lanes: registers bring overloads, which are
// found where they are defined.
PARALLAX_CALLS_HOST
template <class V>
  requires(!element<V>)
PARALLAX_HD PARALLAX_INLINE auto philox_word(const V& key0, const V& key1, const V& high, const V& low,
                                             std::uint32_t subsequence) {
  return philox_word(key0, key1, high, low, subsequence);
}
PARALLAX_CALLS_HOST
template <class V>
  requires(!element<V>)
PARALLAX_HD PARALLAX_INLINE auto philox_wide_word(const V& key0, const V& key1, const V& high, const V& low,
                                                  std::uint32_t subsequence) {
  return philox_wide_word(key0, key1, high, low, subsequence);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::math
