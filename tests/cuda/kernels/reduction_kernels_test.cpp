// The device's reductions compute what the host's do.
#include "cuda/kernels/simulated_kernels.hpp"

#include <limits>
#include <tuple>

namespace reduction_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Small whole numbers, so that there are ties.
template <std::size_t Rank> auto ties(const std::array<std::int64_t, Rank>& shape) {
  auto whole = numbers<std::int32_t, Rank>(shape);
  return plx::array<float, static_cast<int>(Rank)>(plx::jit([](auto x) { return plx::astype<float>(x); })(whole));
}
template <class Array> Array with_nan(Array x, std::initializer_list<std::size_t> places) {
  std::vector<float> values(x.values().begin(), x.values().end());
  for (std::size_t i : places)
    if (i < values.size()) values[i] = nan;
  return Array(x.shape(), values);
}

} // namespace

TEST_CASE("sums and extremes of one dimension, of all lengths") {
  static constexpr auto all = plx::jit([](auto x) { return std::tuple{plx::sum(x * x, 0), plx::max(x, 0)}; });
  for (std::int64_t n = 1; n <= 70; ++n) compare(all, 1e-5, numbers<float, 1>({n}));
  for (std::int64_t n : {1000, 4096, 50001}) compare(all, 1e-5, numbers<float, 1>({n}));
  static constexpr auto cut = plx::jit([](auto x) { return plx::sum(plx::slice_in_dim(x, 1, plx::none), 0); });
  for (std::int64_t n : {2, 33, 1000}) compare(cut, 1e-5, numbers<float, 1>({n}));
}

TEST_CASE("sums of rows, columns and both") {
  static constexpr auto sums = plx::jit([](auto x, auto y) {
    auto product = x * y + 1.f;
    return std::tuple{plx::sum(product, 0), plx::sum(product, 1), plx::sum(product, {0, 1})};
  });
  for (auto [m, n] : {std::pair{1, 1}, {2, 3}, {1, 40}, {40, 1}, {7, 64}, {33, 8}, {40, 1030}, {700, 3}, {300, 36}})
    compare(sums, 2e-5, numbers<float, 2>({m, n}), numbers<float, 2>({m, n}, 2));
}

TEST_CASE("sums over nothing are zero") {
  static constexpr auto rows = plx::jit([](auto x) { return plx::sum(x, 1); });
  static constexpr auto columns = plx::jit([](auto x) { return plx::sum(x, 0); });
  compare(rows, 0, numbers<float, 2>({5, 0}));
  compare(columns, 0, numbers<float, 2>({0, 5}));
  simulated::api::launches = 0;
  simulated::call(rows, numbers<float, 2>({0, 5}));
  simulated::call(columns, numbers<float, 2>({5, 0}));
  CHECK(simulated::api::launches == 0);
}

TEST_CASE("middle, outer and several dimensions") {
  static constexpr auto middle = plx::jit([](auto x) { return std::pair{plx::sum(x, 1), plx::min(x, {0, 2})}; });
  static constexpr auto outer = plx::jit([](auto x) { return std::pair{plx::max(x, {0, 1}), plx::sum(x, {1, 2})}; });
  for (std::array<std::int64_t, 3> shape :
       {std::array<std::int64_t, 3>{2, 3, 4}, {3, 17, 5}, {1, 9, 32}, {6, 1, 7}, {20, 30, 2}}) {
    compare(middle, 1e-5, numbers<double, 3>(shape));
    compare(outer, 1e-5, numbers<float, 3>(shape));
  }
}

TEST_CASE("several pieces of a thread at a time, from rows that lie apart") {
  static constexpr auto apart =
      plx::jit([](auto x) { return std::tuple{plx::sum(x, {0, 2}), plx::sum(x * x, {0, 1}), plx::max(x, {0, 2})}; });
  for (std::array<std::int64_t, 3> shape : {std::array<std::int64_t, 3>{37, 3, 260}, {70, 2, 131}, {6, 5, 1030}}) {
    compare(apart, 0, numbers<std::int32_t, 3>(shape));
    compare(apart, 0, numbers<std::uint8_t, 3>(shape));
  }
  static constexpr auto outer = plx::jit([](auto x) { return plx::sum(x, {1, 3}); });
  compare(outer, 1e-12, numbers<double, 4>({3, 70, 2, 36}));
}

TEST_CASE("transposed and repeated producers") {
  static constexpr auto transposed =
      plx::jit([](auto x, auto y) { return plx::sum(plx::transpose(x, {1, 0}) * y, 1); });
  static constexpr auto repeated =
      plx::jit([](auto x, auto y) { return plx::sum(plx::expand_dims(x, 1) * plx::expand_dims(y, 0), {0, 1}); });
  for (auto [m, n] : {std::pair{3, 5}, {40, 33}, {1, 64}}) {
    compare(transposed, 1e-5, numbers<float, 2>({m, n}), numbers<float, 1>({m}, 2));
    compare(repeated, 1e-4, numbers<float, 1>({m}), numbers<float, 1>({n}, 2));
  }
}

TEST_CASE("NaN wins over all numbers") {
  static constexpr auto extremes =
      plx::jit([](auto x) { return std::tuple{plx::max(x, 0), plx::min(x, 1), plx::max(x, {0, 1}), plx::sum(x, 1)}; });
  for (auto [m, n] : {std::pair{4, 6}, {37, 9}, {3, 300}})
    for (std::size_t at : {std::size_t{0}, std::size_t{5}, std::size_t{17}})
      compare(extremes, 1e-5, with_nan(numbers<float, 2>({m, n}), {at, 3 * at + 1}));
  compare(extremes, 1e-5, numbers<float, 2>({37, 9}));
}

TEST_CASE("positions of extremes: the first of equals, the first NaN") {
  static constexpr auto positions = plx::jit(
      [](auto x) { return std::tuple{plx::argmax(x, 0), plx::argmin(x, 1), plx::argmax(x, 1), plx::argmin(x, 0)}; });
  for (auto [m, n] : {std::pair{1, 1}, {4, 6}, {37, 9}, {3, 300}, {500, 4}}) {
    compare(positions, 0, ties<2>({m, n}));
    compare(positions, 0, with_nan(ties<2>({m, n}), {2, 11, 12, 40}));
    compare(positions, 0, numbers<std::uint8_t, 2>({m, n}));
    compare(positions, 0, numbers<bool, 2>({m, n}));
  }
  static constexpr auto middle = plx::jit([](auto x) { return std::pair{plx::argmax(x, 1), plx::argmax(x, 2)}; });
  compare(middle, 0, ties<3>({3, 20, 5}));
  compare(middle, 0, ties<3>({2, 1, 9}));
}

TEST_CASE("integers and truth values") {
  static constexpr auto integers =
      plx::jit([](auto x) { return std::tuple{plx::sum(x, 0), plx::max(x, 1), plx::min(x, {0, 1})}; });
  for (auto [m, n] : {std::pair{3, 5}, {64, 33}}) {
    compare(integers, 0, numbers<std::int32_t, 2>({m, n}));
    compare(integers, 0, numbers<std::uint64_t, 2>({m, n}));
    compare(integers, 0, numbers<std::uint8_t, 2>({m, n}));
    compare(integers, 0, numbers<bool, 2>({m, n}));
  }
}

} // namespace reduction_kernels_test
