// Matrix products: small and narrow ones without the library, tiles and threads, and the digits of long sums.
#include <parallax/host/kernels/products/product.hpp>
#include <parallax/host/kernels/products/run_product.hpp>
#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <future>
#include <random>
#include <utility>
#include <vector>

namespace product_test {

namespace {

using namespace parallax;
using namespace parallax::detail;

std::vector<float> random_floats(std::size_t count, float least) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(least, least + 1);
  std::vector<float> elements(count);
  for (float& element : elements) element = distribution(generator);
  return elements;
}

/// The largest relative error of a product of `rows` times `depth` and `depth` times `columns` floats in [1000, 1001).
double error_of_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool left_in_rows,
                        bool right_in_rows) {
  const auto left = random_floats(static_cast<std::size_t>(rows * depth), 1000);
  const auto right = random_floats(static_cast<std::size_t>(depth * columns), 1000);
  std::vector<float> result(static_cast<std::size_t>(rows * columns));
  host::product_arguments p;
  p.rows = rows, p.columns = columns, p.depth = depth;
  p.left_row = left_in_rows ? depth : 1, p.left_depth = left_in_rows ? 1 : rows;
  p.right_depth = right_in_rows ? columns : 1, p.right_column = right_in_rows ? 1 : depth;
  p.left = left.data(), p.right = right.data(), p.result = result.data();
  host::run_product(p);
  double worst = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += static_cast<double>(left[static_cast<std::size_t>(i * p.left_row + k * p.left_depth)]) *
               static_cast<double>(right[static_cast<std::size_t>(k * p.right_depth + j * p.right_column)]);
      worst =
          std::max(worst, std::abs(static_cast<double>(result[static_cast<std::size_t>(i * columns + j)]) / sum - 1));
    }
  return worst;
}

} // namespace

namespace {

/// Batches of 2 x 3 products of small matrices beside plain loops, all numbers exact; operands repeat along one
/// dimension of the batch or lie across, as `order` says.
template <class T> bool are_exact_in_batches(std::int64_t rows, std::int64_t columns, std::int64_t depth, int order) {
  const bool left_in_rows = order % 2 == 0, right_in_rows = order / 2 % 2 == 0, repeats = order / 4 % 2 == 0;
  auto numbers = [](std::int64_t count, int step) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i * step % 13 - 6));
    return values;
  };
  const auto left = numbers(6 * rows * depth, 5), right = numbers(6 * depth * columns, 7);
  std::vector<T> result(static_cast<std::size_t>(6 * rows * columns) + 16, T{99});
  host::product_arguments p;
  p.type = sizeof(T) == 4 ? element_type::float32 : element_type::float64;
  p.batch_rank = 2;
  p.batch[0] = 2, p.batch[1] = 3;
  p.left_batch[0] = repeats ? 0 : 3 * rows * depth, p.left_batch[1] = rows * depth;
  p.right_batch[0] = 3 * depth * columns, p.right_batch[1] = repeats ? 0 : depth * columns;
  p.rows = rows, p.columns = columns, p.depth = depth;
  p.left_row = left_in_rows ? depth : 1, p.left_depth = left_in_rows ? 1 : rows;
  p.right_depth = right_in_rows ? columns : 1, p.right_column = right_in_rows ? 1 : depth;
  p.left = left.data(), p.right = right.data(), p.result = result.data();
  host::run_product(p);
  std::vector<T> expected;
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 3; ++b)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          T sum{};
          for (std::int64_t k = 0; k < depth; ++k)
            sum += left[static_cast<std::size_t>(a * p.left_batch[0] + b * p.left_batch[1] + i * p.left_row +
                                                 k * p.left_depth)] *
                   right[static_cast<std::size_t>(a * p.right_batch[0] + b * p.right_batch[1] + k * p.right_depth +
                                                  j * p.right_column)];
          expected.push_back(sum);
        }
  expected.resize(result.size(), T{99}); // nothing behind is written
  return result == expected;
}

} // namespace

