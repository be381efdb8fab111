// float16 and bfloat16 arrays: each operation is rounded to the type, sums and products are made in float32 and rounded
// once. Values are those of loops that do the same.
#include "expected.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace float16_test {

namespace {

using namespace conformance;
using plx::float16; // and plx::bfloat16, whose name CBLAS has, too

/// Scattered numbers between -2 and 2.
template <class T, class... Extents> auto scattered(double seed, Extents... extents) {
  auto result = plx::array<T, sizeof...(Extents)>::uninitialised({static_cast<std::int64_t>(extents)...});
  T* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    seed += 0.6180339887498949;
    out[i] = T(4 * (seed - std::floor(seed)) - 2);
  }
  return result;
}

/// The part of an array at position `i` of its first axis.
template <class T, auto Shape> auto part(const plx::array<T, Shape>& x, std::int64_t i) {
  constexpr std::size_t rank = plx::array<T, Shape>::rank - 1;
  std::array<std::int64_t, rank> shape;
  std::copy(x.shape().begin() + 1, x.shape().end(), shape.begin());
  const auto size = static_cast<std::size_t>(x.size() / x.shape(0));
  return plx::array<T, static_cast<int>(rank)>(shape, x.values().subspan(static_cast<std::size_t>(i) * size, size));
}

template <class T> bool same(T x, T y) { return x == y || (x != x && y != y); }

/// Whether the arrays hold the same numbers; differences of up to `places` last places pass.
template <class A, class B> void check_same(const A& actual, const B& expected, int places = 0) {
  const auto whole = on_host(actual);
  REQUIRE(whole.size() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto a = whole.values()[i], b = expected[i];
    INFO("element " << i << " is " << static_cast<float>(a) << ", not " << static_cast<float>(b));
    REQUIRE((same(a, b) || std::abs(a.bits() - b.bits()) <= places));
  }
}

constexpr auto chain = [](auto x, auto y) { return plx::maximum((x * y + 0.3f) * x - y / x, -x) * 2; };
template <class T> T chain_of(T x, T y) {
  const T z = (x * y + T(0.3f)) * x - y / x;
  return (z > -x || z != z ? z : -x) * T(2);
}

constexpr auto mean_square = [](auto w, auto x) {
  auto y = plx::tanh(plx::dot(x, w));
  return plx::mean(y * y);
};

} // namespace

TEMPLATE_TEST_CASE("every operation of a fused loop is rounded to 16 bits", "[float16]", float16, plx::bfloat16) {
  using T = TestType;
  for (int n : {1, 7, 16, 250, 4099}) {
    const auto x = scattered<T>(0, n), y = scattered<T>(0.3, n);
    std::vector<T> expected;
    for (int i = 0; i < n; ++i) expected.push_back(chain_of(x(i), y(i)));
    check_same(plx::jit(chain)(x, y), expected);
    const plx::array eager = plx::maximum((x * y + 0.3f) * x - y / x, -x) * 2;
    check_same(eager, expected);
  }
  // transposed, sliced and broadcast
  const auto a = scattered<T>(0, 37, 53), b = scattered<T>(0.5, 53, 37);
  const auto row = scattered<T>(0.2, 53);
  std::vector<T> expected;
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 53; ++j) expected.push_back(a(i, j) + b(j, i) * row(j));
  check_same(plx::jit([](auto x, auto y, auto z) { return x + plx::transpose(y) * z; })(a, b, row), expected);
}

TEST_CASE("functions of 16 bits are rounded functions of floats", "[float16]") {
  using T = float16;
  const auto x = scattered<T>(0, 1000);
  const auto [e, t, s, r, p] = plx::jit([](auto v) {
    return std::tuple{plx::exp(v), plx::tanh(v), plx::sin(v), plx::logistic(v), plx::power(plx::abs(v), v)};
  })(x);
  std::vector<T> expected[5];
  for (T v : x.values()) {
    const double d = v;
    const double values[] = {std::exp(d), std::tanh(d), std::sin(d), 1 / (1 + std::exp(-d)), std::pow(std::abs(d), d)};
    for (int i = 0; i < 5; ++i) expected[i].push_back(T(values[i]));
  }
  check_same(e, expected[0], 1), check_same(t, expected[1], 1), check_same(s, expected[2], 1);
  check_same(r, expected[3], 1), check_same(p, expected[4], 1);
}

