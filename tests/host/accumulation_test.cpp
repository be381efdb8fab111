// Products that are added to something as they are made: beside plain loops, and what the plan makes of them.
#include <parallax/parallax.hpp>

#include "compile/lowered.hpp"
#include "support/test.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace accumulation_test {

namespace plx = parallax;
using plx::compiled::step_kind, plx::shaped;

namespace {

template <class T> using matrix = plx::array<T, 2>;

/// Numbers of a few bits, whose sums and products by powers of two are exact.
template <class T> matrix<T> numbers(std::int64_t rows, std::int64_t columns, int seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<T>(static_cast<float>((i * 37 + seed * 11) % 17 - 8) * 0.25f));
  return matrix<T>({rows, columns}, std::move(values));
}
/// base + scale * (x^T y), by plain loops.
template <class T>
std::vector<double> expected(const matrix<T>& base, double scale, const matrix<T>& x, const matrix<T>& y) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < base.shape(0); ++i)
    for (std::int64_t j = 0; j < base.shape(1); ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < x.shape(0); ++k)
        sum += static_cast<double>(static_cast<float>(x(k, i))) * static_cast<double>(static_cast<float>(y(k, j)));
      result.push_back(static_cast<double>(static_cast<float>(base(i, j))) + scale * sum);
    }
  return result;
}
template <class T> std::vector<double> values_of(const matrix<T>& x) {
  std::vector<double> values;
  for (const T value : x.to_vector()) values.push_back(static_cast<double>(static_cast<float>(value)));
  return values;
}

constexpr auto updated = [](auto w, auto x, auto y) { return w - 0.5 * plx::dot(plx::transpose(x), y); };
constexpr auto by_rate = [](auto w, auto x, auto y, auto rate) { return w - rate * plx::dot(plx::transpose(x), y); };
constexpr auto added = [](auto w, auto x, auto y) { return plx::dot(plx::transpose(x), y) + w; };
constexpr auto negated = [](auto w, auto x, auto y) { return w + -(plx::dot(plx::transpose(x), y) * 2) * 0.25; };
/// The same beside so many steps that they are read from the plan instead of being compiled into the call.
template <auto Function> struct with_more_steps {
  constexpr auto operator()(auto w, auto x, auto y, auto... more) const {
    auto sums = [](auto z) { return plx::cumsum(plx::cumsum(plx::cumsum(z, 0), 0), 0); };
    return std::pair(Function(w, x, y, more...), sums(sums(sums(sums(sums(sums(y)))))));
  }
};

// ---- What is one step ---------------------------------------------------------------------------------

struct facts {
  int accumulations = 0, products = 0, loops = 0;
  friend constexpr bool operator==(const facts&, const facts&) = default;
};
template <class Function, class... Arguments> constexpr facts lower(const Function&, const Arguments&...) {
  facts result;
  const auto plan = lowered::program(Function{}, Arguments{}...);
  for (const auto& step : plan[lowered::main_section(plan).steps]) {
    result.accumulations += step.kind == step_kind::accumulation;
    result.products += step.kind == step_kind::product;
    result.loops += step.kind == step_kind::kernel;
  }
  return result;
}
template <class T, int Rank> using dynamic = plx::detail::abstract_array<T, plx::detail::extents_of<Rank>, false>;
constexpr auto parameters = shaped<float, 16, 24>;
constexpr auto inputs = shaped<float, 8, 16>;
constexpr auto slopes = shaped<float, 8, 24>;
constexpr facts one_step{.accumulations = 1}, two_steps{.products = 1, .loops = 1};

static_assert(lower(updated, parameters, inputs, slopes) == one_step);
static_assert(lower(by_rate, parameters, inputs, slopes, shaped<float>) == two_steps); // a number that is loaded
static_assert(lower(added, parameters, inputs, slopes) == one_step);
static_assert(lower(negated, parameters, inputs, slopes) == one_step);
static_assert(lower(updated, dynamic<float, 2>{}, dynamic<float, 2>{}, dynamic<float, 2>{}) == one_step);
static_assert(lower(added, shaped<double, 16, 24>, shaped<double, 8, 16>, shaped<double, 8, 24>) == one_step);
// each of several is added to the sum of those before it
static_assert(lower([](auto a, auto b, auto c, auto d) { return plx::dot(a, b) + plx::dot(c, d); },
                    shaped<float, 16, 8>, slopes, shaped<float, 16, 8>,
                    slopes) == facts{.accumulations = 1, .products = 1});
