// Philox's random numbers: cuRAND's stream, the same whatever part of it is made where.
#include "expected.hpp"

#include <array>
#include <set>

namespace philox_test {

namespace {

using namespace conformance;
using words = std::vector<std::uint32_t>;

/// Word n of a seed's subsequence 0 or 2^64 - 1, from the definition; the rounds are held against known answers.
std::uint32_t word(std::uint64_t seed, std::uint64_t n, std::uint32_t subsequence = 0) {
  const std::uint64_t block = n / 4;
  const plx::math::philox_block four = plx::math::philox4x32_rounds(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), subsequence, subsequence},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return std::array{four.x, four.y, four.z, four.w}[n % 4];
}
words words_of(std::uint64_t seed, std::uint64_t first, std::size_t count) {
  words result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = word(seed, first + i);
  return result;
}
std::uint64_t seed_of(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

constexpr std::uint64_t wide_seed = 0x0123456789ABCDEF;

/// Words `first`, `first + 1`, ... of a key's stream.
constexpr auto words_from = [](auto key, auto high, auto first) {
  auto zero = plx::build::integer_literal(*key.owner, plx::element_type::uint32, 0);
  return plx::detail::emit<plx::primitives::philox4x32>(
      {plx::index_in_dim(key, 1), plx::index_in_dim(key, 0), high + zero, plx::arange<std::uint32_t>(5) + first},
      {plx::primitives::philox_stream::words});
};

} // namespace

TEST_CASE("philox has the words of cuRAND") {
  // printed by cuRAND 13.0: curand_init(seed, 0, n, &state), then curand(&state) again and again
  check_equal(plx::array(plx::philox::bits(plx::philox::key(42), {10})), {10},
              words{0x9CEAF053, 0x77F5493B, 0x12BF50AD, 0x5742B3D7, 0xFCDB2127, 0x53BA6CFD, 0x838F5A6E, 0x744E06FB,
                    0xD36C0225, 0xA8875DCB});
  check_equal(plx::array(plx::philox::bits(plx::philox::key(wide_seed), {2, 3})), {2, 3},
              words{0xB850222E, 0xC58CB04B, 0x14A7A020, 0x7A84FFF9, 0xADCA1466, 0x523E0D85});
  const plx::array<std::uint32_t, 0> four(4), five(5);
  const plx::array key = plx::philox::key(42);
  words far = plx::jit(words_from)(key, four, five).to_vector();
  far.resize(3);
  CHECK(far == words{0x6880FFBE, 0x93EF3466, 0xDA94BB0D}); // n = 2^34 + 5
  // the known answer of counter 0 and key 0
  check_equal(plx::array(plx::philox::bits(plx::philox::key(0), {4})), {4},
              words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  check_equal(plx::array(plx::philox::bits(plx::philox::key(0))), {}, words{0x6627E8D5});
}

TEST_CASE("philox's keys are those of a seed, and cuRAND's last subsequence") {
  check_equal(plx::array(plx::philox::key(wide_seed)), {2}, words{0x01234567, 0x89ABCDEF});
  const plx::array key = plx::philox::key(42);
  // curand_init(42, 2^64 - 1, 0, &state)
  const words six{0xA60D816E, 0x39046177, 0xFE4109D3, 0xFAA41625, 0xF1DCFE03, 0x51D2236F};
  check_equal(plx::array(plx::philox::split(key)), {2, 2}, words(six.begin(), six.begin() + 4));
  check_equal(plx::array(plx::philox::split(key, 3)), {3, 2}, six);
  check_equal(plx::array(plx::philox::split(key, {3, 1})), {3, 1, 2}, six);
  for (std::uint32_t i = 0; i < 3; ++i)
    check_equal(plx::array(plx::philox::fold_in(key, i)), {2}, words{six[2 * i], six[2 * i + 1]});
  check_equal(plx::array(plx::philox::fold_in(key, -1)), {2}, words{0x2641CC7D, 0x67A5408C}); // 2^32 - 1
}

TEST_CASE("philox's 64-bit numbers are pairs of words, its bytes the lowest ones") {
  const plx::array key = plx::philox::key(wide_seed);
  const words all = words_of(wide_seed, 0, 202);
  std::vector<std::uint64_t> wide;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < 101; ++i) {
    wide.push_back(std::uint64_t{all[2 * i + 1]} << 32 | all[2 * i]);
    bytes.push_back(static_cast<std::uint8_t>(all[i]));
  }
  check_equal(plx::array(plx::philox::bits<std::uint64_t>(key, {101})), {101}, wide);
  check_equal(plx::array(plx::philox::bits<std::uint8_t>(key, {101})), {101}, bytes);
}

TEST_CASE("any part of philox's stream can be made by itself") {
  const plx::array key = plx::philox::key(7);
  constexpr auto slices = [](auto k) {
    return std::tuple{
        plx::slice(plx::philox::bits(k, {1000}), {3}, {100}), plx::slice(plx::philox::bits(k, {1000}), {1}, {100}, {9}),
        plx::slice(plx::philox::bits(k, {20, 50}), {2, 7}, {4, 27}), plx::transpose(plx::philox::bits(k, {13, 9}))};
  };
  auto [unaligned, strided, block, transposed] = plx::jit(slices)(key);
  check_equal(unaligned, {97}, words_of(7, 3, 97));
  words every_ninth, rows, turned;
  for (std::uint64_t i = 1; i < 100; i += 9) every_ninth.push_back(word(7, i));
  for (std::uint64_t r = 2; r < 4; ++r)
    for (std::uint64_t c = 7; c < 27; ++c) rows.push_back(word(7, 50 * r + c));
  for (std::uint64_t c = 0; c < 9; ++c)
    for (std::uint64_t r = 0; r < 13; ++r) turned.push_back(word(7, 9 * r + c));
  check_equal(strided, {11}, every_ninth);
  check_equal(block, {2, 20}, rows);
  check_equal(transposed, {9, 13}, turned);

  // rows that end inside of a block, beside an operand that repeats in each
  constexpr auto beside = [](auto k, auto row) { return plx::philox::bits(k, {7, 5}) + row; };
  words sums = words_of(7, 0, 35);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<std::uint32_t>(i % 5);
  check_equal(plx::jit(beside)(key, counted<std::uint32_t>(5)), {7, 5}, sums);
}

TEST_CASE("philox's numbers of an extent that the call decides") {
  constexpr auto like = [](auto k, auto x) { return plx::philox::bits(k, {x.shape(0)}); };
  const plx::array<std::uint32_t, 1> key = plx::philox::key(3);
  const plx::array<float, 1> nothing({37}, std::vector<float>(37));
  check_equal(plx::jit(like)(key, nothing), {37}, words_of(3, 0, 37));
}

TEST_CASE("philox's numbers of many keys at once are those of each") {
  constexpr auto draw = [](auto k) {
    return std::tuple{plx::philox::bits(k),
                      plx::philox::bits(k, {5}),
                      plx::philox::uniform<double>(k, {3}),
                      plx::philox::randint(k, {4}, -5, 20),
                      plx::philox::bernoulli(k, 0.3f, {6}),
                      plx::philox::split(k, 3)};
  };
  const plx::array keys = plx::philox::split(plx::philox::key(11), 8);
  auto check = [&](const auto& one, const auto& five, const auto& three, const auto& four, const auto& six,
                   const auto& split) {
    words ones, fives, splits;
    std::vector<double> threes;
    std::vector<std::int32_t> fours;
    std::vector<bool> sixes;
    for (std::int64_t i = 0; i < 8; ++i) {
      const plx::array<std::uint32_t, 1> key{keys(i, 0), keys(i, 1)};
      const std::uint64_t seed = seed_of(keys(i, 0), keys(i, 1));
      auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
      ones.push_back(word(seed, 0));
      append(fives, words_of(seed, 0, 5));
      for (std::uint64_t n = 0; n < 6; ++n) splits.push_back(word(seed, n, 0xFFFFFFFF));
      append(threes, plx::array(plx::philox::uniform<double>(key, {3})).to_vector());
      append(fours, plx::array(plx::philox::randint(key, {4}, -5, 20)).to_vector());
      append(sixes, plx::array(plx::philox::bernoulli(key, 0.3f, {6})).to_vector());
    }
    check_equal(one, {8}, ones);
    check_equal(five, {8, 5}, fives);
    check_equal(three, {8, 3}, threes);
    check_equal(four, {8, 4}, fours);
    check_equal(six, {8, 6}, sixes);
    check_equal(split, {8, 3, 2}, splits);
  };
  std::apply(check, plx::vmap(draw)(keys));
  std::apply(check, plx::pmap(draw)(keys));
  // one draw inside of another vmap is not repeated: the key does not depend on the mapped argument
  constexpr auto unmapped = [](auto k, auto x) { return plx::philox::bits(k, {5}) + x; };
  const plx::array<std::uint32_t, 1> key{keys(0, 0), keys(0, 1)};
  words sums = words_of(seed_of(keys(0, 0), keys(0, 1)), 0, 5);
  for (std::size_t i = 0; i < 5; ++i) sums.push_back(sums[i] + 1);
  check_equal(plx::vmap(unmapped, plx::in_axes<plx::none, 0>)(key, counted<std::uint32_t>(2)), {2, 5}, sums);
}

TEST_CASE("devices make slices of one stream of philox") {
  const plx::array<std::uint32_t, 2> keys = plx::vmap([](auto) { return plx::philox::key(5); })(counted<float>(8));
  const plx::array<std::uint32_t, 1> high({8}, std::vector<std::uint32_t>(8)), first = 5U * counted<std::uint32_t>(8);
  check_equal(plx::pmap(words_from)(keys, high, first), {8, 5}, words_of(5, 0, 40));
}

TEST_CASE("philox's numbers in a softmax of rows") {
  constexpr auto noisy = [](auto x, auto k) { return plx::softmax(x + plx::philox::uniform(k, {6, 37}), 1); };
  constexpr auto noise = [](auto k) { return plx::philox::uniform(k, {6, 37}); };
  const plx::array key = plx::philox::key(13);
  const plx::array<float, 2> x({6, 37}, std::vector<float>(6 * 37));
  const std::vector<float> numbers = plx::jit(noise)(key).to_vector();
  std::vector<double> expected;
  for (std::size_t row = 0; row < 6; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 37; ++i) sum += std::exp(static_cast<double>(numbers[37 * row + i]));
    for (std::size_t i = 0; i < 37; ++i) expected.push_back(std::exp(static_cast<double>(numbers[37 * row + i])) / sum);
  }
  check_close(plx::jit(noisy)(x, key), {6, 37}, expected, 1e-5);
}

