// Philox on packs against Philox on elements, which is held against Random123's known answers.
#include "support/test.hpp"

#include <parallax/host/simd/pack.hpp>

#include <array>

namespace pack_philox_test {

namespace host = parallax::host;
namespace math = parallax::math;
using host::lanes;
using words = host::pack<std::uint32_t>;

namespace {

// the known answers for philox4x32 with 10 rounds that Random123 publishes
constexpr std::uint32_t ones = 0xFFFFFFFF;
static_assert(math::philox4x32_rounds({0, 0, 0, 0}, {0, 0}) ==
              math::philox_block{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
static_assert(math::philox4x32_rounds({ones, ones, ones, ones}, {ones, ones}) ==
              math::philox_block{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
static_assert(math::philox4x32_rounds({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}) ==
              math::philox_block{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});

/// Numbers that have nothing to do with Philox.
class numbers {
 public:
  std::uint32_t operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  words lanes_of_any() {
    words result;
    for (std::uint32_t& lane : result.lane) lane = (*this)();
    return result;
  }

 private:
  std::uint64_t state_ = 1;
};

/// Word `number` of a subsequence, from the definition.
std::uint32_t expected(std::uint32_t key0, std::uint32_t key1, std::uint64_t number, std::uint32_t subsequence) {
  const std::uint64_t block = number / 4;
  const math::philox_block four = math::philox4x32_rounds(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), subsequence, subsequence},
      {key0, key1});
  return std::array{four.x, four.y, four.z, four.w}[number % 4];
}

void check(const words& key0, const words& key1, const words& high, const words& low, std::uint32_t subsequence) {
  const words narrow = math::philox_word(key0, key1, high, low, subsequence);
  const host::pack<std::uint64_t> wide = math::philox_wide_word(key0, key1, high, low, subsequence);
  math::philox_words one_after_another;
  for (int i = 0; i < lanes; ++i) {
    const std::uint64_t number = std::uint64_t{high.lane[i]} << 32 | low.lane[i];
    auto word = [&](std::uint64_t n) { return expected(key0.lane[i], key1.lane[i], n, subsequence); };
    INFO("lane " << i << ", word " << number);
    REQUIRE(narrow.lane[i] == word(number));
    REQUIRE(wide.lane[i] == (std::uint64_t{word(2 * number + 1)} << 32 | word(2 * number)));
    REQUIRE(one_after_another.word(key0.lane[i], key1.lane[i], high.lane[i], low.lane[i], subsequence) ==
            narrow.lane[i]);
    REQUIRE(one_after_another.wide_word(key0.lane[i], key1.lane[i], high.lane[i], low.lane[i], subsequence) ==
            wide.lane[i]);
  }
}

} // namespace

TEST_CASE("a pack has the words of Philox's stream, whatever their order", "[pack]") {
  numbers any;
  const words lane = host::lane_index<std::uint32_t>();
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t subsequence = round % 2 ? ones : 0;
    const words key0(any()), key1(any()), high(any()), start(any()), block(start.lane[0] & ~3U);
    check(key0, key1, high, host::add(block, lane), subsequence);
    check(key0, key1, high, host::add(start, lane), subsequence);
    check(key0, key1, high, host::sub(start, lane), subsequence);
    check(key0, key1, high, host::add(start, host::mul(lane, words(2))), subsequence);
    check(key0, key1, high, host::add(start, host::mul(lane, words(5))), subsequence);
    check(key0, key1, high, start, subsequence);
    check(key0, key1, high, any.lanes_of_any(), subsequence);
    // the last word before 2^32 and the first one behind it
    const words last = host::add(words(ones - 2), lane);
    check(key0, key1, host::select(host::lt(last, words(8)), host::add(high, words(1)), high), last, subsequence);
  }
}

TEST_CASE("a pack has words of several keys", "[pack]") {
  numbers any;
  const words lane = host::lane_index<std::uint32_t>();
  for (int round = 0; round < 50; ++round) {
    const words key0(any()), key1(any()), high(any()), start(any()), block(start.lane[0] & ~3U);
    const words in_order = host::add(block, lane), other = any.lanes_of_any();
    check(other, key1, high, in_order, 0);
    check(key0, other, high, in_order, 0);
    check(key0, key1, other, in_order, 0);
    check(other, key1, high, start, 0);
    check(any.lanes_of_any(), any.lanes_of_any(), any.lanes_of_any(), any.lanes_of_any(), 0);
    // one lane alone differs
    for (int i = 0; i < lanes; ++i) {
      words odd = key0;
      odd.lane[i] ^= 1;
      check(odd, key1, high, in_order, 0);
      odd = key1;
      odd.lane[i] ^= 1U << 31;
      check(key0, odd, high, in_order, 0);
    }
  }
}

} // namespace pack_philox_test
