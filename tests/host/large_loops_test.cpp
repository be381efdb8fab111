// Loops that go another way where arrays are large or lie across: beside plain loops over every element.
#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "support/test.hpp"

namespace large_loops_test {

namespace {

namespace plx = parallax;

template <class T, class... Extent> auto counted(Extent... extents) {
  auto x = plx::array<T, static_cast<int>(sizeof...(Extent))>::uninitialised({static_cast<std::int64_t>(extents)...});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<T>((i * 7919) % 10007);
  return x;
}

template <class T> void check_transposed(std::int64_t rows, std::int64_t columns) {
  const auto a = counted<T>(columns, rows), b = counted<T>(rows, columns);
  const plx::array<T, 2> one = plx::jit([](auto x, auto y) { return plx::transpose(x) * T{3} + y; })(a, b);
  const plx::array<T, 2> two =
      plx::jit([](auto x, auto y) { return plx::transpose(x) - plx::transpose(y * T{2}); })(a, a);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      wrong += one(i, j) != a(j, i) * T{3} + b(i, j);
      wrong += two(i, j) != a(j, i) - a(j, i) * T{2};
    }
  INFO(rows << " x " << columns);
  CHECK(wrong == 0);
}

} // namespace

TEMPLATE_TEST_CASE("operands that are read across their rows", "", float, double, std::int32_t, std::int64_t) {
  for (auto [rows, columns] : {std::pair{7, 9}, {8, 8}, {16, 16}, {33, 129}, {100, 257}, {1, 300}, {300, 1}, {515, 70}})
    check_transposed<TestType>(rows, columns);
  // in a batch, and between other dimensions
  const auto x = counted<TestType>(3, 41, 50), y = counted<TestType>(50, 3, 41);
  const plx::array<TestType, 3> z =
      plx::jit([](auto a, auto b) { return plx::transpose(a, {0, 2, 1}) + plx::transpose(b, {1, 0, 2}); })(x, y);
  std::int64_t wrong = 0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 50; ++i)
      for (int j = 0; j < 41; ++j) wrong += z(k, i, j) != x(k, j, i) + y(i, k, j);
  CHECK(wrong == 0);
}

TEST_CASE("narrow types, looked up elements and results that lie across") {
  const auto a = counted<float>(40, 60);
  const plx::array<plx::bfloat16, 2> narrow =
      plx::jit([](auto x) { return plx::transpose(plx::astype<plx::bfloat16>(x)) + plx::bfloat16(1); })(a);
  const plx::array<bool, 2> flags = plx::jit([](auto x) { return plx::transpose(x > 5000.f); })(a);
  const plx::array<std::int32_t, 1> places{3, 0, 39, 7, 7, 12, 1, 30, 22};
  const plx::array<float, 2> chosen =
      plx::jit([](auto x, auto i) { return plx::transpose(plx::take(x, i, 0)) * 2.f; })(a, places);
  const plx::array<float, 2> changed = plx::jit([](auto x, auto i) {
    return plx::zeros_like(plx::transpose(x)).at(plx::none, i).add(plx::transpose(plx::take(x, i, 0)));
  })(a, places);
  std::int64_t wrong = 0;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 40; ++j) {
      wrong += flags(i, j) != (a(j, i) > 5000.f);
      wrong += static_cast<float>(narrow(i, j)) !=
               static_cast<float>(plx::bfloat16(static_cast<float>(plx::bfloat16(a(j, i))) + 1));
      const float times = j == 7 ? 2.f : 0.f;
      bool is_named = false;
      for (int k = 0; k < 9; ++k) is_named = is_named || places(k) == j;
      wrong += changed(i, j) != a(j, i) * (times != 0 ? times : is_named ? 1.f : 0.f);
    }
    for (int k = 0; k < 9; ++k) wrong += chosen(i, k) != a(places(k), i) * 2.f;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("results larger than the caches", "", float, double, std::int32_t) {
  const auto a = counted<TestType>((1 << 20) + 37), b = counted<TestType>((1 << 20) + 37);
  const plx::array<TestType, 1> sum = plx::jit([](auto x, auto y) { return x * TestType{2} + y; })(a, b);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < sum.size(); ++i) wrong += sum.data()[i] != a.data()[i] * 2 + b.data()[i];
  // rows that begin anywhere
  const auto rows = counted<TestType>(1031, 1033);
  const auto row = counted<TestType>(1033);
  const plx::array<TestType, 2> all = plx::jit([](auto x, auto y) { return x - y; })(rows, row);
  for (std::int64_t i = 0; i < all.size(); ++i) wrong += all.data()[i] != rows.data()[i] - row.data()[i % 1033];
  CHECK(wrong == 0);
}

TEST_CASE("rows and several results larger than the caches") {
  for (std::int64_t length : {1024, 1033}) {
    const auto x = counted<float>(1100, length);
    const auto [soft, twice] = plx::jit([](auto a) { return std::tuple{plx::softmax(a * 0.001f, 1), a * 2.f}; })(x);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 1100; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j) sum += std::exp(static_cast<double>(x(i, j)) * 0.001);
      for (std::int64_t j = 0; j < length; ++j) {
        const double expected = std::exp(static_cast<double>(x(i, j)) * 0.001) / sum;
        wrong += std::abs(static_cast<double>(soft(i, j)) - expected) > 1e-5 * expected;
        wrong += twice(i, j) != x(i, j) * 2.f;
      }
    }
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("positions of extremes in rows of every length", "", float, double, std::int32_t, std::uint8_t,
                   plx::float16) {
  for (std::int64_t length = 1; length < 900; length += length < 20 ? 1 : length < 80 ? 7 : length / 3)
    for (int kind = 0; kind < 3; ++kind) {
      auto x = plx::array<TestType, 2>::uninitialised({9, length});
      for (std::int64_t i = 0; i < x.size(); ++i) // few values, so that many are equal
        x.mutable_data()[i] = static_cast<TestType>(static_cast<int>((i * 31 + kind * 7) % 5));
      if constexpr (plx::math::floating_element<TestType>) {
        const auto nan = static_cast<TestType>(std::numeric_limits<float>::quiet_NaN());
        if (kind > 0) x.mutable_data()[(3 * length + length / 2)] = nan;
        if (kind > 1) x.mutable_data()[(3 * length + length - 1)] = x.mutable_data()[4 * length] = nan;
      }
      const plx::array<std::int32_t, 1> most = plx::argmax(x, plx::axis<1>), least = plx::argmin(x, plx::axis<1>);
      const plx::array<std::int32_t, 1> down = plx::argmax(plx::array<TestType, 2>(plx::transpose(x)), plx::axis<0>);
      for (int r = 0; r < 9; ++r) {
        std::int64_t largest = 0, smallest = 0;
        for (std::int64_t j = 1; j < length; ++j) {
          const auto value = static_cast<double>(x(r, j));
          auto better = [&](std::int64_t than, bool is_larger) {
            const auto other = static_cast<double>(x(r, than));
            if (std::isnan(other)) return false;
            return std::isnan(value) || (is_larger ? value > other : value < other);
          };
          if (better(largest, true)) largest = j;
          if (better(smallest, false)) smallest = j;
        }
        INFO("row " << r << " of " << length << ", kind " << kind);
        CHECK(most(r) == largest);
        CHECK(least(r) == smallest);
        CHECK(down(r) == largest);
      }
    }
}

} // namespace large_loops_test
