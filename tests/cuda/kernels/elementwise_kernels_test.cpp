// The device's elementwise kernels compute what the host's do.
#include "cuda/kernels/simulated_kernels.hpp"

#include <cmath>
#include <limits>
#include <tuple>

namespace elementwise_kernels_test {

namespace plx = parallax;
using simulated::compare;
using simulated::numbers;

TEST_CASE("chains of all lengths, aligned and not") {
  static constexpr auto chain = plx::jit([](auto x, auto y) { return plx::tanh(2.f * x + y) * plx::exp(-y) - x; });
  static constexpr auto neighbours = plx::jit(
      [](auto x, auto y) { return plx::slice_in_dim(x, 1, plx::none) * 2.f - plx::slice_in_dim(y, plx::none, -1); });
  for (std::int64_t n = 0; n <= 70; ++n) {
    compare(chain, 1e-5, numbers<float, 1>({n}), numbers<float, 1>({n}, 2));
    if (n > 0) compare(neighbours, 0, numbers<float, 1>({n}), numbers<float, 1>({n}, 2));
  }
  compare(chain, 1e-5, numbers<float, 1>({20000}), numbers<float, 1>({20000}, 2));
}

TEMPLATE_TEST_CASE("rows that begin where no vectors do", "", float, double, plx::bfloat16, std::uint8_t) {
  // of which one operand may be aligned where others are not
  static constexpr auto rows = plx::jit([](auto x, auto y, auto row) {
    auto sum = plx::slice_in_dim(x, 1, plx::none, 1, 1) + y + row;
    return std::tuple{sum, sum + sum, sum > y};
  });
  static constexpr auto together = plx::jit([](auto x, auto row) { return x + row; });
  for (std::int64_t n : {15, 16, 33, 64, 70, 131}) {
    compare(rows, 0, numbers<TestType, 2>({5, n + 1}), numbers<TestType, 2>({5, n}, 2), numbers<TestType, 1>({n}, 3));
    compare(together, 0, numbers<TestType, 2>({7, n}), numbers<TestType, 1>({n}, 2));
  }
  static constexpr auto deep = plx::jit([](auto x, auto y) { return plx::slice(x, {0, 1, 0, 1}, {2, 3, 3, 40}) + y; });
  compare(deep, 0, numbers<TestType, 4>({2, 3, 4, 41}), numbers<TestType, 4>({2, 2, 3, 39}, 2));
}

TEST_CASE("rows and columns that are repeated") {
  static constexpr auto bias =
      plx::jit([](auto x, auto row, auto column) { return (x + row) * plx::expand_dims(column, 1); });
  for (std::int64_t rows : {1, 3, 8})
    for (std::int64_t columns : {1, 2, 4, 7, 32, 36, 65})
      compare(bias, 1e-6, numbers<float, 2>({rows, columns}), numbers<float, 1>({columns}, 2),
              numbers<float, 1>({rows}, 3));
}

TEST_CASE("transposed, strided and cut arrays") {
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x, {1, 0}) - 3.f * y; });
  for (std::int64_t m : {1, 5, 33, 64})
    for (std::int64_t n : {1, 4, 31, 70})
      compare(transposed, 1e-6, numbers<float, 2>({m, n}), numbers<float, 2>({n, m}, 2));
  static constexpr auto cut =
      plx::jit([](auto x) { return plx::slice(plx::transpose(x, {2, 0, 1}), {1, 0, 1}, {6, 4, 9}, {2, 1, 3}) * 2.0; });
  compare(cut, 0, numbers<double, 3>({4, 9, 7}));
  static constexpr auto strided = plx::jit([](auto x) { return plx::exp(plx::slice_in_dim(x, 1, plx::none, 3)); });
  for (std::int64_t n : {2, 3, 4, 50, 129}) compare(strided, 1e-6, numbers<float, 1>({n}));
}

TEMPLATE_TEST_CASE("transposes of whole tiles and parts of them, aligned and not", "", float, double, plx::bfloat16,
                   std::uint8_t) {
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x, {1, 0}) + y; });
  for (const auto& [m, n] : {std::pair{64, 64}, {80, 96}, {130, 131}, {64, 131}})
    compare(transposed, 0, numbers<TestType, 2>({m, n}), numbers<TestType, 2>({n, m}, 2));
  static constexpr auto cut = plx::jit([](auto x) { return plx::transpose(plx::slice_in_dim(x, 1, plx::none, 1, 1)); });
  for (std::int64_t n : {65, 97}) compare(cut, 0, numbers<TestType, 2>({64, n}));
  static constexpr auto several = plx::jit([](auto x, auto y, auto z) {
    auto sum = plx::transpose(x, {2, 0, 1}) + plx::transpose(y, {1, 2, 0});
    return std::pair{sum, sum + z};
  });
  compare(several, 0, numbers<TestType, 3>({3, 64, 80}), numbers<TestType, 3>({64, 80, 3}, 2),
          numbers<TestType, 3>({80, 3, 64}, 3));
}