TEST_CASE("a gradient through philox's dropout") {
  constexpr auto kept = [](auto x, auto k) {
    return plx::sum(plx::where(plx::philox::bernoulli(k, 0.25f, {64}), x * x, 0.f));
  };
  const plx::array<float, 1> x = counted<float>(64);
  const plx::array key = plx::philox::key(9);
  const plx::array gradient = plx::jit(plx::grad(kept))(x, key);
  const auto mask = plx::array(plx::philox::bernoulli(key, 0.25f, {64})).to_vector();
  std::vector<float> expected;
  for (std::size_t i = 0; i < 64; ++i) expected.push_back(mask[i] ? 2 * static_cast<float>(i) : 0);
  check_equal(gradient, {64}, expected);
}

namespace {

struct moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};
template <class Values> moments moments_of(const Values& values) {
  moments m;
  const double count = static_cast<double>(values.size());
  for (double x : values) m.mean += x / count;
  for (double x : values) {
    const double d = x - m.mean;
    m.variance += d * d / count, m.skewness += d * d * d / count, m.kurtosis += d * d * d * d / count;
  }
  m.skewness /= std::pow(m.variance, 1.5), m.kurtosis /= m.variance * m.variance;
  return m;
}

constexpr int many = 20'000;
// 5 standard deviations of a mean of so many numbers with variance 1
const double tolerance = 5 / std::sqrt(double{many});

} // namespace