TEST_CASE("batches of small products need no call for each") {
  for (const std::int64_t rows : {1, 2, 4, 5, 8, 13, 16, 17})
    for (const std::int64_t columns : {1, 3, 4, 8, 15, 16, 17})
      for (const std::int64_t depth : {0, 1, 2, 7, 16, 17, 33, 100})
        for (int order = 0; order < 8; ++order) {
          INFO(rows << " x " << depth << " x " << columns << ", order " << order);
          REQUIRE(are_exact_in_batches<float>(rows, columns, depth, order));
          REQUIRE(are_exact_in_batches<double>(rows, columns, depth, order));
        }
}

namespace {

enum class addition { none, there, elsewhere };

/// Whether a narrow product is right, all numbers exact; the result's rows are apart, and nothing beside them is
/// written. What is added to, which is there or elsewhere, gets twice the product.
template <class T>
bool is_exact_without_library(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool left_in_rows,
                              bool right_in_rows, addition to) {
  constexpr std::int64_t gap = 3;
  const auto numbers = [](std::int64_t count, int step) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(i * step % 13 - 6));
    return values;
  };
  const auto left = numbers(rows * depth, 5), right = numbers((depth + gap) * (columns + gap), 7);
  auto result = numbers(rows * (columns + gap), 3);
  auto expected = result;
  host::detail::blas_product<T> p{
      rows, columns, depth, {left.data(), depth, 1}, {right.data(), columns + gap, 1}, result.data(), columns + gap};
  if (!left_in_rows) p.left = {left.data(), 1, rows};
  if (!right_in_rows) p.right = {right.data(), 1, depth + gap};
  const auto base = numbers(rows * (columns + gap), 11);
  const bool is_added = to != addition::none;
  if (is_added) p.is_added = true, p.scale = 2;
  if (to == addition::elsewhere) p.base = base.data();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      T sum{};
      for (std::int64_t k = 0; k < depth; ++k) sum += *p.left.at(i, k).data * *p.right.at(k, j).data;
      const auto place = static_cast<std::size_t>(i * p.result_row + j);
      const T before = to == addition::elsewhere ? base[place] : expected[place];
      expected[place] = is_added ? before + 2 * sum : sum;
    }
  host::detail::narrow_product<T>(p).multiply();
  return result == expected;
}

} // namespace

TEST_CASE("narrow products without the library") {
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 16, 33})
    for (const std::int64_t columns : {1, 16, 31, 32, 100})
      for (const std::int64_t depth : {1, 31, 256, 257, 600})
        for (int order = 0; order < 4; ++order)
          for (const addition to : {addition::none, addition::there, addition::elsewhere}) {
            const bool left_in_rows = order % 2 == 0, right_in_rows = order / 2 == 0;
            INFO(rows << " x " << depth << " x " << columns << ' ' << order << ' ' << static_cast<int>(to));
            REQUIRE(is_exact_without_library<float>(rows, columns, depth, left_in_rows, right_in_rows, to));
            REQUIRE(is_exact_without_library<double>(rows, columns, depth, left_in_rows, right_in_rows, to));
          }
}

