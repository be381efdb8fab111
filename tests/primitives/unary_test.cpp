// Elementwise primitives of one operand: values, special values, gradients, batches, lengths around a register's.
#include "ops/reference.hpp"

#include <limits>
#include <numbers>

namespace unary_test {

namespace {

namespace plx = parallax;
using reference::table;

double signum(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double bisect_erf(double y) {
  double low = -7, high = 7;
  if (y == 0) return y;
  if (!(std::abs(y) <= 1)) return NAN;
  if (std::abs(y) == 1) return y * INFINITY;
  for (int i = 0; i < 200; ++i) {
    double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return low;
}

double gaussian_error_unit(double x) {
  return x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))) / 2;
}

constexpr auto operations =
    std::tuple(plx::exp, plx::log, plx::log1p, plx::expm1, plx::tanh, plx::sin, plx::cos, plx::tan, plx::sqrt,
               plx::rsqrt, plx::logistic, plx::erf, plx::erf_inv, plx::abs, plx::sign, plx::floor, plx::negative,
               plx::square, plx::reciprocal, plx::relu, plx::gelu, plx::stop_gradient);
constexpr std::size_t operation_count = std::tuple_size_v<decltype(operations)>;

struct meaning {
  const char* name;
  double (*value)(double);
  bool has_slope = true;
};
const meaning meanings[] = {
    {"exp", [](double x) { return std::exp(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"erf_inv", bisect_erf},
    {"abs", [](double x) { return std::abs(x); }},
    {"sign", signum},
    {"floor", [](double x) { return std::floor(x); }},
    {"negative", [](double x) { return -x; }},
    {"square", [](double x) { return x * x; }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"relu", [](double x) { return x < 0 ? 0 : x; }},
    {"gelu", gaussian_error_unit},
    {"stop_gradient", [](double x) { return x; }, false},
};
static_assert(std::size(meanings) == operation_count);

constexpr auto all_operations = [](auto x) {
  return std::apply([&](auto... operation) { return std::tuple(operation(x)...); }, operations);
};
constexpr auto all_slopes = [](auto x) {
  auto slope = [&](auto operation) { return plx::grad([=](auto y) { return plx::sum(operation(y)); })(x); };
  return std::apply([&](auto... operation) { return std::tuple(slope(operation)...); }, operations);
};

template <class T> void check_values(const table& x, double rtol, double atol = 0) {
  auto rounded = reference::array_of<T, 1>(x);
  std::vector<table> actual = reference::tables_of(plx::jit(all_operations)(rounded));
  for (std::size_t k = 0; k < operation_count; ++k) {
    INFO(meanings[k].name << " of " << x.values.size() << " elements");
    table expected = reference::table_of(rounded);
    for (double& value : expected.values) value = meanings[k].value(value);
    compare(actual[k], expected, rtol, atol);
  }
}

} // namespace

TEST_CASE("functions of one operand have the standard library's values at every length") {
  for (std::int64_t length : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 1000}) {
    check_values<double>(reference::numbers({length}, 0.01, 0.99), 4e-15);
    check_values<float>(reference::numbers({length}, 0.01, 0.99), 1e-6);
  }
  // log and the like are NaN for half of these
  check_values<double>(reference::numbers({500}, -20, 20), 2e-14, 1e-15);
  check_values<float>(reference::numbers({500}, -20, 20), 2e-6, 1e-6);
}

TEST_CASE("functions of one operand keep to the standard library at special values") {
  double infinity = std::numeric_limits<double>::infinity();
  table special{{12}, {0., -0., 1., -1., infinity, -infinity, NAN, 1e-30, -1e-30, 80., -80., 2.}};
  check_values<double>(special, 1e-14);
  check_values<float>(special, 1e-6, 1e-37);
}

TEST_CASE("the sign of zero and what is finite") {
  auto both = plx::jit([](auto x) { return std::tuple(1 / plx::floor(x), plx::isfinite(x)); });
  plx::array<float, 1> x{0.f, -0.f, INFINITY, -INFINITY, NAN, 3e38};
  auto [reciprocal, finite] = both(x);
  CHECK(reciprocal(0) == INFINITY);
  CHECK(reciprocal(1) == -INFINITY);
  CHECK(finite.to_vector() == std::vector<bool>{true, true, false, false, false, true});
}

TEST_CASE("gradients of functions of one operand are the slopes of the standard library's") {
  table x = reference::numbers({37}, 0.05, 0.9);
  std::vector<table> slopes = reference::tables_of(plx::jit(all_slopes)(reference::array_of<double, 1>(x)));
  for (std::size_t k = 0; k < operation_count; ++k) {
    INFO(meanings[k].name);
    table expected = x;
    for (double& value : expected.values) {
      double step = 1e-6;
      double rise = meanings[k].value(value + step) - meanings[k].value(value - step);
      value = meanings[k].has_slope ? rise / (2 * step) : 0;
    }
    compare(slopes[k], expected, 1e-7, 1e-9);
  }
}

TEST_CASE("the slope of abs is that of the side, and 1 at 0") {
  auto slope = plx::grad([](auto x) { return plx::sum(plx::abs(x)); });
  CHECK(slope(plx::array<float, 1>{-2, 0, 3}).to_vector() == std::vector<float>{-1, 1, 1});
}

TEST_CASE("abs leaves truth values as they are") {
  const plx::array<bool, 1> x{true, false, true};
  CHECK(plx::array_equal(plx::array<bool, 1>(plx::abs(x)), x));
  CHECK(plx::array_equal(plx::jit([](auto y) { return plx::abs(y); })(x), x));
}

TEST_CASE("relu keeps NaN, and has slope 0 at 0") {
  plx::array<float, 1> x{-2, -0.f, 0, 3, NAN};
  auto y = plx::jit([](auto v) { return plx::relu(v); })(x).to_vector();
  CHECK(std::vector(y.begin(), y.end() - 1) == std::vector<float>{0, 0, 0, 3});
  CHECK(std::isnan(y.back()));
  auto slope = plx::grad([](auto v) { return plx::sum(plx::relu(v)); });
  CHECK(slope(x).to_vector() == std::vector<float>{0, 0, 0, 1, 0});
  auto whole = plx::jit([](auto v) { return plx::relu(v); })(plx::array<int, 1>{-3, 0, 2});
  CHECK(whole.to_vector() == std::vector<int>{0, 0, 2});
}

TEST_CASE("gelu and its derivatives on both sides and far out") {
  static constexpr auto total = [](auto v) { return plx::sum(plx::gelu(v)); };
  constexpr auto slopes = plx::grad(total);
  constexpr auto curvatures = plx::grad([](auto v) { return plx::sum(plx::grad(total)(v)); });
  std::vector<double> points;
  for (int i = -40; i <= 40; ++i) points.push_back(i / 8.0);
  const plx::array<double, 1> x({static_cast<std::int64_t>(points.size())}, points);
  auto value = plx::jit([](auto v) { return plx::gelu(v); })(x).to_vector();
  auto slope = slopes(x).to_vector(), curvature = curvatures(x).to_vector();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double at = points[i], step = 1e-4;
    const double low = gaussian_error_unit(at - step), middle = gaussian_error_unit(at),
                 high = gaussian_error_unit(at + step);
    INFO(at);
    CHECK(std::abs(value[i] - middle) <= 1e-14);
    CHECK(std::abs(slope[i] - (high - low) / (2 * step)) <= 1e-7);
    CHECK(std::abs(curvature[i] - (high - 2 * middle + low) / (step * step)) <= 1e-6);
  }
  auto far = plx::jit([](auto v) { return std::tuple(plx::gelu(v), plx::grad(total)(v)); });
  auto [values, gradients] = far(plx::array<float, 1>{-30, 30});
  CHECK(values.to_vector() == std::vector<float>{0, 30});
  CHECK(gradients.to_vector() == std::vector<float>{0, 1});
  // where powers overflow
  auto slope_of = [&](float at) { return slopes(plx::array<float, 1>{at})(0); };
  CHECK(slope_of(2e13f) == 1);
  CHECK(slope_of(-2e13f) == 0);
  for (float at : {40.f, -40.f, 100.f})
    CHECK(static_cast<float>(curvatures(plx::array<plx::float16, 1>{plx::float16(at)})(0)) == 0);
}

