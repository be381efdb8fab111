// The ranges of random numbers: integers of wide ranges are as likely as one another, and no number is its upper bound.
#include "expected.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace random_ranges_test {

namespace {

using namespace conformance;

constexpr int many = 200'000;

template <class Generator, class T>
std::vector<T> integers(auto low, auto high, std::uint64_t seed = 3, std::int64_t count = many) {
  return plx::array(Generator::template randint<T>(Generator::key(seed), {count}, low, high)).to_vector();
}
/// Of 96 equal parts of [low, low + size): about 95, and more than 155 once in 10^4; of 64 parts, 63 and 115.
template <class T> double chi_square(const std::vector<T>& drawn, long double low, long double size, int parts = 96) {
  std::vector<double> counts(static_cast<std::size_t>(parts));
  for (const T& each : drawn) {
    const long double at = (static_cast<long double>(each) - low) / size;
    REQUIRE((at >= 0 && at < 1));
    counts[static_cast<std::size_t>(at * static_cast<long double>(parts))] += 1;
  }
  const double expected = static_cast<double>(drawn.size()) / parts;
  double sum = 0;
  for (double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}
template <class Generator> void check_wide_ranges() {
  constexpr std::uint32_t words = 3U << 30;
  CHECK(chi_square(integers<Generator, std::uint32_t>(0U, words), 0, words) < 155);
  CHECK(chi_square(integers<Generator, std::int32_t>(-2'000'000'000, 1'221'225'472), -2e9L, words) < 155);
  constexpr std::int64_t wide = std::int64_t{3} << 61;
  CHECK(chi_square(integers<Generator, std::int64_t>(std::int64_t{0}, wide), 0, wide) < 155);
  CHECK(chi_square(integers<Generator, std::uint64_t>(std::uint64_t{7}, std::uint64_t{3} << 62), 7, 3 * 0x1p62L) < 155);
  CHECK(chi_square(integers<Generator, std::int32_t>(-100'000, 100'000), -1e5L, 2e5L) < 155);
}

} // namespace

TEST_CASE("randint: of wide ranges no value is more likely than another", "[long]") {
  check_wide_ranges<plx::random>();
  check_wide_ranges<plx::philox>();
}

TEST_CASE("randint: an end beyond the largest number of the type means all of them, and none is left out") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(chi_square(integers<plx::random, std::uint8_t>(0, 256), 0, 256, 64) < 115);
  const auto bytes = integers<plx::random, std::uint8_t>(250, 256);
  CHECK(std::count(bytes.begin(), bytes.end(), 255) > many / 7);
  CHECK(std::count(bytes.begin(), bytes.end(), 250) > many / 7);
  const auto last = integers<plx::random, std::int32_t>(most - 1, most + 1);
  CHECK(std::count(last.begin(), last.end(), most) > many / 3);
  CHECK(chi_square(integers<plx::philox, std::int32_t>(-most - 1, most + 1), -0x1p31L, 0x1p32L) < 155);
  for (std::int32_t each : integers<plx::random, std::int32_t>(5, 5, 1, 10)) CHECK(each == 5);
  for (std::int32_t each : integers<plx::random, std::int32_t>(5, -5, 1, 10)) CHECK(each == 5);
}

