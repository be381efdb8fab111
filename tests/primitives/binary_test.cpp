// Elementwise primitives of two floating operands: values, special values, gradients, batches, broadcasting.
#include "ops/reference.hpp"

#include <limits>

namespace binary_test {

namespace {

namespace plx = parallax;
using reference::coordinates;
using reference::table;

double larger(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : x > y ? x : y; }
double smaller(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : x < y ? x : y; }

constexpr auto operations = [](auto x, auto y) {
  return std::tuple(x + y, x - y, x * y, x / y, x % y, plx::power(x, y), plx::maximum(x, y), plx::minimum(x, y));
};
constexpr auto comparisons = [](auto x, auto y) { return std::tuple(x == y, x != y, x<y, x <= y, x> y, x >= y); };

struct meaning {
  const char* name;
  double (*value)(double, double);
};
const meaning meanings[] = {{"add", [](double x, double y) { return x + y; }},
                            {"subtract", [](double x, double y) { return x - y; }},
                            {"multiply", [](double x, double y) { return x * y; }},
                            {"divide", [](double x, double y) { return x / y; }},
                            {"remainder", [](double x, double y) { return std::fmod(x, y); }},
                            {"power", [](double x, double y) { return std::pow(x, y); }},
                            {"maximum", larger},
                            {"minimum", smaller}};
const meaning comparison_meanings[] = {{"equal", [](double x, double y) { return double(x == y); }},
                                       {"not_equal", [](double x, double y) { return double(x != y); }},
                                       {"less", [](double x, double y) { return double(x < y); }},
                                       {"less_equal", [](double x, double y) { return double(x <= y); }},
                                       {"greater", [](double x, double y) { return double(x > y); }},
                                       {"greater_equal", [](double x, double y) { return double(x >= y); }}};

/// `f` of the elements that NumPy's broadcasting brings together.
template <class F> table broadcast(F f, const table& x, const table& y) {
  std::size_t rank = std::max(x.shape.size(), y.shape.size());
  auto extent = [rank](const table& t, std::size_t i) {
    std::size_t missing = rank - t.shape.size();
    return i < missing ? 1 : t.shape[i - missing];
  };
  coordinates shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(extent(x, i) == 1 ? extent(y, i) : extent(x, i));
  auto element = [](const table& t, const coordinates& at) {
    coordinates own(at.end() - static_cast<std::ptrdiff_t>(t.shape.size()), at.end());
    for (std::size_t i = 0; i < own.size(); ++i)
      if (t.shape[i] == 1) own[i] = 0;
    return t[own];
  };
  return reference::tabulate(shape, [&](const coordinates& at) { return f(element(x, at), element(y, at)); });
}

template <class F, std::size_t N, class X, class Y>
void check_values(F f, const meaning (&expected)[N], const X& x, const Y& y, double rtol) {
  std::vector<table> actual = reference::tables_of(plx::jit(f)(x, y));
  for (std::size_t k = 0; k < N; ++k) {
    INFO(expected[k].name << " of " << x.size() << " and " << y.size() << " elements");
    reference::compare(actual[k], broadcast(expected[k].value, reference::table_of(x), reference::table_of(y)), rtol,
                       rtol);
  }
}

template <class T> void check_lengths(double rtol) {
  using vector = plx::array<T, 1>;
  for (std::int64_t length : {0, 1, 15, 16, 17, 1000}) {
    vector x = reference::array_of<vector>(reference::numbers({length}, 0.1, 3));
    vector y = reference::array_of<vector>(reference::numbers({length}, 0.2, 2, 0.3));
    check_values(operations, meanings, x, y, rtol);
    check_values(comparisons, comparison_meanings, x, y, 0);
  }
  const double special[] = {0., -0., 1., -1., 2.5, -3., INFINITY, -INFINITY, NAN};
  table left{{81}, {}}, right = left;
  for (double a : special)
    for (double b : special) left.values.push_back(a), right.values.push_back(b);
  vector x = reference::array_of<vector>(left), y = reference::array_of<vector>(right);
  check_values(operations, meanings, x, y, rtol);
  check_values(comparisons, comparison_meanings, x, y, 0);
}

} // namespace

TEST_CASE("arithmetic and comparisons of float64 have C++'s values") { check_lengths<double>(4e-15); }
TEST_CASE("arithmetic and comparisons of float32 have C++'s values") { check_lengths<float>(2e-6); }

TEST_CASE("gradients of arithmetic on two operands") {
  auto x = reference::array_of<double, 1>(reference::numbers({17}, 0.6, 2.4));
  auto y = reference::array_of<double, 1>(reference::numbers({17}, 0.35, 0.55, 0.3));
  // the remainder jumps; away from its jumps it has slopes
  reference::check_gradient(operations, x, y);
}

TEST_CASE("arithmetic on two operands is mapped over either or both") {
  auto x = reference::array_of<double, 1>(reference::numbers({5}, 0.6, 2.4));
  auto y = reference::array_of<double, 1>(reference::numbers({5}, 0.3, 0.5, 0.3));
  reference::check_batching<0, 0>(operations, x, y);
  reference::check_batching<1, 0>(operations, x, y);
  reference::check_batching<-1, 1>(operations, x, y);
  reference::check_batching<0, -1>(comparisons, x, y);
}

TEST_CASE("shapes broadcast as in NumPy, and gradients sum over what was broadcast") {
  constexpr auto mixed = [](auto x, auto y) { return std::tuple(x * y, x / (y + 3), y - x); };
  const meaning expected[] = {{"multiply", [](double a, double b) { return a * b; }},
                              {"divide", [](double a, double b) { return a / (b + 3); }},
                              {"subtract", [](double a, double b) { return b - a; }}};
  auto check = [&](const auto& x, const auto& y) {
    check_values(mixed, expected, x, y, 1e-14);
    reference::check_gradient(mixed, x, y);
  };
  auto full = reference::array_of<plx::array<double, plx::extents<3, 4>>>(reference::numbers({3, 4}, -1, 1));
  auto row = reference::array_of<plx::array<double, plx::extents<4>>>(reference::numbers({4}, -1, 1, 0.1));
  auto column = reference::array_of<plx::array<double, plx::extents<3, 1>>>(reference::numbers({3, 1}, -1, 1, 0.2));
  auto number = reference::array_of<plx::array<double, 0>>(reference::numbers({}, -1, 1, 0.4));
  auto partly = reference::array_of<plx::array<double, plx::extents<3, plx::dyn>>>(reference::numbers({3, 4}, -1, 1));
  check(full, row);
  check(column, row);
  check(number, full);
  check(partly, column);
  check(partly, full);
}

TEST_CASE("mapped operands of different rank broadcast inside each instance") {
  constexpr auto mixed = [](auto x, auto y) { return std::tuple(x * y, x - y); };
  auto row = reference::array_of<double, 1>(reference::numbers({4}, -1, 1, 0.1));
  auto full = reference::array_of<double, 2>(reference::numbers({3, 4}, -1, 1));
  auto number = reference::array_of<double, 0>(reference::numbers({}, -1, 1, 0.4));
  reference::check_batching<0, 2>(mixed, row, full);
  reference::check_batching<0, -1>(mixed, number, full);
  reference::check_batching<0, 1>(mixed, number, row);
}

TEST_CASE("operands that tie share the gradient of maximum, minimum and clip") {
  auto slopes = plx::jit([](auto x, auto y) {
    auto of = [&](auto f) {
      return plx::grad([=](auto a, auto b) { return plx::sum(f(a, b)); }, plx::argnums<0, 1>)(x, y);
    };
    return std::tuple(of(plx::maximum), of(plx::minimum),
                      plx::grad([](auto a) { return plx::sum(plx::clip(a, -1, 2)); })(x));
  });
  plx::array<double, 1> x{1, 2, 3}, y{2, 2, 2};
  auto [largest, smallest, clipped] = slopes(x, y);
  CHECK(std::get<0>(largest).to_vector() == std::vector<double>{0, 0.5, 1});
  CHECK(std::get<1>(largest).to_vector() == std::vector<double>{1, 0.5, 0});
  CHECK(std::get<0>(smallest).to_vector() == std::vector<double>{1, 0.5, 0});
  CHECK(std::get<1>(smallest).to_vector() == std::vector<double>{0, 0.5, 1});
  CHECK(clipped.to_vector() == std::vector<double>{1, 0.5, 0});
}

TEST_CASE("the slope of a power with exponent 0 is 0, whatever the base") {
  static constexpr auto sum_of_powers = [](auto a, auto b) { return plx::sum(plx::power(a, b)); };
  const plx::array<double, 1> x{INFINITY, -INFINITY, NAN, 0, -2}, zeros{0, 0, 0, 0, 0};
  CHECK(plx::jit(plx::grad(sum_of_powers))(x, zeros).to_vector() == std::vector<double>(5, 0));
  static constexpr auto sum_of_slopes = [](auto a, auto b) { return plx::sum(plx::grad(sum_of_powers)(a, b)); };
  CHECK(plx::jit(plx::grad(sum_of_slopes))(plx::array<double, 1>{INFINITY, 0, 2}, plx::array<double, 1>{0, 0, 0})
            .to_vector() == std::vector<double>(3, 0));
}

TEST_CASE("a power's gradient is finite where base or exponent is 0") {
  auto slopes = plx::jit(plx::grad([](auto x, auto y) { return plx::sum(plx::power(x, y)); }, plx::argnums<0, 1>));
  auto [base, exponent] = slopes(plx::array<double, 1>{0, 0, 2, 0}, plx::array<double, 1>{0, 2, 0, 1});
  CHECK(base.to_vector() == std::vector<double>{0, 0, 0, 1});
  CHECK(exponent(0) == 0);
  CHECK(exponent(1) == 0);
  CHECK(exponent(2) == Approx(std::log(2.)));
}

TEST_CASE("constant integer exponents are products") {
  constexpr auto powers = [](auto x) {
    return std::tuple(plx::power(x, 0), plx::power(x, 1), plx::power(x, 2), plx::power(x, 3), plx::power(x, 7),
                      plx::power(x, -1), plx::power(x, -2), plx::power(x, 2.5));
  };
  const double exponents[] = {0, 1, 2, 3, 7, -1, -2, 2.5};
  auto x = reference::array_of<double, 1>(reference::numbers({17}, 0.6, 1.3));
  std::vector<table> actual = reference::tables_of(plx::jit(powers)(x));
  for (std::size_t k = 0; k < std::size(exponents); ++k) {
    INFO("exponent " << exponents[k]);
    table expected = reference::table_of(x);
    for (double& value : expected.values) value = std::pow(value, exponents[k]);
    compare(actual[k], expected, 4e-15);
  }
  reference::check_gradient(powers, x);
  reference::check_batching<1>(powers, x);

  auto of_integers = plx::jit([](auto n) { return std::tuple(plx::power(n, 3), plx::power(n, 0)); });
  auto [cubes, ones] = of_integers(plx::array<int, 1>{-2, 0, 5});
  CHECK(cubes.to_vector() == std::vector<int>{-8, 0, 125});
  CHECK(ones.to_vector() == std::vector<int>{1, 1, 1});
  auto negative = plx::jit([](auto v) { return plx::power(v, 3); })(plx::array<float, 1>{-2, -0.5f});
  CHECK(negative.to_vector() == std::vector<float>{-8, -0.125f});
}

} // namespace binary_test
