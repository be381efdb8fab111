// Golden values of JAX's random numbers, partitionable threefry: uniform and normal. Bits and uniform numbers are
// exact; normal ones may differ by 3 units in the last place, as contraction to multiply-adds is left open.
#include "expected.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace random_floats_test {

namespace {

using namespace conformance;

plx::array<std::uint32_t, 1> key_of(std::uint32_t low) { return {0, low}; }

constexpr auto floats_from_key = [](auto key) {
  return std::tuple{plx::random::uniform(key, {5}), plx::random::uniform<double>(key, {3}),
                    plx::random::normal(key, {5})};
};

template <class Result, class T> void check_normal(const Result& result, const std::vector<T>& expected) {
  using bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const auto whole = on_host(result);
  REQUIRE(whole.values().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    const bits distance = std::bit_cast<bits>(whole.values()[i]) - std::bit_cast<bits>(expected[i]);
    CHECK(std::abs(distance) <= 3);
  }
}

} // namespace

TEST_CASE("uniform and normal numbers of seed 0") {
  auto [f32, f64, gauss] = plx::jit(floats_from_key)(key_of(0));
  check_equal(f32, {5}, std::vector<float>{0.947667003f, 0.978579879f, 0.332291484f, 0.468668461f, 0.569888711f});
  check_equal(f64, {3}, std::vector<double>{0.41845711171638644, 0.21629545460551136, 0.9653214611189975});
  check_normal(gauss, std::vector{1.62264204f, 2.02526474f, -0.433594435f, -0.0786173493f, 0.176090896f});
}

TEST_CASE("uniform and normal numbers of seed 1") {
  auto [f32, f64, gauss] = plx::jit(floats_from_key)(key_of(1));
  check_equal(f32, {5}, std::vector<float>{0.438632488f, 0.533752918f, 0.445918322f, 0.438396335f, 0.897362828f});
  check_equal(f64, {3}, std::vector<double>{0.11815024666289675, 0.4537587442869633, 0.568552557818901});
  check_normal(gauss, std::vector{-0.154437184f, 0.084707275f, -0.135980487f, -0.155036256f, 1.26666725f});
}

TEST_CASE("normal numbers of float64 as JAX 0.12.0.1 has them") {
  const auto normal = plx::jit([](auto key) { return plx::random::normal<double>(key, {5}); });
  check_normal(normal(key_of(0)), std::vector{-0.20584213947964339, -0.78476577644674106, 1.8160866726679836,
                                              0.18784401289378869, 0.080867881037432754});
  check_normal(normal(key_of(1)), std::vector{-1.184284421837855, -0.11617040844628398, 0.17269028009903425,
                                              0.95730717905403917, -0.8329541450744179});
}

TEST_CASE("uniform numbers that JAX's documentation prints") {
  const plx::array key = plx::random::key(0);
  check_close(plx::array(plx::random::uniform(key)), {}, {0.947667});
  const plx::array keys = plx::random::split(key);
  const plx::array<std::uint32_t, 1> second{keys(1, 0), keys(1, 1)};
  check_close(plx::array(plx::random::uniform(second)), {}, {0.00729382});
  check_close(plx::array(plx::random::uniform(key, {3})), {3}, {0.947667, 0.9785799, 0.33229148});
}

TEST_CASE("normal numbers that JAX's documentation prints") {
  const plx::array key = plx::random::key(42);
  check_close(plx::array(plx::random::normal(key)), {}, {-0.028304616});
  const std::vector<double> six{-0.02830462, 0.46713185, 0.29570296, 0.15354592, -0.12403282, 0.21692315};
  check_close(plx::array(plx::random::normal(key, {3})), {3}, {six.begin(), six.begin() + 3});
  check_close(plx::array(plx::random::normal(key, {2, 3})), {2, 3}, six);
  check_close(plx::array(plx::random::normal(plx::random::key(0), {16})), {16},
              {1.6226422, 2.0252647, -.43359444, -.07861735, .1760909, -.97208923, -.49529874, .4943786, .6643493,
               -.9501635, 2.1795304, -1.9551506, .35857072, .15779513, 1.2770847, 1.5104648});
}

