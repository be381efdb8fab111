// Tables of numbers that are written inside traced functions: arrays like any other, which programs have once.
#include "expected.hpp"

#include <tuple>
#include <utility>

namespace tables_test {

namespace {

using namespace conformance;

using vector = plx::array<float, 1>;
using matrix = plx::array<float, 2>;

constexpr auto weighed = [](auto x) { return x * vector{1, 2, 3}; };
constexpr auto in_a_loop = [](auto x) {
  // the table is read in the body, another one is what the loop begins with, and a matrix is what it ends in
  const auto s = plx::fori_loop(0, 3, [&](auto, auto c) { return c + x * vector{1, 0, 2}; }, vector{1, 1, 1});
  return plx::dot(matrix{{1, 2, 3}, {4, 5, 6}}, s);
};

} // namespace

TEST_CASE("tables are operands") {
  check_close<float>(plx::jit(weighed)(vector{4, 5, 6}), {3}, {4, 10, 18});
  check_close<float>(plx::vmap(weighed)(matrix{{1, 1, 1}, {2, 2, 2}}), {2, 3}, {1, 2, 3, 2, 4, 6});
  check_close<float>(plx::pmap(weighed)(matrix{{1, 1, 1}, {2, 2, 2}}), {2, 3}, {1, 2, 3, 2, 4, 6});
  check_close<float>(plx::jit(in_a_loop)(vector{1, 2, 3}), {2}, {4 + 2 + 57, 16 + 5 + 114});
}

TEST_CASE("rules of derivatives have tables, and close over what is not differentiated") {
  static constexpr auto weighed_back =
      plx::custom_vjp([](auto x) { return plx::sum(x * vector{1, 2, 3}); },
                      [](auto x) { return std::pair{plx::sum(x * vector{1, 2, 3}), x}; },
                      [](auto x, auto g) { return std::tuple{g * x * vector{10, 20, 30}}; });
  check_close<float>(plx::grad(weighed_back)(vector{1, 2, 3}), {3}, {10, 40, 90});
  check_close<float>(plx::vmap(plx::grad(weighed_back))(matrix{{1, 2, 3}, {1, 1, 1}}), {2, 3},
                     {10, 40, 90, 10, 20, 30});
  check_close<float>(plx::pmap(plx::grad(weighed_back))(matrix{{1, 2, 3}, {1, 1, 1}}), {2, 3},
                     {10, 40, 90, 10, 20, 30});
  constexpr auto twice = [](auto x) {
    return plx::fori_loop(0, 2, [](auto, auto c) { return c + weighed_back(c * vector{1, 0, 1}) * 0.5f; }, x)[0];
  };
  // along c = x + s/2 with s = x0 + 3 x2 forward, and slopes (10 x0, 0, 30 x2) where the rule says so
  const auto by_hand = [](float a, float c) {
    const float s = a + 3 * c, a1 = a + s / 2, c1 = c + s / 2;
    const float g_a1 = 1 + 5 * a1, g_c1 = 15 * c1, shared = (g_a1 + g_c1) / 2;
    return vector{g_a1 + shared * 10 * a, 0, g_c1 + shared * 30 * c};
  };
  CHECK(plx::grad(twice)(vector{1, 5, 2}).to_vector() == by_hand(1, 2).to_vector());
  static constexpr auto scaled = [](auto x, auto w) {
    const auto f = plx::custom_vjp([](auto v) { return v * v; }, [](auto v) { return std::pair{v * v, v}; },
                                   [w](auto v, auto g) { return std::tuple{g * v * w}; });
    return f(x);
  };
  check_close<float>(plx::grad(scaled)(plx::array<float, 0>(3.f), 7.f), {}, {21});
  check_close<float>(plx::vmap(plx::grad(scaled))(vector{1, 2, 3}, vector{5, 6, 7}), {3}, {5, 12, 21});
}

TEST_CASE("gradients of functions with tables") {
  constexpr auto loss = [](auto x) { return plx::sum(weighed(x) * x); };
  check_close<float>(plx::grad(loss)(vector{4, 5, 6}), {3}, {8, 20, 36});
  constexpr auto through = [](auto x) { return plx::sum(in_a_loop(x)); };
  check_close<float>(plx::grad(through)(vector{1, 2, 3}), {3}, {15, 0, 54});
}

TEST_CASE("tables of every kind of element, of extents that are known, and long ones") {
  const auto [w, d, s, h, l] = plx::jit([](auto x) {
    const plx::array<plx::float16, 1> halves{0.5, 0.25};
    const plx::array<std::uint8_t, 1> bytes{1, 255};
    const plx::array<bool, 1> flags{true, false};
    const plx::array<double, plx::extents<2>> doubles{1. / 3, 2};
    plx::array<float, 1> places({100}, 2);
    return std::tuple(plx::where(flags, x, 0.f), doubles * x, plx::astype<float>(bytes) * x,
                      plx::astype<float>(halves) * x, plx::sum(places) + x);
  })(vector{2, 4});
  check_close<float>(w, {2}, {2, 0});
  check_close<double>(d, {2}, {2. / 3, 8});
  check_close<float>(s, {2}, {2, 1020});
  check_close<float>(h, {2}, {1, 1});
  check_close<float>(l, {2}, {202, 204});
}

TEST_CASE("calls of tables and constants alone are part of the function that makes them") {
  const auto [total, steps, doubled, inverse] = plx::jit([](auto x) {
    auto [c, ys] = plx::scan([](auto a, auto v) { return std::pair{a + v, a * v}; }, 0.f, vector{1, 2, 3});
    const vector twice = 2.f * vector{1, 2, 3};
    const auto hilbert =
        plx::vmap([](auto i) { return 1.f / plx::astype<float>(plx::arange(3) + i + 1); })(plx::arange(3));
    return std::tuple(c + 0 * x, ys + 0 * x, twice * x, plx::dot(hilbert, x));
  })(vector{6, 12, 60});
  check_close<float>(total, {3}, {6, 6, 6});
  check_close<float>(steps, {3}, {0, 2, 9});
  check_close<float>(doubled, {3}, {12, 48, 360});
  check_close<float>(inverse, {3}, {6 + 6 + 20, 3 + 4 + 15, 2 + 3 + 12});
}

TEST_CASE("a variable that begins as a table can be reassigned") {
  const auto [s, t, u] = plx::jit([](auto x) {
    vector sum{0, 0, 0};
    for (int i = 0; i < 3; ++i) sum = sum + x * vector{1, 2, 3};
    vector constant = plx::zeros({3});
    constant = constant + plx::arange(3);
    constant = constant * 2.f;
    auto traced = x;
    traced = vector{7, 8, 9};
    return std::tuple(sum, constant + x, traced);
  })(vector{1, 1, 1});
  check_close<float>(s, {3}, {3, 6, 9});
  check_close<float>(t, {3}, {1, 3, 5});
  check_close<float>(u, {3}, {7, 8, 9});
}

} // namespace tables_test