TEST_CASE("randint: values of JAX 0.10.2 where its ranges are even") {
  using numbers = std::vector<std::int32_t>;
  CHECK(integers<plx::random, std::int32_t>(-30000, 35536, 5, 4) == numbers{21969, 17168, 21447, 10456});
  CHECK(integers<plx::random, std::int32_t>(0, 1 << 20, 5, 4) == numbers{314113, 899136, 182519, 957960});
  CHECK(integers<plx::random, std::int64_t>(std::int64_t{0}, std::int64_t{3'000'000'019}, 5, 3) ==
        std::vector<std::int64_t>{2729195343, 1758551643, 2549984785});
}

TEST_CASE("wide_rem: what is left of two words, beside long division") {
  constexpr auto remainder = [](auto x, auto y, auto by) {
    return plx::detail::emit<plx::primitives::wide_remainder>({x, y, by});
  };
  std::vector<std::uint32_t> x, y, by, expected;
  for (std::uint32_t divisor : {1U, 2U, 3U, 65535U, 65536U, 65537U, 0x80000000U, 0xC0000001U, 0xFFFFFFFFU, 0U})
    for (std::uint32_t upper : {0U, 1U, 0x7FFFFFFFU, 0xC0000000U, 0xFFFFFFFFU})
      for (std::uint32_t lower : {0U, 0xFFFFU, 0x10000U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
        x.push_back(upper), y.push_back(lower), by.push_back(divisor);
        const std::uint64_t both = std::uint64_t{upper} << 32 | lower;
        expected.push_back(divisor == 0 ? lower : static_cast<std::uint32_t>(both % divisor));
      }
  const auto size = static_cast<std::int64_t>(x.size());
  const auto array_of = [](const auto& numbers) {
    using T = typename std::remove_cvref_t<decltype(numbers)>::value_type;
    auto result = plx::array<T, 1>::uninitialised({static_cast<std::int64_t>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), result.mutable_data());
    return result;
  };
  check_equal(plx::jit(remainder)(array_of(x), array_of(y), array_of(by)), {size}, expected);

  // 2^64 a + b is -3 a + b where 2^64 - 3 or what divides it divides, and more such
  using wide = std::uint64_t;
  const std::vector<wide> upper{1, ~wide{0}, 5, 1, 123, ~wide{0}}, lower{0, ~wide{0}, 9, 1, ~wide{0}, 77};
  const std::vector<wide> divisor{~wide{0}, ~wide{0}, ~wide{0} - 2, wide{1} << 63, 1, 0};
  const std::vector<wide> left{1, 0, 24, 1, 0, 77};
  check_equal(plx::jit(remainder)(array_of(upper), array_of(lower), array_of(divisor)), {6}, left);
}

namespace {

template <class Generator, class T> void check_below(double low, double high, std::int64_t count) {
  INFO(low << " to " << high);
  const auto drawn =
      plx::array(Generator::template uniform<T>(Generator::key(9), {count}, T(low), T(high))).to_vector();
  bool inside = true;
  double sum = 0;
  for (const T& each : drawn) {
    const double x = static_cast<double>(each);
    inside = inside && x >= static_cast<double>(T(low)) && x < static_cast<double>(T(high));
    sum += x;
  }
  CHECK(inside);
  CHECK(std::abs(sum / static_cast<double>(count) - (low + high) / 2) < 0.02 * (high - low));
}

} // namespace

TEST_CASE("uniform: numbers stay below the upper bound, in all types", "[long]") {
  for (const auto& [low, high] :
       std::vector<std::pair<double, double>>{{1, 1.5}, {-1.5, -1}, {-1, 0}, {10, 11}, {0, 1}}) {
    check_below<plx::random, plx::float16>(low, high, 60'000);
    check_below<plx::philox, plx::bfloat16>(low, high, 60'000);
    check_below<plx::random, float>(low, high, 1'000'000);
    check_below<plx::philox, double>(low, high, 10'000);
  }
  // of few numbers, the lower bound and what is between
  const auto close = plx::array(plx::random::uniform(plx::random::key(4), {1000}, 16777214.f, 16777216.f)).to_vector();
  CHECK(*std::max_element(close.begin(), close.end()) == 16777215.f);
  CHECK(*std::min_element(close.begin(), close.end()) == 16777214.f);
  for (float each : plx::array(plx::random::uniform(plx::random::key(4), {10}, 2.f, 2.f)).to_vector())
    CHECK(each == 2.f);
}

TEST_CASE("just_below: the next number towards minus infinity") {
  static constexpr auto below = [](auto x) { return plx::detail::just_below(x); };
  const auto check = [](auto x) {
    CHECK(plx::jit(below)(plx::array<decltype(x), 0>(x)).item() == std::nexttoward(x, -1e30L));
  };
  const auto each = [check](auto... numbers) { (check(numbers), ...); };
  each(1.f, 1.5f, -1.f, 0.f, 0x1p-126f, 0x1p-149f, -0x1p-126f, 3.4e38f);
  each(1., -2., 0., 0x1p-1022, 0x1p-1074, -0x1p-1022);
  const auto half = [](float x) {
    return static_cast<float>(plx::jit(below)(plx::array<plx::float16, 0>(plx::float16(x))).item());
  };
  CHECK(half(1.f) == 1 - 0x1p-11f);
  CHECK(half(-1.f) == -1 - 0x1p-10f);
  CHECK(half(0.f) == -0x1p-24f);
  CHECK(half(0x1p-14f) == 0x1p-14f - 0x1p-24f);
  const auto brain = [](float x) {
    return static_cast<float>(plx::jit(below)(plx::array<plx::bfloat16, 0>(plx::bfloat16(x))).item());
  };
  CHECK(brain(1.5f) == 1.5f - 0x1p-7f);
  CHECK(brain(1.f) == 1 - 0x1p-8f);
  CHECK(brain(0.f) == -0x1p-133f);
}

} // namespace random_ranges_test
