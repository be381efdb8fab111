// The device's cumulative operations and sorts compute what the host's do.
#include "cuda/kernels/simulated_kernels.hpp"

#include <tuple>
#include <utility>

namespace order_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;

TEST_CASE("cumulative operations of rows and columns, of lengths around a block's") {
  static constexpr auto all = plx::jit([](auto x) {
    return std::tuple{plx::cumsum(x * x, 0), plx::cumsum(x, 1, plx::in_reverse), plx::cummax(x, 1),
                      plx::cummin(x, 0, plx::in_reverse), plx::cumlogsumexp(x, 1)};
  });
  for (auto [m, n] : {std::pair{1, 1},
                      {0, 3},
                      {3, 0},
                      {2, 31},
                      {33, 2},
                      {1, 255},
                      {3, 256},
                      {2, 1023},
                      {1, 1024},
                      {2, 1025},
                      {2100, 2},
                      {40, 40}})
    compare(all, 3e-5, numbers<float, 2>({m, n}));
}

TEST_CASE("products and their gradients") {
  static constexpr auto slopes = plx::jit([](auto x) {
    return std::tuple{plx::grad([](auto y) { return plx::sum(plx::cumprod(y, 1)); })(x),
                      plx::grad([](auto y) { return plx::sum(plx::cumprod(y / 3, 0, plx::in_reverse)); })(x),
                      plx::grad([](auto y) { return plx::sum(plx::cummax(y, 0)); })(x)};
  });
  for (auto [m, n] : {std::pair{1, 1}, {2, 9}, {9, 2}, {50, 3}}) compare(slopes, 1e-9, numbers<double, 2>({m, n}));
}

TEST_CASE("cumulative operations along the middle of three axes, and of other types") {
  static constexpr auto middle =
      plx::jit([](auto x) { return std::tuple{plx::cumsum(x, 1), plx::cummax(plx::transpose(x), 1)}; });
  compare(middle, 0, numbers<std::int32_t, 3>({3, 40, 5}));
  compare(middle, 0, numbers<std::uint8_t, 3>({2, 3, 40}));
  compare(middle, 0, numbers<bool, 3>({2, 50, 3}));
  compare(middle, 1e-2, numbers<plx::float16, 3>({2, 50, 3}));
  compare(middle, 1e-12, numbers<double, 3>({1, 300, 2}));
}

TEST_CASE("sorts of rows, by themselves and with positions, of lengths around the runs'") {
  static constexpr auto all = plx::jit(
      [](auto x) { return std::tuple{plx::sort(x, 1), plx::argsort(x, 0), plx::argsort(x, 1), plx::sort(x, 0)}; });
  for (auto [m, n] :
       {std::pair{1, 1}, {0, 3}, {3, 0}, {3, 15}, {2, 16}, {16, 17}, {3, 32}, {1, 33}, {64, 3}, {2, 65}, {2, 500}})
    compare(all, 0, plx::array<float, 2>(plx::floor(numbers<float, 2>({m, n}))));
  compare(all, 0, numbers<std::int32_t, 2>({3, 100}));
  compare(all, 0, numbers<std::uint8_t, 2>({3, 50}));
  compare(all, 0, numbers<bool, 2>({3, 50}));
  compare(all, 0, numbers<plx::bfloat16, 2>({40, 3}));
}

TEST_CASE("the largest ones and places in a sorted row") {
  static constexpr auto largest = plx::jit([](auto x) { return plx::top_k(x, 3); });
  compare(largest, 0, plx::array<float, 2>(plx::floor(numbers<float, 2>({3, 70}))));
  static constexpr auto places = plx::jit([](auto row, auto x) { return plx::searchsorted(plx::sort(row), x); });
  compare(places, 0, numbers<float, 1>({90}), numbers<float, 2>({3, 20}, 2));
}

} // namespace order_kernels_test
