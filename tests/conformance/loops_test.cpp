// scan and map, and what they carry: trees, numbers of rounds, and types of numbers.
#include "expected.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace loops_test {

using namespace conformance;
using vector = std::vector<double>;

TEST_CASE("scan: trees, carries that change places, and a carry that stays") {
  // Fibonacci numbers modulo 1000 beside a constant and a sum of the slices
  static constexpr auto pairs = [](auto a, auto b, auto stays, auto slices) {
    return plx::scan(
        [](auto carry, auto slice) {
          auto [x, y, same] = carry;
          auto [left, right] = slice;
          return std::pair{std::tuple{y, x + y, same}, std::tuple{x * left, right + same}};
        },
        std::tuple{a, b, stays}, slices);
  };
  for (int count : {0, 1, 2, 7}) {
    INFO(count << " rounds");
    const auto left = counted<float>(count);
    const auto right = counted<float>(count, 2);
    auto [carry, stacked] = plx::jit(pairs)(plx::array<float, 0>(0.f), plx::array<float, 0>(1.f), counted<float>(2),
                                            std::tuple{left, right});
    double x = 0, y = 1;
    vector products, sums;
    for (int i = 0; i < count; ++i) {
      products.push_back(x * i);
      sums.push_back(2 * i), sums.push_back(2 * i + 2);
      x = std::exchange(y, x + y);
    }
    check_close(std::get<0>(carry), {}, {x});
    check_close(std::get<1>(carry), {}, {y});
    check_close(std::get<2>(carry), {2}, {0, 1});
    check_close(std::get<0>(stacked), {count}, products);
    check_close(std::get<1>(stacked), {count, 2}, sums);
  }
}

TEST_CASE("scan: so many rounds without slices, of a known count or an extent") {
  static constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };
  static constexpr auto ten = [](auto x) { return plx::scan(halve, x, plx::none, plx::length<10>).first; };
  check_close(plx::jit(ten)(counted<float>(3)), {3}, {0, 1. / 1024, 2. / 1024});
  static constexpr auto any = [](auto x, auto times) { return plx::scan(halve, x, plx::none, times).first; };
  for (int count : {0, 1, 3})
    check_close(plx::jit(any)(counted<float>(3), plx::count(count)), {3},
                {0, std::pow(0.5, count), 2 * std::pow(0.5, count)});
}

TEST_CASE("scan and fori_loop: a negative number of rounds is no extent") {
  static constexpr auto halve = [](auto x, auto) { return std::pair{x * 0.5f, plx::none}; };
  static constexpr auto any = [](auto x, auto times) { return plx::scan(halve, x, plx::none, times).first; };
  static constexpr auto loop = [](auto x, auto times) {
    return plx::fori_loop(0, times, [](auto, auto v) { return v * 0.5f; }, x);
  };
  CHECK_THROWS_AS(plx::jit(any)(counted<float>(3), plx::count(-2)), plx::shape_error);
  CHECK_THROWS_AS(plx::jit(loop)(counted<float>(3), plx::count(-2)), plx::shape_error);
  CHECK_THROWS_AS(plx::scan(halve, counted<float>(3), plx::none, -2), plx::shape_error);
}

TEST_CASE("scan: numbers that it begins with take the type of what a round makes of them") {
  static constexpr auto total = [](auto x) {
    return plx::scan([](auto sum, auto slice) { return std::pair{sum + slice, plx::none}; }, 0, x).first;
  };
  check_close<float>(plx::jit(total)(counted<float>(5)), {}, {10});
  check_close<double>(plx::jit(total)(counted<double>(5)), {}, {10});
  check_equal<std::int32_t>(plx::jit(total)(counted<std::int32_t>(5)), {}, {10});
}

TEST_CASE("scan: outside of any function") {
  auto [last, sums] =
      plx::scan([](auto sum, auto x) { return std::pair{sum + x, sum + x}; }, counted<float>(2), counted<float>(3, 2));
  check_close(last, {2}, {6, 10});
  check_close(sums, {3, 2}, {0, 2, 2, 5, 6, 10});
}

TEST_CASE("map: slice by slice") {
  static constexpr auto norms = [](auto x) { return plx::map([](auto row) { return plx::sum(row * row); }, x); };
  check_close(plx::jit(norms)(counted<float>(3, 2)), {3}, {1, 13, 41});
  auto outside = plx::map([](auto row) { return row + 1.f; }, counted<float>(2, 2));
  check_close(outside, {2, 2}, {1, 2, 3, 4});
}

} // namespace loops_test
