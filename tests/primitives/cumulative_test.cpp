// Cumulative operations along every axis in both directions, beside plain loops; their types, gradients and batches.
#include "ops/reference.hpp"

#include <cstdint>
#include <limits>

namespace cumulative_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

/// Every element combined with what came before it along an axis.
template <class Combine> table cumulated(const table& x, std::size_t axis, bool reverse, Combine combine) {
  table result = x;
  const std::int64_t length = x.shape[axis];
  reference::for_each_index(x.shape, [&](const coordinates& at) {
    coordinates to = at;
    auto step = [&](std::int64_t i) { return reverse ? length - 1 - i : i; };
    to[axis] = step(at[axis]);
    if (at[axis] == 0) return;
    coordinates last = to;
    last[axis] = step(at[axis] - 1);
    result[to] = combine(result[last], result[to]);
  });
  return result;
}
double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
double log_sum(double a, double b) { // of moderate numbers and minus infinity
  return std::log(std::exp(a) + std::exp(b));
}

constexpr auto sums = [](auto x) {
  return std::tuple(plx::cumsum(x, 0), plx::cumsum(x, 1), plx::cumsum(x, -1), plx::cumsum(x, 0, plx::in_reverse),
                    plx::cumsum(x, 1, plx::in_reverse), plx::cumsum(x, 2, plx::in_reverse));
};
constexpr auto products = [](auto x) {
  return std::tuple(plx::cumprod(x, 0), plx::cumprod(x, 1), plx::cumprod(x, -1), plx::cumprod(x, 0, plx::in_reverse),
                    plx::cumprod(x, 1, plx::in_reverse), plx::cumprod(x, 2, plx::in_reverse));
};
constexpr auto maxima = [](auto x) {
  return std::tuple(plx::cummax(x), plx::cummax(x, 1), plx::cummax(x, -1), plx::cummax(x, 0, plx::in_reverse),
                    plx::cummax(x, 1, plx::in_reverse), plx::cummax(x, 2, plx::in_reverse));
};
constexpr auto minima = [](auto x) {
  return std::tuple(plx::cummin(x), plx::cummin(x, 1), plx::cummin(x, -1), plx::cummin(x, 0, plx::in_reverse),
                    plx::cummin(x, 1, plx::in_reverse), plx::cummin(x, 2, plx::in_reverse));
};
constexpr auto logarithms = [](auto x) {
  return std::tuple(plx::cumlogsumexp(x), plx::cumlogsumexp(x, 1), plx::cumlogsumexp(x, -1),
                    plx::cumlogsumexp(x, 0, plx::in_reverse), plx::cumlogsumexp(x, 1, plx::in_reverse),
                    plx::cumlogsumexp(x, 2, plx::in_reverse));
};

template <class T, class F, class Combine>
void check_values(F f, const table& given, double tolerance, Combine combine) {
  const auto x = reference::array_of<T, 3>(given);
  const table t = reference::table_of(x);
  const auto results = plx::jit(f)(x);
  static_assert(std::is_same_v<typename std::tuple_element_t<0, std::remove_cv_t<decltype(results)>>::value_type, T>);
  const std::vector<table> actual = reference::tables_of(results);
  for (std::size_t k = 0; k < 6; ++k) {
    INFO("axis " << k % 3 << (k < 3 ? "" : " in reverse") << " of " << t.shape[0] << " x " << t.shape[1] << " x "
                 << t.shape[2]);
    compare(actual[k], cumulated(t, k % 3, k >= 3, combine), tolerance, tolerance);
  }
}

const coordinates shapes[] = {{1, 1, 1},  {2, 3, 4},   {3, 1, 17}, {17, 2, 1}, {1, 15, 16}, {2, 16, 33},
                              {5, 70, 3}, {2, 3, 300}, {0, 3, 2},  {3, 0, 2},  {2, 3, 0}};

} // namespace

TEST_CASE("sums and products up to each element along every axis") {
  for (const coordinates& shape : shapes) {
    const table x = reference::numbers(shape, -1, 1), near_one = reference::numbers(shape, -1.05, -0.95);
    check_values<double>(sums, x, 1e-13, plus);
    check_values<float>(sums, x, 1e-4, plus);
    check_values<double>(products, near_one, 1e-12, times);
    check_values<float>(products, near_one, 1e-3, times);
  }
}

