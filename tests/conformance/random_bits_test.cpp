// Golden values of JAX's random numbers, partitionable threefry: keys, their splitting, bits and integers.
#include "expected.hpp"

namespace random_bits_test {

namespace {

using namespace conformance;
using words = std::vector<std::uint32_t>;

constexpr auto threefry = [](auto key0, auto key1, auto counter0, auto counter1) {
  auto word = [&](plx::primitives::threefry_word which) {
    return plx::detail::emit<plx::primitives::threefry2x32>({key0, key1, counter0, counter1}, {which});
  };
  return std::pair{word(plx::primitives::threefry_word::first), word(plx::primitives::threefry_word::second)};
};

constexpr auto from_key = [](auto key) {
  return std::tuple{plx::random::split(key),
                    plx::random::split(key, 3),
                    plx::random::fold_in(key, 7),
                    plx::random::bits<std::uint8_t>(key, {5}),
                    plx::random::bits<std::uint32_t>(key, {5}),
                    plx::random::bits<std::uint64_t>(key, {3}),
                    plx::random::randint(key, {10}, 0, 10),
                    plx::random::bernoulli(key, 0.5f, {10})};
};

plx::array<std::uint32_t, 1> key_of(std::uint32_t high, std::uint32_t low) { return {high, low}; }

} // namespace

TEST_CASE("known answers of threefry") {
  const plx::array<std::uint32_t, 1> key0{0, 0xFFFFFFFF, 0x13198A2E, 0}, key1{0, 0xFFFFFFFF, 0x03707344, 0};
  const plx::array<std::uint32_t, 1> counter0{0, 0xFFFFFFFF, 0x243F6A88, 1}, counter1{0, 0xFFFFFFFF, 0x85A308D3, 0};
  auto [first, second] = plx::jit(threefry)(key0, key1, counter0, counter1);
  check_equal(first, {4}, words{0x6B200159, 0x1CB996FC, 0xC4923A9C, 1351547692});
  check_equal(second, {4}, words{0x99BA4EFE, 0xBB002BE7, 0x483DF7A0, 3235790642});
}

TEST_CASE("keys of seeds") {
  check_equal(plx::array(plx::random::key(0)), {2}, words{0, 0});
  check_equal(plx::array(plx::random::key(1)), {2}, words{0, 1});
  check_equal(plx::array(plx::random::key(-1)), {2}, words{0, 4294967295});
  check_equal(plx::array(plx::random::key(std::int32_t{-2})), {2}, words{0, 4294967294});
  check_equal(plx::array(plx::random::key(std::int64_t{-1})), {2}, words{4294967295, 4294967295});
  check_equal(plx::array(plx::random::key(std::int64_t{-3})), {2}, words{4294967295, 4294967293});
}

TEST_CASE("keys and bits of seed 0") {
  auto [two, three, folded, u8, u32, u64, integers, truths] = plx::jit(from_key)(key_of(0, 0));
  check_equal(two, {2, 2}, words{1797259609, 2579123966, 928981903, 3453687069});
  check_equal(three, {3, 2}, words{1797259609, 2579123966, 928981903, 3453687069, 4146024105, 2718843009});
  check_equal(folded, {2}, words{2716826189, 292468403});
  check_equal(u8, {5}, std::vector<std::uint8_t>{167, 146, 40, 53, 183});
  check_equal(u32, {5}, words{4070199207, 4202968722, 1427181096, 2012915765, 2447653815});
  check_equal(u64, {3}, std::vector<std::uint64_t>{7719171245655871230U, 3989946895414531357U, 17807037942121513089U});
  check_equal(integers, {10}, std::vector<std::int32_t>{9, 0, 2, 3, 1, 7, 2, 3, 3, 3});
  check_equal(truths, {10}, std::vector<bool>{0, 0, 1, 1, 0, 1, 1, 0, 0, 1});
}

TEST_CASE("keys and bits of seed 1") {
  auto [two, three, folded, u8, u32, u64, integers, truths] = plx::jit(from_key)(key_of(0, 1));
  check_equal(two, {2, 2}, words{507451445, 1853169794, 1948878966, 4237131848});
  check_equal(three, {3, 2}, words{507451445, 1853169794, 1948878966, 4237131848, 2441914641, 3819641963});
  check_equal(folded, {2}, words{954670714, 4016809582});
  check_equal(u8, {5}, std::vector<std::uint8_t>{183, 62, 122, 241, 164});
  check_equal(u32, {5}, words{1883912375, 2292451390, 1915204986, 1882898417, 3854144420});
  check_equal(u64, {3}, std::vector<std::uint64_t>{2179487362436112514U, 8370371427069427784U, 10487943526538222699U});
  check_equal(integers, {10}, std::vector<std::int32_t>{6, 7, 0, 3, 8, 4, 8, 1, 6, 6});
  check_equal(truths, {10}, std::vector<bool>{1, 0, 1, 1, 0, 0, 0, 0, 1, 0});
}

TEST_CASE("eagerly made keys and bits are those of traced ones") {
  const plx::array key = plx::random::key(0);
  check_equal(plx::array(plx::random::split(key)), {2, 2}, words{1797259609, 2579123966, 928981903, 3453687069});
  check_equal(plx::array(plx::random::bits(key, {5})), {5},
              words{4070199207, 4202968722, 1427181096, 2012915765, 2447653815});
  check_equal(plx::array(plx::random::randint(plx::random::key(72), 0, 10)), {}, std::vector<std::int32_t>{7});
}

TEST_CASE("splitting and folding in agree") {
  const plx::array key = plx::random::key(1701);
  const plx::array keys = plx::random::split(key, 4);
  for (std::int32_t i = 0; i < 4; ++i) {
    const plx::array folded = plx::random::fold_in(key, i);
    check_equal(folded, {2}, words{keys(i, 0), keys(i, 1)});
  }
}

TEST_CASE("a key splits into no keys at all") {
  const plx::array key = plx::random::key(1701);
  check_equal(plx::array(plx::random::split(key, 0)), {0, 2}, words{});
  constexpr auto later_ones = [](auto k) { return plx::slice_in_dim(plx::random::split(k, 0), 1, 2, 1, 1); };
  check_equal(plx::jit(later_ones)(key), {0, 1}, words{});
}

TEST_CASE("threefry's bits are those of its rounds") {
  const plx::array key = plx::random::key(0x0123456789ABCDEF);
  words expected(1001);
  for (std::uint32_t i = 0; i < 1001; ++i) {
    const auto [first, second] = plx::math::threefry2x32(0x01234567U, 0x89ABCDEFU, 0U, i);
    expected[i] = first ^ second;
  }
  check_equal(plx::array(plx::random::bits(key, {1001})), {1001}, expected);
  constexpr auto part = [](auto k) { return plx::slice(plx::random::bits(k, {1001}), {5}, {905}); };
  check_equal(plx::jit(part)(key), {900}, words(expected.begin() + 5, expected.begin() + 905));
}

} // namespace random_bits_test
