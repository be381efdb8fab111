// Functions without a runtime: their values beside plain loops, their workspaces, and what they are called with.
#include <parallax/compiled_function.hpp>

#include "support/test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace compiled_function_test {

namespace {

namespace plx = parallax;
using plx::compiled_function;
using plx::shaped;

/// Numbers around 0, each another one.
template <class T = float> std::vector<T> numbers(std::size_t count, int seed = 1) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<T>(static_cast<double>(static_cast<int>(i) * (7 + seed) % 23 - 11) / 8);
  return result;
}

bool is_near(std::span<const float> got, const std::vector<double>& expected, double tolerance = 1e-5) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(static_cast<double>(got[i]) - expected[i]) <= tolerance * (1 + std::abs(expected[i])))) return false;
  return true;
}

/// rows x depth times depth x columns, of which the second may be given transposed.
std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b, std::size_t rows,
                            std::size_t columns, std::size_t depth, bool transposed = false) {
  std::vector<double> result(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < depth; ++k)
        result[i * columns + j] += static_cast<double>(a[i * depth + k]) *
                                   static_cast<double>(transposed ? b[j * depth + k] : b[k * columns + j]);
  return result;
}

constexpr auto plus_one = [](auto x) { return x + 1.f; };
constexpr compiled_function<plus_one, shaped<float, 3>> small;
constexpr compiled_function<plus_one, shaped<float>> of_scalar;

constexpr auto dot = [](auto a, auto b) { return plx::dot(a, b); };
constexpr auto dot_transposed = [](auto a, auto b) { return plx::dot(a, plx::transpose(b)); };
constexpr auto softmax = [](auto x) { return plx::softmax(plx::tanh(x) * 2.f, 1); };
constexpr auto sums = [](auto x) { return std::tuple{plx::sum(x, 0), plx::sum(x, 1), plx::max(x), plx::argmax(x, 1)}; };
constexpr auto loss = [](auto w, auto x) { return plx::sum(plx::square(plx::dot(x, w))); };

template <class F> std::vector<std::byte> workspace_of(const F&) {
  return std::vector<std::byte>(F::workspace_bytes + 1);
}
/// Calls with a workspace at an odd address.
template <class F, class... Memory> void call(const F& f, const Memory&... memory) {
  auto workspace = workspace_of(f);
  f(memory..., std::span<std::byte, F::workspace_bytes>(workspace.data() + 1, F::workspace_bytes));
}

} // namespace

TEST_CASE("a small function is called with pointers, arrays, spans or a number") {
  STATIC_REQUIRE(small.workspace_bytes == 0);
  STATIC_REQUIRE(small.argument_count == 1);
  STATIC_REQUIRE(small.result_count == 1);
  STATIC_REQUIRE(noexcept(small(std::declval<const float*>(), std::declval<float*>())));
  const float x[] = {1, 2, 3};
  float y[3] = {};
  small(x, y);
  CHECK((y[0] == 2 && y[1] == 3 && y[2] == 4));
  std::array<float, 3> z{};
  small(std::array<float, 3>{4, 5, 6}, z);
  CHECK(z == std::array<float, 3>{5, 6, 7});
  std::vector<float> v(3), w{7, 8, 9};
  small(w.data(), v.data());
  CHECK(v == std::vector<float>{8, 9, 10});
  small(std::span(std::as_const(w)).first<3>(), std::span(v).first<3>());
  CHECK(v == std::vector<float>{8, 9, 10});
  float number = 0;
  of_scalar(41.f, number);
  CHECK(number == 42.f);
}

TEST_CASE("arguments that are not used have their place, and results need not depend on any") {
  constexpr auto last = [](auto, auto, auto z) { return std::pair{z * 2.f, plx::ones({2})}; };
  constexpr compiled_function<last, shaped<double, 5>, shaped<std::int32_t, 2, 2>, shaped<float, 3>> f;
  const double a[5]{};
  const std::int32_t b[4]{};
  const float x[]{1, 2, 3};
  float y[3]{}, ones[2]{};
  f(a, b, x, y, ones);
  CHECK((y[0] == 2 && y[1] == 4 && y[2] == 6));
  CHECK((ones[0] == 1 && ones[1] == 1));
}