TEST_CASE("extremes up to each element along every axis, with ties and NaN") {
  for (const coordinates& shape : shapes) {
    table x = reference::numbers(shape, 0, 9);
    for (double& value : x.values) value = std::floor(value);
    check_values<float>(maxima, x, 0, larger);
    check_values<double>(minima, x, 0, smaller);
    check_values<std::int32_t>(maxima, x, 0, larger);
    check_values<plx::bfloat16>(minima, x, 0, smaller);
    for (std::size_t i = 5; i < x.values.size(); i += 23) x.values[i] = NAN;
    check_values<float>(minima, x, 0, smaller);
    check_values<double>(maxima, x, 0, larger);
    for (double& value : x.values) value = -INFINITY;
    check_values<float>(maxima, x, 0, larger);
  }
}

TEST_CASE("sums of exponentials up to each element along every axis") {
  for (const coordinates& shape : shapes) {
    table x = reference::numbers(shape, -3, 3);
    check_values<double>(logarithms, x, 1e-12, log_sum);
    check_values<float>(logarithms, x, 1e-5, log_sum);
    for (std::size_t i = 0; i < x.values.size(); i += 2) x.values[i] = -INFINITY;
    check_values<double>(logarithms, x, 1e-12, log_sum);
  }
  const auto large = plx::array<float, 1>(plx::cumlogsumexp(plx::array<float, 1>{1000, 1000, -INFINITY, 1000}));
  const double terms[] = {1, 2, 2, 3};
  for (std::int64_t i = 0; i < 4; ++i) CHECK(static_cast<double>(large(i)) == Approx(1000 + std::log(terms[i])));
  const auto infinite = plx::array<float, 1>(plx::cumlogsumexp(plx::array<float, 1>{0, INFINITY, 1, NAN}));
  CHECK(infinite(1) == INFINITY);
  CHECK(infinite(2) == INFINITY);
  CHECK(std::isnan(infinite(3)));
}

TEST_CASE("without an axis sums and products go over all elements, extremes along the first axis") {
  const plx::array<float, 2> x{{1, 2, 3}, {4, 0.5, 2}};
  const plx::array<float, 1> sum = plx::cumsum(x), product = plx::cumprod(x);
  const plx::array<float, 1> back = plx::cumsum(x, plx::in_reverse);
  const plx::array<float, 2> largest = plx::cummax(x), along = plx::cumsum(x, plx::axis<-1>),
                             up = plx::cumprod(x, plx::axis<0>, plx::in_reverse);
  CHECK(sum.to_vector() == std::vector<float>{1, 3, 6, 10, 10.5, 12.5});
  CHECK(back.to_vector() == std::vector<float>{12.5, 11.5, 9.5, 6.5, 2.5, 2});
  CHECK(product.to_vector() == std::vector<float>{1, 2, 6, 24, 12, 24});
  CHECK(largest.to_vector() == std::vector<float>{1, 2, 3, 4, 2, 3});
  CHECK(along.to_vector() == std::vector<float>{1, 3, 6, 4, 4.5, 6.5});
  CHECK(up.to_vector() == std::vector<float>{4, 1, 6, 4, 0.5, 2});
}

TEST_CASE("integers wrap, truth values are counted, and 16 bits are rounded once") {
  auto all = plx::jit([](auto x) { return std::tuple(plx::cumsum(x), plx::cumprod(x), plx::cummax(x)); });
  auto [sum, product, largest] = all(plx::array<int, 1>{3, -7, 2147483647});
  CHECK(sum.to_vector() == std::vector<int>{3, -4, 2147483643});
  CHECK(product.to_vector() == std::vector<int>{3, -21, static_cast<int>(0u - 21u * 2147483647u)});
  CHECK(largest.to_vector() == std::vector<int>{3, 3, 2147483647});
  auto [count, together, any] = all(plx::array<bool, 1>{false, true, true});
  CHECK(count.to_vector() == std::vector<std::int32_t>{0, 1, 2});
  CHECK(together.to_vector() == std::vector<std::int32_t>{0, 0, 0});
  CHECK(any(0) == false);
  CHECK(any(2) == true);
  auto [bytes, most, top] = all(plx::array<std::uint8_t, 1>{200, 100, 1});
  static_assert(std::is_same_v<decltype(bytes)::value_type, std::uint8_t>);
  CHECK(bytes(1) == 44);
  CHECK(top(2) == 200);
  const plx::array<float, 1> logarithm = plx::cumlogsumexp(plx::array<int, 1>{0, 0});
  CHECK(static_cast<double>(logarithm(1)) == Approx(std::log(2)));
  // a sum in 16 bits would stop at 256
  const plx::array<plx::bfloat16, 1> many =
      plx::cumsum(plx::array<plx::bfloat16, 1>::filled({1024}, plx::bfloat16(1.0f)));
  CHECK(static_cast<float>(many(1023)) == 1024);
}