TEST_CASE("types of 16 bits mix as JAX's do") {
  const plx::array<float16, 1> h{1.5, 2};
  const plx::array<plx::bfloat16, 1> b{0.25, 3};
  const plx::array<float, 1> f{1, 2};
  const plx::array<std::int32_t, 1> i{1, 2};
  static_assert(std::is_same_v<decltype(plx::evaluate(h + b))::value_type, float>);
  static_assert(std::is_same_v<decltype(plx::evaluate(h * f))::value_type, float>);
  static_assert(std::is_same_v<decltype(plx::evaluate(h * i))::value_type, float16>);
  static_assert(std::is_same_v<decltype(plx::evaluate(2 * h + 0.5f))::value_type, float16>);
  static_assert(std::is_same_v<decltype(plx::evaluate(1.0 / b))::value_type, plx::bfloat16>);
  static_assert(std::is_same_v<decltype(plx::evaluate(plx::mean(b)))::value_type, plx::bfloat16>);
  static_assert(std::is_same_v<decltype(plx::evaluate(plx::sum(h, plx::axis<0>)))::value_type, float16>);
  check_equal(plx::array(h + b), {2}, std::vector<float>{1.75, 5});
  check_equal(plx::array(h * i), {2}, std::vector<float16>{float16(1.5), float16(4)});
  check_equal(plx::array(h + plx::bfloat16(1)), {2}, std::vector<float16>{float16(2.5), float16(3)});
  check_equal(plx::array(plx::full<plx::bfloat16>({2}, 0.1)), {2}, std::vector<plx::bfloat16>(2, plx::bfloat16(0.1)));
}

TEST_CASE("conversions from and to 16 bits") {
  const plx::array<float, 1> x{1e-8f, 0.1f, -2.5f, 65519, 65520, -1e30f};
  const plx::array h = plx::astype<float16>(x);
  check_same(h,
             std::vector<float16>{float16(0), float16(0.1f), float16(-2.5f), float16(65504),
                                  std::numeric_limits<float16>::infinity(), -std::numeric_limits<float16>::infinity()});
  check_equal(plx::array(plx::astype<std::int32_t>(h)), {6},
              std::vector<std::int32_t>{0, 0, -2, 65504, std::numeric_limits<std::int32_t>::max(),
                                        std::numeric_limits<std::int32_t>::min()});
  check_equal(plx::array(plx::astype<bool>(h)), {6}, std::vector<bool>{false, true, true, true, true, true});
  CHECK(plx::array(plx::astype<double>(plx::astype<plx::bfloat16>(x)))(1) == 0.10009765625);
  const plx::array b = plx::bitcast<plx::bfloat16>(h);
  for (int i = 0; i < 6; ++i) CHECK(b(i).bits() == h(i).bits());
  const plx::array numbers = plx::arange<plx::bfloat16>(1000);
  for (int i = 0; i < 1000; ++i) REQUIRE(numbers(i) == plx::bfloat16(i));
}

TEMPLATE_TEST_CASE("sums and means of 16 bits are rounded once", "[float16][long]", float16, plx::bfloat16) {
  using T = TestType;
  for (int rows : {1, 3, 70})
    for (int columns : {1, 5, 64, 1031}) {
      const auto x = scattered<T>(0.1, rows, columns);
      std::vector<double> along(static_cast<std::size_t>(rows)), down(static_cast<std::size_t>(columns));
      std::vector<T> largest(static_cast<std::size_t>(rows), -std::numeric_limits<T>::infinity());
      std::vector<std::int32_t> where(static_cast<std::size_t>(rows), 0);
      double all = 0;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
          const T value = x(i, j);
          all += value, along[row] += value, down[column] += value;
          if (value > largest[row]) largest[row] = value, where[row] = j;
        }
      auto rounded = [](const std::vector<double>& sums, double count = 1) {
        std::vector<T> result;
        for (double sum : sums) result.push_back(T(sum / count));
        return result;
      };
      const auto [total, by_row, by_column, average, most, place] = plx::jit([](auto v) {
        return std::tuple{plx::sum(v),     plx::sum(v, 1), plx::sum(v, 0),
                          plx::mean(v, 1), plx::max(v, 1), plx::argmax(v, 1)};
      })(x);
      // sums near 0 have lost digits that a float had
      CHECK(std::abs(static_cast<double>(total.item()) - all) <=
            std::abs(all) * std::numeric_limits<T>::epsilon() + 1e-6 * rows * columns);
      check_same(by_row, rounded(along), 1);
      check_same(by_column, rounded(down), 1);
      check_same(average, rounded(along, columns), 1);
      check_same(most, largest);
      check_equal(place, {rows}, where);
    }
  // 5000 ones are more than either type can count to one by one
  CHECK(plx::array(plx::sum(plx::ones<T>({5000}))).item() == T(5000));
  const plx::array<T, 1> large(std::array<std::int64_t, 1>{4}, std::vector<T>(4, T(40000)));
  CHECK(plx::array(plx::mean(large)).item() == T(40000));
}