TEST_CASE("products that are no library's are right at all sizes") {
  auto check = [](auto f, auto g, std::size_t rows, std::size_t columns, std::size_t depth) {
    CAPTURE(rows, columns, depth);
    const auto a = numbers(rows * depth), b = numbers(depth * columns, 2), c = numbers(columns * depth, 3);
    std::vector<float> result(rows * columns);
    call(f, a.data(), b.data(), result.data());
    CHECK(is_near(result, product(a, b, rows, columns, depth)));
    call(g, a.data(), c.data(), result.data());
    CHECK(is_near(result, product(a, c, rows, columns, depth, true)));
  };
  check(compiled_function<dot, shaped<float, 3, 4>, shaped<float, 4, 5>>{},
        compiled_function<dot_transposed, shaped<float, 3, 4>, shaped<float, 5, 4>>{}, 3, 5, 4);
  check(compiled_function<dot, shaped<float, 21, 19>, shaped<float, 19, 37>>{},
        compiled_function<dot_transposed, shaped<float, 21, 19>, shaped<float, 37, 19>>{}, 21, 37, 19);
  check(compiled_function<dot, shaped<float, 4, 1300>, shaped<float, 1300, 16>>{},
        compiled_function<dot_transposed, shaped<float, 4, 1300>, shaped<float, 16, 1300>>{}, 4, 16, 1300);
}

TEST_CASE("loops, rows and reductions work in the caller's thread and workspace") {
  constexpr compiled_function<softmax, shaped<float, 7, 300>> f;
  STATIC_REQUIRE(f.workspace_bytes >= 300 * sizeof(float));
  const auto x = numbers(7 * 300);
  std::vector<float> y(x.size());
  call(f, x.data(), y.data());
  std::vector<double> expected;
  for (std::size_t row = 0; row < 7; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 300; ++i) sum += std::exp(2 * std::tanh(static_cast<double>(x[row * 300 + i])));
    for (std::size_t i = 0; i < 300; ++i)
      expected.push_back(std::exp(2 * std::tanh(static_cast<double>(x[row * 300 + i]))) / sum);
  }
  CHECK(is_near(y, expected));

  constexpr compiled_function<sums, shaped<float, 100, 30>> g;
  const auto z = numbers(3000);
  std::vector<float> columns(30), rows(100);
  std::vector<std::int32_t> where(100);
  float largest = 0;
  call(g, z.data(), columns.data(), rows.data(), &largest, where.data());
  std::vector<double> by_column(30), by_row(100);
  std::vector<std::int32_t> best(100);
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t j = 0; j < 30; ++j) {
      by_column[j] += static_cast<double>(z[i * 30 + j]);
      by_row[i] += static_cast<double>(z[i * 30 + j]);
      if (z[i * 30 + j] > z[i * 30 + static_cast<std::size_t>(best[i])]) best[i] = static_cast<std::int32_t>(j);
    }
  CHECK(is_near(columns, by_column));
  CHECK(is_near(rows, by_row));
  CHECK(largest == *std::max_element(z.begin(), z.end()));
  CHECK(where == best);
}

TEST_CASE("a gradient of a product is right, small and large") {
  auto check = [](auto f, std::size_t rows, std::size_t columns, std::size_t batch) {
    const auto w = numbers(rows * columns), x = numbers(batch * rows, 2);
    std::vector<float> gradient(w.size());
    call(f, w.data(), x.data(), gradient.data());
    const auto y = product(x, w, batch, columns, rows);
    std::vector<double> expected(w.size());
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t b = 0; b < batch; ++b)
          expected[i * columns + j] += 2 * static_cast<double>(x[b * rows + i]) * y[b * columns + j];
    CHECK(is_near(gradient, expected));
  };
  check(compiled_function<plx::grad(loss), shaped<float, 3, 2>, shaped<float, 4, 3>>{}, 3, 2, 4);
  check(compiled_function<plx::grad(loss), shaped<float, 40, 20>, shaped<float, 50, 40>>{}, 40, 20, 50);
}

TEST_CASE("several threads call the same function at once") {
  constexpr compiled_function<softmax, shaped<float, 7, 300>> f;
  const auto x = numbers(7 * 300);
  std::vector<float> alone(x.size());
  call(f, x.data(), alone.data());
  std::vector<std::vector<float>> results(4, std::vector<float>(x.size()));
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&x, &result] {
      for (int i = 0; i < 50; ++i) call(compiled_function<softmax, shaped<float, 7, 300>>{}, x.data(), result.data());
    });
  for (std::thread& each : threads) each.join();
  for (const auto& result : results) CHECK(result == alone);
}

} // namespace compiled_function_test
