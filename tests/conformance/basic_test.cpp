// Conformance cases of JAX's pmap: what is mapped, where it lies, trees, devices and axes.
#include "expected.hpp"

#include <array>

namespace basic_test {

namespace {

using namespace conformance;

template <class A> struct named {
  A a;
};

} // namespace

TEST_CASE("row 1: pmap of a square on 7 of 8 devices") {
  auto y = plx::pmap([](auto x) { return x * x; })(counted<std::int32_t>(7));
  check_equal(y, {7}, std::vector<std::int32_t>{0, 1, 4, 9, 16, 25, 36});
  CHECK(y.devices() == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 7; ++i) {
    REQUIRE(y.shard_values(i).size() == 1);
    CHECK(y.shard_values(i)[0] == i * i);
  }
}

TEST_CASE("row 2: pmap of dot") {
  const auto a = counted(3, 2, 2);
  const plx::array squares = a * a;
  auto y = plx::pmap([](auto x, auto z) { return plx::dot(x, z); })(a, squares);
  check_equal(y, {3, 2, 2}, std::vector<float>{4, 9, 12, 29, 244, 345, 348, 493, 1412, 1737, 1740, 2141});
}

TEST_CASE("row 3: what a pmap returned feeds the next without moving") {
  constexpr auto twice = plx::pmap([](auto x) { return 2 * x; });
  for (std::int64_t n : {1, 2, 4, 8}) {
    auto y = twice(counted(n, 4));
    plx::reset_transfers();
    auto z = twice(y);
    CHECK(plx::transfers().host_to_device == 0);
    CHECK(plx::transfers().device_to_host == 0);
    CHECK(plx::transfers().device_to_device == 0);
    std::vector<float> four;
    for (std::int64_t i = 0; i < 4 * n; ++i) four.push_back(static_cast<float>(4 * i));
    check_equal(z, {n, 4}, four);
    check_equal(y[0], {4}, std::vector<float>{0, 2, 4, 6});
    const plx::array sum = y + y;
    check_equal(sum, {n, 4}, four);
  }
}

TEST_CASE("row 4: an argument that is not mapped") {
  auto [sum, twice] =
      plx::pmap([](auto x, auto y) { return std::tuple{x + y, 2 * y}; }, plx::in_axes<0, plx::none>)(counted(2), 4.f);
  check_equal(sum, {2}, std::vector<float>{4, 5});
  check_equal(twice, {2}, std::vector<float>{8, 8});
}

TEST_CASE("row 5: axes 1 and 2 mapped") {
  constexpr std::int64_t n = 4;
  auto z =
      plx::pmap([](auto x, auto y) { return plx::sin(x + y); }, plx::in_axes<1, 2>)(counted(2, n, 4), counted(2, 4, n));
  std::vector<double> expected;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t k = 0; k < 4; ++k)
        expected.push_back(
            std::sin(static_cast<double>((j * n + i) * 4 + k) + static_cast<double>((j * 4 + k) * n + i)));
  check_close(z, {n, 2, 4}, expected, 1e-6, 1e-6);
}

TEST_CASE("row 7: out_axes of a named member") {
  auto y = plx::pmap([](auto x) { return named{x}; }, plx::out_axes<plx::tree<0>>)(counted<std::int32_t>(4));
  check_equal(y.a, {4}, std::vector<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("row 8: a constant result") {
  auto y = plx::pmap([](auto) { return 3; })(counted(4));
  check_equal(y, {4}, std::vector<std::int32_t>{3, 3, 3, 3});
  CHECK(y.devices() == std::vector<int>{0, 1, 2, 3});
  auto [x, constant] = plx::pmap([](auto v) { return std::tuple{v, 3}; })(counted(4));
  check_equal(x, {4}, std::vector<float>{0, 1, 2, 3});
  check_equal(constant, {4}, std::vector<std::int32_t>{3, 3, 3, 3});
}

TEST_CASE("row 14: named devices") {
  constexpr auto gram = [](auto x) { return plx::matmul(x, plx::transpose(x)); };
  constexpr std::int64_t n = 500;
  auto x = plx::array<float, 3>::uninitialised({1, n, n});
  std::vector<double> expected;
  {
    float* out = x.mutable_data();
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < n * n; ++i) {
      state = state * 1664525U + 1013904223U;
      out[i] = static_cast<float>(state >> 8) / 16777216.f;
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += static_cast<double>(out[i * n + k]) * static_cast<double>(out[j * n + k]);
        expected.push_back(sum);
      }
  }
  auto check = [&](const auto& y, int device) {
    CHECK(y.devices() == std::vector<int>{device});
    bool close = true;
    const auto values = y.shard_values(0);
    for (std::size_t i = 0; i < expected.size(); ++i)
      close = close && std::abs(static_cast<double>(values[i]) - expected[i]) <= 1e-3 * std::abs(expected[i]) + 1e-6;
    CHECK(close);
  };
  check(plx::pmap(gram, plx::devices<0>)(x), 0);
  check(plx::pmap(gram, plx::devices<1>)(x), 1);
}

TEST_CASE("a product is added to its own operand, round after round") {
  constexpr int n = 8, rounds = 4;
  auto y = plx::pmap(
      [](auto x, auto w) {
        for (int k = 0; k < rounds; ++k) x = plx::dot(x, w) * 0.25f + x;
        return x;
      },
      plx::in_axes<0, plx::none>)(counted(2, n, n), counted(n, n) * (1.f / 64));
  std::vector<double> expected(2 * n * n);
  for (int i = 0; i < 2 * n * n; ++i) expected[static_cast<std::size_t>(i)] = i;
  for (int k = 0; k < rounds; ++k) {
    const std::vector<double> before = expected;
    for (int row = 0; row < 2 * n; ++row)
      for (int column = 0; column < n; ++column)
        for (int d = 0; d < n; ++d)
          expected[static_cast<std::size_t>(row * n + column)] +=
              0.25 * before[static_cast<std::size_t>(row * n + d)] * (d * n + column) / 64;
  }
  check_close<float>(y, {2, n, n}, expected, 1e-5);
}

TEST_CASE("devices in another order hold the pieces in that order") {
  auto y = plx::pmap<"i">([](auto x) { return std::tuple{x + 1, plx::axis_index<"i">()}; },
                          plx::devices<5, 2, 7>)(counted<std::int32_t>(3));
  check_equal(std::get<0>(y), {3}, std::vector<std::int32_t>{1, 2, 3});
  check_equal(std::get<1>(y), {3}, std::vector<std::int32_t>{0, 1, 2});
  CHECK(std::get<0>(y).devices() == std::vector<int>{5, 2, 7});
  for (int i = 0; i < 3; ++i) CHECK(std::get<0>(y).shard_values(i)[0] == i + 1);
}

TEST_CASE("out_axes put the mapped axis anywhere") {
  auto y = plx::pmap([](auto x) { return x + 0.f; }, plx::in_axes<1>, plx::out_axes<2>)(counted(2, 4, 3));
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 4; ++j) expected.push_back(static_cast<float>((i * 4 + j) * 3 + k));
  check_equal(y, {2, 3, 4}, expected);
}

} // namespace basic_test