TEMPLATE_TEST_CASE("products of 16 bits are rounded once", "[float16]", float16, plx::bfloat16) {
  using T = TestType;
  for (int m : {1, 5, 40})
    for (int n : {1, 7, 33})
      for (int k : {1, 8, 100}) {
        const auto a = scattered<T>(0, m, k), b = scattered<T>(0.4, k, n), at = scattered<T>(0.1, k, m);
        std::vector<T> expected, of_transposed;
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) {
            float sum = 0, transposed = 0; // exact products; the order of the sum matters little
            for (int l = 0; l < k; ++l) {
              sum += static_cast<float>(a(i, l)) * static_cast<float>(b(l, j));
              transposed += static_cast<float>(at(l, i)) * static_cast<float>(b(l, j));
            }
            expected.push_back(T(sum)), of_transposed.push_back(T(transposed));
          }
        auto check = [](const auto& actual, const std::vector<T>& values) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            const float x = actual.values()[i], y = values[i];
            REQUIRE(std::abs(x - y) <= std::abs(y) * static_cast<float>(std::numeric_limits<T>::epsilon()) + 1e-5f);
          }
        };
        check(plx::array(plx::dot(a, b)), expected);
        check(plx::jit([](auto x, auto y) { return plx::dot(plx::transpose(x), y); })(at, b), of_transposed);
      }
}

TEST_CASE("batched products of 16 bits are those of single ones", "[float16]") {
  using T = plx::bfloat16;
  const auto a = scattered<T>(0, 6, 9, 17), b = scattered<T>(0.7, 6, 17, 11);
  const auto w = scattered<T>(0.2, 17, 11), v = scattered<T>(0.9, 6, 17);
  constexpr auto product = [](auto x, auto y) { return plx::dot(x, y); };
  const auto both = plx::jit(plx::vmap(product))(a, b);
  const auto one = plx::jit(plx::vmap(product, plx::in_axes<0, plx::none>))(a, w);
  const auto vectors = plx::jit(plx::vmap(product, plx::in_axes<plx::none, 0>))(part(a, 1), v);
  for (int i = 0; i < 6; ++i) {
    check_same(part(both, i), plx::array(plx::dot(part(a, i), part(b, i))).to_vector(), 1);
    check_same(part(one, i), plx::array(plx::dot(part(a, i), w)).to_vector(), 1);
    check_same(part(vectors, i), plx::array(plx::dot(part(a, 1), part(v, i))).to_vector(), 1);
  }
}

TEST_CASE("gradients in 16 bits are near those of doubles", "[float16]") {
  using T = plx::bfloat16;
  const auto w = scattered<T>(0, 12, 8), x = scattered<T>(0.6, 20, 12);
  const auto gradient = plx::jit(plx::grad(mean_square))(w, x);
  static_assert(std::is_same_v<typename decltype(gradient)::value_type, T>);
  const plx::array wide_w = plx::astype<double>(w), wide_x = plx::astype<double>(x);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 8; ++j) {
      auto value = [&](double step) {
        plx::array<double, 2> moved = wide_w;
        moved.mutable_data()[8 * i + j] += step;
        return plx::jit(mean_square)(moved, wide_x).item();
      };
      const double slope = (value(1e-5) - value(-1e-5)) / 2e-5;
      REQUIRE(std::abs(static_cast<double>(gradient(i, j)) - slope) <=
              0.02 * std::abs(slope) + 0.25 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    }
}

TEST_CASE("16 bits on several devices", "[float16]") {
  using T = float16;
  const auto x = scattered<T>(0, 8, 1000);
  const auto [total, most, mine] = plx::pmap<"i">(
      [](auto row) { return std::tuple{plx::psum<"i">(row), plx::pmax<"i">(row), row - plx::pmean<"i">(row)}; })(x);
  const auto sums = on_host(total), extremes = on_host(most), rests = on_host(mine);
  for (int j = 0; j < 1000; ++j) {
    float sum = 0;
    T largest = x(0, j);
    for (int i = 0; i < 8; ++i) sum += x(i, j), largest = std::max(largest, x(i, j));
    for (int i = 0; i < 8; ++i) {
      // members' sums may be rounded at each step
      REQUIRE(std::abs(sums(i, j) - sum) <= 40 * static_cast<float>(std::numeric_limits<T>::epsilon()));
      REQUIRE(extremes(i, j) == largest);
    }
    REQUIRE(std::abs(rests(3, j) - (x(3, j) - sum / 8)) <= 8 * static_cast<float>(std::numeric_limits<T>::epsilon()));
  }
  const auto gathered = plx::pmap<"i">([](auto row) { return plx::all_gather<"i">(row); })(x);
  check_same(part(on_host(gathered), 5), x.to_vector());
}

} // namespace float16_test