TEST_CASE("a block's tiles follow one another") {
  static constexpr auto transposed = plx::jit([](auto x, auto y) { return plx::transpose(x, {1, 0}) + y; });
  const auto x = numbers<float, 2>({449, 450}), y = numbers<float, 2>({450, 449}, 2);
  simulated::api::current = {.multiprocessors = 1};
  simulated::require_close(transposed(x, y), simulated::call(transposed, x, y), 0);
  CHECK(simulated::api::last.blocks == 32); // of 64 tiles
}

TEST_CASE("mixed element types") {
  static constexpr auto mixed = plx::jit([](auto x, auto n, auto mask, auto d) {
    auto chosen = plx::where(mask, plx::astype<double>(x) * d, plx::astype<double>(n));
    return std::tuple{chosen, plx::astype<std::uint8_t>(plx::abs(x) * 3.f), (x > 0.f) & mask, plx::astype<float>(mask)};
  });
  for (std::int64_t n : {1, 7, 8, 16, 61, 1000})
    compare(mixed, 1e-6, numbers<float, 1>({n}), numbers<std::int64_t, 1>({n}, 2), numbers<bool, 1>({n}, 3),
            numbers<double, 1>({n}, 4));
  static constexpr auto bits = plx::jit([](auto a, auto b) { return (a ^ b) | (a & ~b); });
  for (std::int64_t n : {3, 16, 40}) {
    compare(bits, 0, numbers<bool, 1>({n}), numbers<bool, 1>({n}, 2));
    compare(bits, 0, numbers<std::uint8_t, 1>({n}), numbers<std::uint8_t, 1>({n}, 2));
  }
}

TEST_CASE("indices, random numbers and scalars") {
  static constexpr auto indices = plx::jit([](auto x, auto s) {
    return x * plx::arange<float>(12) + plx::astype<float>(plx::broadcasted_iota<std::int32_t, 0>({7, 12})) * s;
  });
  compare(indices, 1e-6, numbers<float, 2>({7, 12}), plx::array<float, 0>(1.5f));
  static constexpr auto noise = plx::jit([](auto key) {
    return std::pair{plx::random::uniform<float>(key, {5, 13}), plx::random::bits<std::uint32_t>(key, {64})};
  });
  compare(noise, 0, plx::array<std::uint32_t, 1>(plx::random::key(7)));
  static constexpr auto philox = plx::jit([](auto key, auto row) {
    auto wide = plx::transpose(plx::philox::bits<std::uint64_t>(key, {7, 33}));
    return std::tuple{plx::philox::bits(key, {7, 33}) ^ row, wide, plx::philox::bits<std::uint8_t>(key, {101}),
                      plx::slice(plx::philox::uniform(key, {1000}), {3}, {995})};
  });
  compare(philox, 0, plx::array<std::uint32_t, 1>(plx::philox::key(7)), numbers<std::uint32_t, 1>({33}));
  static constexpr auto scalars = plx::jit([](auto x, auto y) { return plx::sqrt(x * x + y * y) / 2.f; });
  compare(scalars, 1e-6, plx::array<float, 0>(3.f), plx::array<float, 0>(4.f));
}

TEST_CASE("windows: padded, joined and stacked arrays") {
  static constexpr auto windows = plx::jit([](auto x, auto y) {
    auto padded = plx::pad(x, -1.f, {{1, 2, 1}, {0, 3, 2}});
    return std::tuple{padded, plx::concatenate({x, y * 2.f}, 1), plx::concatenate({y, x}, 0), plx::stack({x, y}, 2)};
  });
  compare(windows, 1e-6, numbers<float, 2>({5, 8}), numbers<float, 2>({5, 8}, 2));
  compare(windows, 1e-6, numbers<float, 2>({3, 5}), numbers<float, 2>({3, 5}, 2));
}

TEST_CASE("loops with several results") {
  static constexpr auto results = plx::jit([](auto x, auto y) {
    auto common = plx::exp(x * 0.25f) * y;
    return std::tuple{common, common + x, plx::tanh(common) * y, common > 1.f};
  });
  for (std::int64_t n : {1, 4, 9, 32, 70})
    compare(results, 1e-5, numbers<float, 2>({3, n}), numbers<float, 2>({3, n}, 2));
}

} // namespace elementwise_kernels_test