TEST_CASE("functions of one operand are mapped element by element") {
  auto x = reference::array_of<double, 1>(reference::numbers({19}, 0.05, 0.9));
  reference::check_batching<0>(all_operations, x);
  reference::check_batching<1>(all_operations, x);
}

TEST_CASE("integers stay integers where the function allows it, else they become float32") {
  auto all = plx::jit([](auto x) {
    return std::tuple(plx::abs(x), plx::sign(x), -x, plx::square(x), plx::exp(x), plx::floor(x), plx::isfinite(x));
  });
  plx::array<int, 1> x{-3, 0, 2};
  auto [magnitude, sign, negative, square, exponential, floor, finite] = all(x);
  CHECK(magnitude.to_vector() == std::vector<int>{3, 0, 2});
  CHECK(sign.to_vector() == std::vector<int>{-1, 0, 1});
  CHECK(negative.to_vector() == std::vector<int>{3, 0, -2});
  CHECK(square.to_vector() == std::vector<int>{9, 0, 4});
  static_assert(std::is_same_v<decltype(exponential)::value_type, float>);
  CHECK(exponential(2) == Approx(std::exp(2.)));
  CHECK(floor.to_vector() == std::vector<int>{-3, 0, 2});
  CHECK(finite.to_vector() == std::vector<bool>{true, true, true});

  const plx::array floor_of_large = plx::floor(plx::array<std::int64_t, 1>{9007199254740993});
  CHECK(floor_of_large.to_vector() == std::vector<std::int64_t>{9007199254740993}); // no double
  const plx::array floor_of_truths = plx::floor(plx::array<bool, 1>{true, false});
  CHECK(floor_of_truths.to_vector() == std::vector<bool>{true, false});
}

} // namespace unary_test