// what is subtracted from, divided, squared, read twice, or added to something of another shape or type
static_assert(lower([](auto w, auto x, auto y) { return plx::dot(plx::transpose(x), y) - w; }, parameters, inputs,
                    slopes) == two_steps);
static_assert(lower([](auto w, auto x, auto y) { return w - plx::dot(plx::transpose(x), y) / 3.f; }, parameters, inputs,
                    slopes) == two_steps);
static_assert(lower([](auto w, auto x, auto y) { return w + plx::square(plx::dot(plx::transpose(x), y)); }, parameters,
                    inputs, slopes) == two_steps);
static_assert(lower(
                  [](auto w, auto x, auto y) {
                    auto z = plx::dot(plx::transpose(x), y);
                    return w + z * z;
                  },
                  parameters, inputs, slopes) == two_steps);
static_assert(lower([](auto w, auto x, auto y) { return w + 0.f * plx::dot(plx::transpose(x), y); }, parameters, inputs,
                    slopes)
                  .accumulations == 0);
static_assert(lower(added, shaped<float, 24>, inputs, slopes).accumulations == 0); // a bias, which is another epilogue
static_assert(lower([](auto w, auto x, auto y) { return w * 2.f + plx::dot(plx::transpose(x), y); }, parameters, inputs,
                    slopes) == two_steps);
// parameters that something reads before they are updated: their memory is the result's where they are given away
constexpr auto with_gradient = [](auto w, auto x, auto y) {
  auto slope = plx::dot(plx::transpose(x), y);
  auto back = plx::dot(y, plx::transpose(w));
  return std::pair(back, w - 0.5 * slope);
};
static_assert(lower(with_gradient, parameters, inputs, slopes) == facts{.products = 2, .loops = 1});

} // namespace

// ---- Values -------------------------------------------------------------------------------------------

namespace {

template <class T> void check_values(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  CAPTURE(rows, columns, depth, sizeof(T));
  const auto base = numbers<T>(rows, columns, 1), x = numbers<T>(depth, rows, 2), y = numbers<T>(depth, columns, 3);
  const auto before = base.to_vector();
  CHECK(values_of(matrix<T>(plx::jit(updated)(base, x, y))) == expected(base, -0.5, x, y));
  CHECK(values_of(matrix<T>(plx::jit(added)(base, x, y))) == expected(base, 1, x, y));
  CHECK(values_of(matrix<T>(plx::jit(negated)(base, x, y))) == expected(base, -0.5, x, y));
  CHECK(values_of(matrix<T>(std::get<0>(plx::jit(with_more_steps<updated>{})(base, x, y)))) ==
        expected(base, -0.5, x, y));
  CHECK(base.to_vector() == before);

  std::vector<T> memory(static_cast<std::size_t>(rows * columns));
  plx::jit(added)(base, x, y, plx::into(memory));
  CHECK(memory == plx::jit(added)(base, x, y).to_vector());

  matrix<T> given({rows, columns}, base.to_vector());
  const T* const address = given.data();
  const matrix<T> result = plx::jit(updated, plx::donate<0>)(given, x, y);
  CHECK(values_of(result) == expected(base, -0.5, x, y));
  if (rows * columns > 64) CHECK(result.data() == address);
}

} // namespace

TEST_CASE("products that are added to a matrix are the sums of plain loops") {
  for (const std::int64_t depth : {1, 8, 127, 128, 129, 200}) {
    check_values<float>(24, 40, depth);
    check_values<double>(24, 40, depth);
  }
  check_values<float>(1, 33, 20);
  check_values<float>(33, 1, 20);
  check_values<float>(1, 1, 20);
  check_values<float>(300, 500, 16); // cut for the threads
  check_values<float>(3, 2000, 64);
  check_values<float>(5, 7, 0);
}