TEST_CASE("a product by tiles of our own has the same bits however it is cut for threads") {
  struct cut {
    std::int64_t rows, columns, depth, row, column;
    bool with_library;
  };
  for (const cut& of :
       {cut{64, 160, 700, 24, 48, false}, {2100, 96, 90, 1040, 80, false}, {256, 256, 1024, 128, 0, true}})
    for (const bool is_added : {false, true}) {
      const auto left = random_floats(static_cast<std::size_t>(of.rows * of.depth), 0);
      const auto right = random_floats(static_cast<std::size_t>(of.depth * of.columns), 0);
      const auto base = random_floats(static_cast<std::size_t>(of.rows * of.columns), 0);
      host::product_arguments p;
      p.rows = of.rows, p.columns = of.columns, p.depth = of.depth, p.scale = is_added ? -0.3 : 1;
      p.left_row = of.depth, p.left_depth = 1, p.right_depth = of.columns, p.right_column = 1;
      const auto bytes_of = [](const auto& of_floats) { return reinterpret_cast<const std::byte*>(of_floats.data()); };
      std::vector<float> whole(base.size()), parts(base.size());
      auto run = [&](std::vector<float>& to, std::int64_t row, std::int64_t rows, std::int64_t column,
                     std::int64_t columns) {
        const std::int64_t result = 4 * (row * of.columns + column);
        host::detail::multiply_one<float>(p, {bytes_of(left) + 4 * row * of.depth, bytes_of(right) + 4 * column,
                                              reinterpret_cast<std::byte*>(to.data()) + result,
                                              is_added ? bytes_of(base) + result : nullptr, rows, columns, 1, 0, 0});
      };
      run(whole, 0, of.rows, 0, of.columns);
      for (const auto& [row, rows] : {std::pair{std::int64_t{0}, of.row}, {of.row, of.rows - of.row}})
        for (const auto& [column, columns] :
             {std::pair{std::int64_t{0}, of.column}, {of.column, of.columns - of.column}})
          if (rows > 0 && columns > 0) run(parts, row, rows, column, columns);
      INFO(of.rows << " x " << of.depth << " x " << of.columns);
      if (!of.with_library) {
        const host::detail::blas_product<float> product{
            of.rows,      of.columns, of.depth, {left.data(), of.depth, 1}, {right.data(), of.columns, 1},
            whole.data(), of.columns};
        // with narrower registers the library makes it, whose sums depend on the number of rows
        if (host::detail::narrow_product<float>::serves(product)) REQUIRE(whole == parts);
        continue;
      }
      std::vector<float> calls = is_added ? base : std::vector<float>(base.size());
      for (const std::int64_t row : {std::int64_t{0}, of.row})
        host::detail::call_blas<float>({of.row,
                                        of.columns,
                                        of.depth,
                                        {left.data() + row * of.depth, of.depth, 1},
                                        {right.data(), of.columns, 1},
                                        calls.data() + row * of.columns,
                                        of.columns,
                                        static_cast<float>(p.scale),
                                        is_added});
      REQUIRE(calls == parts); // whose parts alone would do without the library
    }
}

#if defined(__GNUC__)
TEST_CASE("a product leaves the library's threads as they were, for the program's own calls") {
  if (openblas_set_num_threads == nullptr) return; // another library
  openblas_set_num_threads(3);
  const auto x = array<float, 2>::filled({200, 150}, 1.f), y = array<float, 2>::filled({150, 170}, 2.f);
  const auto batch = array<double, 3>::filled({6, 40, 40}, 1.);
  constexpr auto product = jit([](auto a, auto b) { return matmul(a, b); });
  CHECK(product(x, y)(199, 169) == 300);
  CHECK(openblas_get_num_threads() == 3);
  CHECK(product(batch, batch)(5, 39, 39) == 40);
  CHECK(openblas_get_num_threads() == 3);
  // of several threads none restores what another one still needs
  std::vector<std::future<bool>> threads;
  for (int t = 0; t < 3; ++t)
    threads.push_back(std::async(std::launch::async, [&] {
      bool alone = true;
      for (int k = 0; k < 200; ++k) {
        const host::one_blas_thread outer;
        alone = alone && product(x, y)(k, k % 170) == 300 && openblas_get_num_threads() == 1;
      }
      return alone;
    }));
  for (auto& each : threads) CHECK(each.get());
  CHECK(openblas_get_num_threads() == 3);
  {
    const host::one_blas_thread outer;
    openblas_set_num_threads(2); // by the program
  }
  CHECK(openblas_get_num_threads() == 2);
  openblas_set_num_threads(1);
  CHECK(product(x, y)(0, 0) == 300);
  CHECK(openblas_get_num_threads() == 1);
}
#endif

TEST_CASE("long sums of products are as exact as sums") {
  const std::int64_t depth = 1 << 20;
  CHECK(error_of_product(1, 1, depth, true, true) < 3e-7);
  for (const bool in_rows : {true, false}) {
    CHECK(error_of_product(3, 1, depth / 2, in_rows, true) < 3e-7);
    CHECK(error_of_product(1, 3, depth / 2, true, in_rows) < 3e-7);
    CHECK(error_of_product(19, 1, 8192, in_rows, true) < 1e-6); // several rows at a time
  }
  CHECK(error_of_product(3, 2, depth / 2, true, true) < 1e-6);
  CHECK(error_of_product(32, 64, 8192, true, true) < 2e-6); // narrow ones
  CHECK(error_of_product(10, 95, 100'000, true, true) < 2e-6);
  for (const bool in_rows : {true, false}) CHECK(error_of_product(2100, 64, 20, in_rows, !in_rows) < 1e-6);
}

} // namespace product_test
