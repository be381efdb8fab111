// Products of extents and strides beyond what CBLAS counts in, which are cut into pieces.
#include <parallax/host/kernels/products/product.hpp>
#include <parallax/host/kernels/products/run_product.hpp>

#include "support/test.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cut_product_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using host::detail::blas_limits;

using product = host::detail::blas_product<double>;

void multiply_plainly(const product& p) {
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.depth; ++k) sum += *p.left.at(i, k).data * *p.right.at(k, j).data;
      p.result[i * p.result_row + j] = sum;
    }
}

/// Strides count only along extents of more than 1.
bool is_within(std::int64_t extent, std::int64_t stride, const blas_limits& most) {
  return extent <= most.integer && (extent == 1 || stride <= most.integer);
}
bool is_within(const product& p, const blas_limits& most) {
  const bool with_vector = p.rows == 1 || p.columns == 1;
  return is_within(p.rows, p.left.row, most) && is_within(p.depth, p.left.column, most) &&
         is_within(p.depth, p.right.row, most) && is_within(p.columns, p.right.column, most) &&
         is_within(p.rows, p.result_row, most) && p.depth <= (with_vector ? most.depth_of_vector : most.depth);
}

/// Elements of small integers, each another one, so that sums of products are exact and no two are alike.
std::vector<double> numbers(std::size_t count) {
  std::vector<double> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<double>(i * i % 101) + static_cast<double>(i % 7);
  return elements;
}

/// Whether a product of these extents is right whose operands lie in rows, or columns, that are `apart` apart.
bool is_cut_well(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t apart, bool left_in_rows,
                 bool right_in_rows, const blas_limits& most) {
  const auto left = numbers(static_cast<std::size_t>((rows + depth) * apart));
  const auto right = numbers(static_cast<std::size_t>((columns + depth) * apart));
  const auto size = static_cast<std::size_t>(rows * apart);
  std::vector<double> result(size, -1), expected(size, -1);
  product p{rows, columns, depth, {left.data(), apart, 1}, {right.data(), apart, 1}, expected.data(), apart};
  if (!left_in_rows) p.left = p.left.transposed();
  if (!right_in_rows) p.right = p.right.transposed();
  multiply_plainly(p);
  p.result = result.data();
  bool within = true;
  host::detail::cut_product(p, most, [&](const product& piece) {
    within = within && is_within(piece, most);
    multiply_plainly(piece);
  });
  return within && result == expected;
}

} // namespace

TEST_CASE("products with extents and strides beyond the limits of a call are put together from pieces within them") {
  blas_limits most;
  most.depth_of_vector = 3, most.depth = 4, most.result = 6;
  for (most.integer = 9; most.integer < 30; most.integer += 20) // strides are beyond it, and are not
    for (std::int64_t rows : {1, 2, 9, 10, 25})
      for (std::int64_t columns : {1, 2, 9, 10, 25})
        for (std::int64_t depth : {1, 3, 4, 5, 9, 10})
          for (std::int64_t apart : {25, 26})
            for (int order = 0; order < 4; ++order) {
              INFO(rows << " x " << depth << " x " << columns << ", rows " << apart << " apart, order " << order);
              REQUIRE(is_cut_well(rows, columns, depth, apart, order % 2 == 0, order / 2 == 0, most));
            }
}

TEST_CASE("a product within the limits is one call") {
  int calls = 0;
  const auto count = [&](const product& p) { calls += p.rows == 100 && p.columns == 50 && p.depth == 8193; };
  host::detail::cut_product(product{100, 50, 8193, {nullptr, 8193, 1}, {nullptr, 50, 1}, nullptr, 50}, {}, count);
  CHECK(calls == 1);
}

TEST_CASE("a product may be deeper than an int") {
  const std::int64_t depth = (std::int64_t{1} << 31) + 8;
  const double half = 0.5, four = 4;
  double result = 0;
  host::product_arguments p; // steps of 0: one element is read again and again
  p.type = element_type::float64;
  p.depth = depth;
  p.left = &half, p.right = &four, p.result = &result;
  host::run_product(p);
  CHECK(result == 2 * static_cast<double>(depth));
}

} // namespace cut_product_test