// two loops that become one step with parts, before or behind the product that is added
TEST_CASE("products that are added stand beside loops of one step") {
  constexpr auto behind = [](auto a, auto b, auto... operands) {
    return std::tuple(a * 2.f, b + 1.f, updated(operands...));
  };
  constexpr auto before = [](auto a, auto b, auto... operands) {
    auto sum = updated(operands...);
    return std::tuple(sum, a * 2.f, b + 1.f);
  };
  const plx::array<float, 1> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  const auto base = numbers<float>(24, 40, 1), x = numbers<float>(9, 24, 2), y = numbers<float>(9, 40, 3);
  const auto sums = expected(base, -0.5, x, y);
  const auto [twice, next, last] = plx::jit(behind)(a, b, base, x, y);
  CHECK(twice.to_vector() == std::vector<float>{2, 4, 6, 8});
  CHECK(next.to_vector() == std::vector<float>{6, 7, 8, 9});
  CHECK(values_of(matrix<float>(last)) == sums);
  const auto [first, second, third] = plx::jit(before)(a, b, base, x, y);
  CHECK(values_of(matrix<float>(first)) == sums);
  CHECK(second.to_vector() == std::vector<float>{2, 4, 6, 8});
  CHECK(third.to_vector() == std::vector<float>{6, 7, 8, 9});
}

TEST_CASE("parameters that are read before they are updated are updated in place") {
  auto w = numbers<float>(24, 40, 1);
  const auto x = numbers<float>(9, 24, 2), y = numbers<float>(9, 40, 3);
  const auto wanted = expected(w, -0.5, x, y);
  const float* const address = w.data();
  const auto [back, next] = plx::jit(with_gradient, plx::donate<0>)(w, x, y);
  CHECK(values_of(matrix<float>(next)) == wanted);
  CHECK(matrix<float>(next).data() == address);
}

TEST_CASE("a factor that is loaded scales a product behind it") {
  const auto base = numbers<float>(24, 40, 1), x = numbers<float>(9, 24, 2), y = numbers<float>(9, 40, 3);
  for (const float rate : {0.25f, -2.f, 0.f}) {
    CAPTURE(rate);
    CHECK(values_of(matrix<float>(plx::jit(by_rate)(base, x, y, rate))) == expected(base, -double{rate}, x, y));
    CHECK(values_of(matrix<float>(plx::jit(by_rate)(base, x, y, plx::array<float, 0>(rate)))) ==
          expected(base, -double{rate}, x, y));
    const auto among_others = plx::jit([](auto before, auto left, auto right, auto rates) {
      return with_more_steps<by_rate>{}(before, left, right, plx::index_in_dim(rates, 1, 0));
    })(base, x, y, plx::array<float, 1>{7.f, rate});
    CHECK(values_of(matrix<float>(std::get<0>(among_others))) == expected(base, -double{rate}, x, y));
  }
}

TEST_CASE("a factor of 0 makes NaN of an infinite product that is added") {
  auto x = numbers<float>(9, 24, 2);
  x.mutable_data()[3] = std::numeric_limits<float>::infinity();
  const auto base = numbers<float>(24, 40, 1), y = numbers<float>(9, 40, 3);
  const matrix<float> direct = plx::jit(by_rate)(base, x, y, 0.f);
  const matrix<float> planned = std::get<0>(plx::jit(with_more_steps<by_rate>{})(base, x, y, 0.f));
  for (std::int64_t j = 0; j < 40; ++j) {
    CHECK(std::isnan(direct(3, j)));
    CHECK(std::isnan(planned(3, j)));
    CHECK(direct(4, j) == base(4, j));
  }
}

TEST_CASE("products of a batch and of 16 bits are added") {
  constexpr auto batched = plx::jit(plx::vmap(updated));
  constexpr std::int64_t count = 5, rows = 24, columns = 40, depth = 20;
  plx::array<float, 3> base({count, rows, columns}, numbers<float>(count * rows, columns, 1).to_vector());
  plx::array<float, 3> x({count, depth, rows}, numbers<float>(count * depth, rows, 2).to_vector());
  plx::array<float, 3> y({count, depth, columns}, numbers<float>(count * depth, columns, 3).to_vector());
  const plx::array<float, 3> result = batched(base, x, y);
  for (std::int64_t k = 0; k < count; ++k) {
    auto part = [k](const plx::array<float, 3>& of) {
      const std::int64_t size = of.shape(1) * of.shape(2);
      const float* const first = of.data() + k * size;
      return matrix<float>({of.shape(1), of.shape(2)}, std::vector<float>(first, first + size));
    };
    CHECK(values_of(part(result)) == expected(part(base), -0.5, part(x), part(y)));
  }
  check_values<plx::bfloat16>(24, 40, 2);
  check_values<plx::float16>(24, 40, 2);
}

} // namespace accumulation_test
