// Loops whose bounds are data, and keys one by one: what people who come from JAX write first.
#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>

#include "support/test.hpp"

namespace data_bounds_test {

namespace {

namespace plx = parallax;

constexpr auto numbered = [](auto lower, auto upper, auto x) {
  return plx::fori_loop(lower, upper, [](auto i, auto c) { return c * 2.f + i; }, x);
};
constexpr auto scaled = [](auto n, auto x) {
  return plx::fori_loop(0, n, [x](auto i, auto c) { return c * x + i; }, x);
};
constexpr auto to_the_end = [](auto lower, auto x) {
  return plx::fori_loop(lower, x.shape(0), [](auto i, auto c) { return c + i; }, plx::zeros({2}));
};
constexpr auto wide = [](auto n) {
  return plx::fori_loop<std::int64_t>(n - 2, n, [](auto i, auto c) { return c + i; }, std::int64_t{0});
};
constexpr auto nested = [](auto n) {
  return plx::fori_loop(
      0, n, [](auto i, auto c) { return plx::fori_loop(0, i, [](auto j, auto d) { return d + j; }, c); }, 0);
};

float expected(int lower, int upper, float x) {
  for (int i = lower; i < upper; ++i) x = x * 2 + static_cast<float>(i);
  return x;
}

TEST_CASE("fori_loop has bounds that are data") {
  const plx::array x{1.f, 2.f, 3.f};
  for (const auto& [lower, upper] : {std::pair{0, 4}, {-3, 1}, {2, 2}, {3, -1}}) {
    const plx::array y = plx::jit(numbered)(lower, upper, x);
    for (int i = 0; i < 3; ++i) CHECK(y(i) == expected(lower, upper, x(i)));
  }
  const plx::array<std::uint8_t, 0> few{2};
  CHECK(plx::array(plx::jit(numbered)(few, 4, x))(1) == expected(2, 4, 2));
  CHECK(array_equal(plx::array(plx::jit(to_the_end)(1, x)), plx::array<float, 1>{3, 3}));
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(plx::array(plx::jit(wide)(large)).item() == 2 * large - 3);
  CHECK(plx::array(plx::jit(nested)(5)).item() == 0 + 0 + 1 + 3 + 6);
}

constexpr auto with_numbers = [](auto n, auto x) {
  return plx::fori_loop(
             std::size_t{0}, n, [](auto i, auto c) { return c + i; }, x) +
         plx::fori_loop(0, plx::arange(3)[2], [](auto i, auto c) { return c + i; }, x);
};
template <class Number>
constexpr auto between = [](auto n, auto first, auto x) {
  return plx::fori_loop<Number>(first, n, [](auto i, auto c) { return c + i; }, x);
};

TEST_CASE("beside a bound that is data, the other may be any number, extent or constant") {
  CHECK(plx::array(plx::jit(with_numbers)(3, 0.f)).item() == 3 + 1);
  const std::int64_t many = 5'000'000'000;
  const plx::array<std::int64_t, 0> first{many - 2};
  CHECK(plx::array(plx::jit(between<std::int64_t>)(plx::count(many), first, std::int64_t{0})).item() == 2 * many - 3);
  CHECK(plx::array(plx::jit(between<std::int32_t>)(plx::count(4), 1, 0)).item() == 1 + 2 + 3);
  CHECK_THROWS_WITH(plx::jit(between<std::int32_t>)(plx::count(many), 1, 0),
                    "fori_loop: 5000000000 (axis 0 of argument 0) is no int32 number; fori_loop<std::int64_t> has "
                    "numbers of 64 bits");
  const plx::array<int, 0> three = 3;
  constexpr auto add = [](auto i, auto c) { return c + i; };
  CHECK(plx::array(plx::fori_loop(std::int64_t{1}, three, add, 0.f)).item() == 3);
  CHECK_THROWS_WITH(plx::fori_loop(std::int64_t{1} << 40, three, add, 0.f),
                    "fori_loop: the bound 1099511627776 is no int32 number; fori_loop<std::int64_t> has numbers of 64 "
                    "bits");
}

constexpr auto numbers_below = [](auto n, auto x) {
  return plx::fori_loop(0, n, [](auto i, auto c) { return c + i; }, x);
};
constexpr auto over_devices =
    plx::shard_map([](auto n, auto x) { return numbers_below(n[0], x); }, plx::mesh<plx::device_axis("i", 4)>,
                   plx::in_specs<plx::spec<"i">, plx::spec<"i">>, plx::out_specs<plx::spec<"i">>);

TEST_CASE("each device of a pmap and of a mesh has its own number of rounds") {
  const plx::array<int, 1> uppers{4, 0, 2, 3};
  const plx::array<float, 1> x{0, 10, 20, 30};
  const plx::array<float, 1> expected{6, 10, 21, 33};
  CHECK(array_equal(plx::pmap<"i">(numbers_below)(uppers, x).gather(), expected));
  CHECK(array_equal(plx::array(over_devices(uppers, x)), expected));
}

TEST_CASE("fori_loop outside of functions takes a bound in an array") {
  const plx::array x{1.f, 2.f, 3.f};
  const plx::array<int, 0> upper = 4;
  const plx::array y = plx::fori_loop(1, upper, [](auto i, auto c) { return c * 2.f + i; }, x);
  for (int i = 0; i < 3; ++i) CHECK(y(i) == expected(1, 4, x(i)));
}

TEST_CASE("under vmap each element has its own number of rounds") {
  const plx::array<int, 1> uppers{0, 5, 2};
  const plx::array x{1.f, 2.f, 3.f};
  const plx::array y = plx::jit(plx::vmap(numbered, plx::in_axes<plx::none, 0, 0>))(0, uppers, x);
  for (int i = 0; i < 3; ++i) CHECK(y(i) == expected(0, uppers(i), x(i)));
}

TEST_CASE("a loop whose bound is data has forward mode") {
  const plx::array<double, 1> x{0.5, 1.25};
  const auto [y, slope] = plx::jvp(scaled, std::tuple{3, x}, std::tuple{plx::none, plx::ones_like(x)});
  for (int i = 0; i < 2; ++i) {
    CHECK(y(i) == std::pow(x(i), 4) + x(i) + 2);
    CHECK(std::abs(slope(i) - (4 * std::pow(x(i), 3) + 1)) < 1e-12);
  }
}

constexpr auto from_pair = [](auto key) {
  auto [a, b] = plx::random::split<2>(key);
  return std::tuple{plx::random::normal(a, {3}), plx::random::normal(b, {3})};
};
constexpr auto from_slices = [](auto key) {
  auto keys = plx::random::split(key);
  return std::tuple{plx::random::normal(keys[0], {3}), plx::random::normal(keys[1], {3})};
};

TEST_CASE("split<2> gives the keys of split, in functions and outside of them") {
  const auto [a, b] = plx::jit(from_pair)(plx::random::key(7));
  const auto [c, d] = plx::jit(from_slices)(plx::random::key(7));
  CHECK(array_equal(a, c));
  CHECK(array_equal(b, d));
  const auto [first, second] = plx::random::split<2>(plx::random::key(7));
  CHECK(array_equal(plx::array(plx::random::normal(first, {3})), a));
  const plx::array key = plx::random::key(7);
  const auto [third, fourth] = plx::philox::split<2>(key);
  CHECK(array_equal(plx::array(fourth), plx::array(plx::philox::split(key)[1])));
  const auto keys = plx::random::split(plx::random::key(7), 2);
  CHECK(array_equal(plx::array(plx::random::normal(keys[1], {3})), b));
}

TEST_CASE("a constant has elements at numbers outside of functions, from either end") {
  CHECK(plx::array(plx::arange(5)[3]).item() == 3);
  CHECK(plx::array(plx::arange(5)[-1]).item() == 4);
  CHECK(array_equal(plx::array(plx::reshape(plx::arange(6), {2, 3})[1]), plx::array<int, 1>{3, 4, 5}));
}

} // namespace

} // namespace data_bounds_test
