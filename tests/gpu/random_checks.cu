// Random bits on the device: those of the host.
#include "device_array.cuh"

#include <parallax/math/philox.hpp>
#include <parallax/math/scalar_math.hpp>

#include <array>
#include <cstdint>

namespace gpu {
namespace {

namespace math = parallax::math;

struct random_arguments {
  std::uint32_t key0, key1;
  std::uint64_t first; ///< the number of the first word
  std::uint32_t* words;
  std::uint64_t* pairs;
  int count;
};

/// Words of Philox's stream, by cuRAND's function: each thread makes several that follow one another.
struct philox_kernel {
  using arguments = random_arguments;
  static constexpr bool barriers = false;
  static constexpr int each = 7; // not the words of whole blocks

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const int thread = static_cast<int>(block.block() * block.threads() + block.thread());
    math::philox_words words, pairs;
    for (int i = thread * each; i < (thread + 1) * each && i < a.count; ++i) {
      const std::uint64_t n = a.first + static_cast<std::uint64_t>(i);
      const auto high = static_cast<std::uint32_t>(n >> 32), low = static_cast<std::uint32_t>(n);
      block.store(a.words + i, words.word(a.key0, a.key1, high, low, 0));
      block.store(a.pairs + i, pairs.wide_word(a.key0, a.key1, high, low, 0xFFFFFFFF));
    }
  }
};

struct threefry_kernel {
  using arguments = random_arguments;
  static constexpr bool barriers = false;

  template <class Block> static PARALLAX_HD void run(const Block& block, const arguments& a) {
    const int i = static_cast<int>(block.block() * block.threads() + block.thread());
    if (i >= a.count) return;
    const std::uint64_t n = a.first + static_cast<std::uint64_t>(i);
    const auto both =
        math::threefry2x32(a.key0, a.key1, static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n));
    block.store(a.words + i, both.first ^ both.second);
    block.store(a.pairs + i, std::uint64_t{both.first} << 32 | both.second);
  }
};

constexpr int count = 10'000;
constexpr std::uint64_t firsts[] = {0, 3, (std::uint64_t{1} << 32) - 5000, (std::uint64_t{1} << 60) + 1};

std::uint32_t philox_word(const random_arguments& a, std::uint64_t n, std::uint32_t subsequence) {
  const auto block = math::philox4x32_rounds(
      {static_cast<std::uint32_t>(n / 4), static_cast<std::uint32_t>(n / 4 >> 32), subsequence, subsequence},
      {a.key0, a.key1});
  return std::array{block.x, block.y, block.z, block.w}[n % 4];
}

void check_philox() {
  const queue on;
  const device_array<std::uint32_t> words(on, count);
  const device_array<std::uint64_t> pairs(on, count);
  for (std::uint64_t first : firsts) {
    const random_arguments a{0x89ABCDEF, 0x01234567, first, words.data(), pairs.data(), count};
    ok(api::launch(philox_kernel{}, {count / philox_kernel::each / 128 + 1, 128, 0}, on.get(), a));
    const auto made = words.values();
    const auto made_pairs = pairs.values();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t n = first + i;
      require(made[i] == philox_word(a, n, 0), "a word of philox");
      require(made_pairs[i] ==
                  (std::uint64_t{philox_word(a, 2 * n + 1, 0xFFFFFFFF)} << 32 | philox_word(a, 2 * n, 0xFFFFFFFF)),
              "a pair of words of philox");
    }
  }
}

void check_threefry() {
  const queue on;
  const device_array<std::uint32_t> words(on, count);
  const device_array<std::uint64_t> pairs(on, count);
  for (std::uint64_t first : firsts) {
    const random_arguments a{0x01234567, 0x89ABCDEF, first, words.data(), pairs.data(), count};
    ok(api::launch(threefry_kernel{}, {count / 128 + 1, 128, 0}, on.get(), a));
    const auto made = words.values();
    const auto made_pairs = pairs.values();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t n = first + i;
      const auto both =
          math::threefry2x32(a.key0, a.key1, static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n));
      require(made[i] == (both.first ^ both.second), "a word of threefry");
      require(made_pairs[i] == (std::uint64_t{both.first} << 32 | both.second), "both words of threefry");
    }
  }
}

constexpr check all[] = {{"random: philox, by cuRAND's function", check_philox}, {"random: threefry", check_threefry}};

} // namespace

std::span<const check> random_checks() { return all; }

} // namespace gpu