TEMPLATE_TEST_CASE("philox's uniform numbers", "", float, double) {
  using T = TestType;
  const plx::array key = plx::philox::key(2026);
  const auto unit = plx::array(plx::philox::uniform<T>(key, {many})).to_vector();
  for (T x : unit) REQUIRE((x >= 0 && x < 1));
  const moments m = moments_of(unit);
  CHECK(std::abs(m.mean - 0.5) < tolerance * std::sqrt(1.0 / 12));
  CHECK(std::abs(m.variance - 1.0 / 12) < tolerance * std::sqrt(1.0 / 180));
  CHECK(std::abs(m.kurtosis - 1.8) < 0.1);
  for (std::size_t distance = 1; distance <= 5;
       ++distance) { // neighbours, in one block or not, know nothing of another
    double covariance = 0;
    for (std::size_t i = distance; i < many; ++i)
      covariance += (static_cast<double>(unit[i]) - 0.5) * (static_cast<double>(unit[i - distance]) - 0.5) / many;
    CHECK(std::abs(covariance) < tolerance / 12);
  }
  std::vector<int> counts(16);
  for (T x : unit) ++counts[static_cast<std::size_t>(x * 16)];
  double chi_square = 0;
  for (int count : counts) chi_square += std::pow(count - many / 16.0, 2) / (many / 16.0);
  CHECK(chi_square < 44.3); // of 15 degrees of freedom; more once in 10^4
  const auto wide = plx::array(plx::philox::uniform<T>(key, {many}, T(-3), T(5))).to_vector();
  for (std::size_t i = 0; i < many; ++i) REQUIRE(std::abs(wide[i] - (unit[i] * 8 - 3)) <= T(1e-6));
}