TEST_CASE("normal numbers of keys split in a loop and at once") {
  plx::array key = plx::random::key(42);
  for (double expected : {0.6057640314102173, -0.21089035272598267, -0.3948981463909149}) {
    const plx::array pair = plx::random::split(key);
    const plx::array<std::uint32_t, 1> sub{pair(1, 0), pair(1, 1)};
    check_close(plx::array(plx::random::normal(sub)), {}, {expected});
    key = plx::array<std::uint32_t, 1>{pair(0, 0), pair(0, 1)};
  }
  constexpr auto normal = [](auto k) { return plx::random::normal(k); };
  const plx::array keys = plx::random::split(plx::random::key(42), 3);
  check_close(plx::vmap(normal)(keys), {3}, {.07592554, .60576403, .4323065});
}

TEST_CASE("row 15: one key per device") {
  constexpr auto draw = [](auto key) {
    return std::tuple{plx::random::bits(key), plx::random::uniform(key), plx::random::normal(key)};
  };
  const plx::array keys = plx::random::split(plx::random::key(0), 8);
  auto check = [](const auto& bits, const auto& uniform, const auto& normal) {
    check_equal(bits, {8},
                std::vector<std::uint32_t>{3617712097, 31327077, 3875991361, 1146711402, 659940848, 3169945449,
                                           3769635031, 2040308410});
    check_equal(uniform, {8},
                std::vector<float>{.842314124f, .00729382038f, .902449489f, .26698947f, .153654337f, .738060355f,
                                   .877686501f, .475046277f});
    check_normal(normal, std::vector{1.00401425f, -2.44245577f, 1.29563594f, -.621943593f, -1.02088547f, .637377143f,
                                     1.16349936f, -.0625904724f});
  };
  std::apply(check, plx::pmap(draw)(keys));
  std::apply(check, plx::vmap(draw)(keys));
}

TEST_CASE("uniform numbers of 16 bits") {
  constexpr auto both = [](auto key) {
    return std::tuple{plx::random::uniform<plx::float16>(key, {5}), plx::random::uniform<plx::bfloat16>(key, {5})};
  };
  auto check = [&](std::uint32_t seed, const std::vector<double>& halves, const std::vector<double>& brains) {
    auto [f16, bf16] = plx::jit(both)(key_of(seed));
    check_close<plx::float16>(f16, {5}, halves, 0);
    check_close<plx::bfloat16>(bf16, {5}, brains, 0);
  };
  check(0, {0.310546875, 0.212890625, 0.0546875, 0.65625, 0.232421875},
        {0.6484375, 0.5703125, 0.15625, 0.203125, 0.7109375});
  check(1, {0.220703125, 0.03125, 0.7080078125, 0.7490234375, 0.576171875},
        {0.7109375, 0.2421875, 0.4765625, 0.9375, 0.640625});
  const plx::array between = plx::random::uniform<plx::float16>(key_of(0), {5}, -2.f, 6.f);
  check_close<plx::float16>(between, {5}, {0.484375, -0.296875, -1.5625, 3.25, -0.140625}, 0);
}

// made of the uniform ones: sqrt(2) * erf_inv(2 u - 1), each step rounded
TEMPLATE_TEST_CASE("normal numbers of 16 bits", "", plx::float16, plx::bfloat16) {
  using T = TestType;
  const plx::array key = plx::random::key(7);
  const plx::array unit = plx::random::uniform<T>(key, {20000});
  const plx::array gauss = plx::random::normal<T>(key, {20000});
  double sum = 0, squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const T below_one = std::bit_cast<T>(static_cast<std::uint16_t>(T(-1).bits() - 1));
    const T u = std::max(unit(i) * T(2) + below_one, below_one);
    REQUIRE(u < 1);
    // erf is steep where its inverse is not, and the other way round
    const double x = static_cast<double>(gauss(i)), place = static_cast<double>(std::numeric_limits<T>::epsilon());
    const double low = std::erf((x - 2 * place * std::abs(x)) / std::sqrt(2.)),
                 high = std::erf((x + 2 * place * std::abs(x)) / std::sqrt(2.));
    REQUIRE(static_cast<double>(u) >= low);
    REQUIRE(static_cast<double>(u) <= high);
    sum += x, squares += x * x;
  }
  CHECK(std::abs(sum / 20000) < 0.03);
  CHECK(std::abs(squares / 20000 - 1) < 0.06);
}

} // namespace random_floats_test
