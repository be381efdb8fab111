// Which loops become one step because none of them needs another.
#include "support/test.hpp"

#include "compile/lowered.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace group_loops_test {

namespace plx = parallax;
using plx::compiled::step_kind, plx::shaped;

namespace {

/// The steps of the main section, in order: how many parts those have that have some, and 1 for others.
struct steps {
  int count = 0;
  std::array<int, 16> parts{};
  friend constexpr bool operator==(const steps&, const steps&) = default;
};
template <class... Parts> constexpr steps of(Parts... parts) {
  return {static_cast<int>(sizeof...(parts)), {parts...}};
}
template <class Function, class... Arguments> constexpr steps lower(const Function&, const Arguments&...) {
  steps result;
  const auto plan = lowered::program(Function{}, Arguments{}...);
  for (const auto& step : plan[lowered::main_section(plan).steps])
    result.parts[static_cast<std::size_t>(result.count++)] =
        step.kind == step_kind::launch_batch
            ? plan.template at<plx::compiled::launch_batch_step>(step.index).parts.count
            : 1;
  return result;
}

constexpr auto vector = shaped<float, 64>;
constexpr auto longer = shaped<float, 99>;
constexpr auto matrix = shaped<float, 32, 64>;
template <int Rank> using dynamic = plx::detail::abstract_array<float, plx::detail::extents_of<Rank>, false>;

// a tree's leaves are one, whatever their shapes, known or not
constexpr auto update = [](auto p, auto g) {
  return plx::tree_map([](auto each, auto by) { return each - 0.5f * by; }, p, g);
};
constexpr std::tuple leaves(vector, longer, matrix);
static_assert(lower(update, leaves, leaves) == of(3));
constexpr std::tuple open_leaves(dynamic<1>{}, dynamic<2>{}, dynamic<3>{});
static_assert(lower(update, open_leaves, open_leaves) == of(3));

// what needs a result stands behind it
constexpr auto chained = [](auto x, auto y) {
  auto total = plx::sum(x);
  return std::tuple{total, x * total, y * 2.f};
};
static_assert(lower(chained, vector, longer) == of(1, 2));
// one number is computed beside what comes first, or last
constexpr auto early = [](auto x, auto y, auto s) {
  auto doubled = x * 2.f;
  return std::tuple{doubled, plx::sum(y), plx::exp(s)};
};
static_assert(lower(early, vector, longer, shaped<float>) == of(2, 1));
constexpr auto late = [](auto x, auto y) {
  auto mean = plx::sum(x) / 3.f;
  auto product = plx::dot(plx::transpose(y), y);
  return std::tuple{mean, product, plx::exp(product)};
};
static_assert(lower(late, vector, matrix) == of(1, 1, 2));
constexpr auto needed = [](auto x, auto y) { return plx::exp(plx::sum(y * plx::sqrt(plx::sum(x)), 0)); };
static_assert(lower(needed, vector, matrix) == of(1, 1, 1, 1));
// rows and columns that are repeated, slices of rows and gathers are not told by an address and a count
constexpr auto repeated = [](auto x, auto y, auto row) { return std::pair{x + row, y * 2.f}; };
static_assert(lower(repeated, matrix, longer, vector) == of(1, 1));
constexpr auto parts_of_rows = [](auto x, auto y) {
  return std::pair{plx::slice_in_dim(x, 0, 3, 1, 1) * 2.f, y * 2.f};
};
static_assert(lower(parts_of_rows, matrix, longer) == of(1, 1));
// but a part of an array from some row on is
constexpr auto later_rows = [](auto x, auto y) { return std::pair{plx::slice_in_dim(x, 3, 9) * 2.f, y * 2.f}; };
static_assert(lower(later_rows, matrix, longer) == of(2));
// no more than so many kernels are compiled together
constexpr auto five = [](auto a, auto b, auto c, auto d, auto e) {
  return std::tuple{plx::exp(a), plx::log(b), plx::sin(c), plx::tanh(d), plx::cos(e)};
};
static_assert(lower(five, vector, longer, matrix, shaped<float, 7>, shaped<float, 8>) == of(4, 1));
// large results that take memory which others had before do not come earlier
constexpr auto memory = [](auto x, auto y) {
  auto first = plx::exp(x);
  auto product = plx::dot(first, plx::transpose(first));
  auto second = plx::exp(y);
  return std::pair{product, plx::dot(second, plx::transpose(second))};
};
static_assert(lower(memory, shaped<float, 64, 64>, shaped<float, 64, 65>) == of(1, 1, 1, 1));
static_assert(lower(memory, shaped<float, 4, 4>, shaped<float, 4, 5>) == of(2, 1, 1));

// reductions are one with one another
constexpr auto sums = [](auto x, auto y) { return std::tuple{plx::sum(x, 0), plx::sum(x * y, 0), plx::max(y)}; };
static_assert(lower(sums, matrix, matrix) == of(3));
constexpr auto positions = [](auto x, auto y) { return std::pair{plx::argmax(x), plx::sum(y)}; };
static_assert(lower(positions, vector, longer) == of(1, 1));

// two that read a value for the last time, of which neither may be written where that is
constexpr auto read_last = [](auto a, auto b) {
  auto t = plx::dot(a, b);
  auto x = t * 3.f, y = plx::slice_in_dim(t, 1, 48) - 1.f;
  return std::pair{plx::dot(x, b), plx::dot(y, b)};
};
static_assert(lower(read_last, shaped<float, 48, 48>, shaped<float, 48, 48>) == of(1, 2, 1, 1));

} // namespace

TEST_CASE("loops that read a value together leave it to each other") {
  constexpr std::size_t n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 5 % 7), b[i] = static_cast<float>(i * 3 % 5);
  const plx::array<float, 2> left({n, n}, a), right({n, n}, b);
  const auto [x, y] = plx::jit(read_last)(left, right);
  auto product = [](const std::vector<float>& u, const std::vector<float>& v) {
    std::vector<float> w(u.size());
    for (std::size_t i = 0; i < u.size(); ++i)
      for (std::size_t k = 0; k < n; ++k) w[i] += u[i / n * n + k] * v[k * n + i % n];
    return w;
  };
  std::vector<float> t = product(a, b), later(t.begin() + n, t.end());
  for (float& each : later) each -= 1;
  for (float& each : t) each *= 3;
  CHECK(std::ranges::equal(x.values(), product(t, b)));
  CHECK(std::ranges::equal(y.values(), product(later, b)));
}
TEST_CASE("loops that need nothing of one another") { SUCCEED("checked at compile time"); }

} // namespace group_loops_test