TEMPLATE_TEST_CASE("philox's normal numbers", "", float, double) {
  using T = TestType;
  const auto numbers = plx::array(plx::philox::normal<T>(plx::philox::key(2027), {many})).to_vector();
  const moments m = moments_of(numbers);
  CHECK(std::abs(m.mean) < tolerance);
  CHECK(std::abs(m.variance - 1) < tolerance * std::sqrt(2.0));
  CHECK(std::abs(m.skewness) < tolerance * std::sqrt(6.0));
  CHECK(std::abs(m.kurtosis - 3) < tolerance * std::sqrt(24.0));
}

TEST_CASE("philox's truth values and integers") {
  const plx::array key = plx::philox::key(2028);
  const auto truths = plx::array(plx::philox::bernoulli(key, 0.3f, {many})).to_vector();
  double share = 0;
  for (bool each : truths) share += each ? 1.0 / many : 0;
  CHECK(std::abs(share - 0.3) < tolerance * std::sqrt(0.3 * 0.7));

  std::vector<int> counts(7);
  const auto integers = plx::array(plx::philox::randint(key, {many}, -3, 4)).to_vector();
  for (std::int32_t each : integers) {
    REQUIRE((each >= -3 && each < 4));
    ++counts[static_cast<std::size_t>(each + 3)];
  }
  double chi_square = 0;
  for (int count : counts) chi_square += std::pow(count - many / 7.0, 2) / (many / 7.0);
  CHECK(chi_square < 27.9); // of 6 degrees of freedom; more once in 10^4
  constexpr std::int64_t large = std::int64_t{1} << 40;
  for (std::int64_t each :
       plx::array(plx::philox::randint<std::int64_t>(key, {100}, std::int64_t{0}, large)).to_vector())
    CHECK((each >= 0 && each < large));
}

TEST_CASE("philox's keys differ, and so do their streams") {
  const plx::array keys = plx::philox::split(plx::philox::key(1), 1000);
  std::set<std::uint64_t> different;
  for (std::int64_t i = 0; i < 1000; ++i) different.insert(seed_of(keys(i, 0), keys(i, 1)));
  CHECK(different.size() == 1000);
  constexpr auto draw = [](auto k) { return plx::philox::uniform(k, {20}); };
  const moments m = moments_of(plx::vmap(draw)(keys).to_vector());
  CHECK(std::abs(m.mean - 0.5) < tolerance * std::sqrt(1.0 / 12));
  CHECK(std::abs(m.variance - 1.0 / 12) < tolerance * std::sqrt(1.0 / 180));
}

} // namespace philox_test