TEST_CASE("gradients of cumulative operations") {
  const auto x = reference::array_of<double, 3>(reference::numbers({2, 3, 4}, -1, 1));
  reference::check_gradient(sums, x);
  reference::check_gradient(products, x);
  reference::check_gradient(maxima, x);
  reference::check_gradient(minima, x);
  reference::check_gradient(logarithms, x);
  // and of their gradients
  reference::check_gradient(
      [](auto y) { return plx::grad([](auto z) { return plx::sum(plx::sin(plx::cumprod(z, 1))); })(y); }, x);
  reference::check_gradient(
      [](auto y) {
        return plx::grad([](auto z) { return plx::sum(plx::sin(plx::cumlogsumexp(z, 2, plx::in_reverse))); })(y);
      },
      x);
}

TEST_CASE("the gradient of a product is right where elements are 0") {
  table one = reference::numbers({3, 4, 2}, -1, 1);
  one.values[5] = 0;
  one.values[11] = 0;
  one.values[17] = 0;
  const auto zeros = reference::array_of<double, 3>(one);
  reference::check_gradient(products, zeros);
  const auto slopes = plx::jit(plx::grad([](auto x) { return plx::sum(plx::cumprod(x)); }));
  CHECK(slopes(plx::array<double, 1>{3, 0, 2, 0, 5}).to_vector() == std::vector<double>{1, 9, 0, 0, 0});
}

TEST_CASE("what ties with all before it gets half of an extreme's gradient") {
  const auto slopes = plx::jit(plx::grad([](auto x) { return plx::sum(plx::cummax(x) * plx::arange<double>(4)); }));
  CHECK(slopes(plx::array<double, 1>{2, 1, 2, 1}).to_vector() == std::vector<double>{3.5, 0, 2.5, 0});
  const auto of_sums = plx::jit(plx::grad([](auto x) { return plx::sum(plx::cumlogsumexp(x)); }));
  const auto masked = of_sums(plx::array<double, 1>{-INFINITY, 0, -INFINITY});
  CHECK(masked.to_vector() == std::vector<double>{1, 2, 0});
}

TEST_CASE("gradients in 16 bits") {
  const auto slopes = plx::jit(plx::grad([](auto x) { return plx::sum(plx::cummax(x)); }));
  const auto halves = slopes(plx::array<plx::float16, 1>{plx::float16(1.f), plx::float16(3.f), plx::float16(2.f)});
  CHECK(static_cast<float>(halves(0)) == 1);
  CHECK(static_cast<float>(halves(1)) == 2);
  CHECK(static_cast<float>(halves(2)) == 0);
}

TEST_CASE("cumulative operations are mapped over any axis") {
  const auto x = reference::array_of<double, 3>(reference::numbers({2, 3, 5}, -1, 1));
  reference::check_batching<0>(sums, x);
  reference::check_batching<1>(sums, x);
  reference::check_batching<3>(products, x);
  reference::check_batching<2>(logarithms, x);
  auto slopes = [](auto y) { return plx::grad([](auto z) { return plx::sum(plx::sin(plx::cumprod(z, 1))); })(y); };
  reference::check_batching<0>(slopes, x);
  reference::check_batching<2>(slopes, x);
}

TEST_CASE("extents that the call decides") {
  const auto f = plx::jit([](auto x) {
    return std::tuple(plx::cumsum(plx::exp(x), 0), plx::grad([](auto y) { return plx::sum(plx::cumprod(y, 0)); })(x));
  });
  for (std::int64_t length : {0, 1, 2, 5, 100}) {
    const table x = reference::numbers({length}, 0.5, 1);
    const auto [sum, slopes] = f(reference::array_of<double, 1>(x));
    table expected = x, gradient = x;
    for (double& value : expected.values) value = std::exp(value);
    compare(reference::table_of(sum), cumulated(expected, 0, false, plus), 1e-13);
    for (std::size_t k = 0; k < x.values.size(); ++k) {
      double product = 1, total = 0;
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        if (i != k) product *= x.values[i];
        if (i >= k) total += product;
      }
      gradient.values[k] = total;
    }
    compare(reference::table_of(slopes), gradient, 1e-12);
  }
}

} // namespace cumulative_test
