// How products are put to cuBLASLt, without a GPU: a host loop that reads matrices as the library does stands for it.
#include <parallax/cuda/nvidia/products.cuh>

#include "support/test.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace products_test {

namespace {

using parallax::element_type;
using parallax::cuda::matrix_product;
using parallax::cuda::detail::library_product;
using parallax::cuda::detail::stored_matrix;

/// An element of a matrix that is stored in columns, transposed where the library is told so.
double element(const std::vector<double>& data, const stored_matrix& m, std::int64_t row, std::int64_t column) {
  if (m.operation == CUBLAS_OP_T) std::swap(row, column);
  REQUIRE((row < m.rows && column < m.columns && m.leading >= m.rows));
  return data.at(static_cast<std::size_t>(row + column * m.leading));
}

/// What the library computes: columns of the result are rows of ours.
std::vector<double> as_library(const matrix_product& p, const library_product& as, const std::vector<double>& left,
                               const std::vector<double>& right) {
  std::vector<double> result(static_cast<std::size_t>(p.rows * p.columns));
  for (std::int64_t column = 0; column < p.rows; ++column)
    for (std::int64_t row = 0; row < p.columns; ++row)
      for (std::int64_t k = 0; k < p.depth; ++k)
        result[static_cast<std::size_t>(row + column * p.columns)] +=
            element(right, as.first, row, k) * element(left, as.second, k, column);
  return result;
}

std::vector<double> as_meant(const matrix_product& p, const std::vector<double>& left,
                             const std::vector<double>& right) {
  std::vector<double> result(static_cast<std::size_t>(p.rows * p.columns));
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j)
      for (std::int64_t k = 0; k < p.depth; ++k)
        result[static_cast<std::size_t>(i * p.columns + j)] +=
            left.at(static_cast<std::size_t>(i * p.left_row + k * p.left_depth)) *
            right.at(static_cast<std::size_t>(k * p.right_depth + j * p.right_column));
  return result;
}

std::vector<double> counted(double from) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), from);
  return values;
}

} // namespace

TEST_CASE("what the library is told is the product that was meant") {
  const std::vector<double> left = counted(1), right = counted(100);
  for (std::int64_t rows : {1, 2, 5})
    for (std::int64_t columns : {1, 3, 4})
      for (std::int64_t depth : {1, 2, 6})
        for (bool left_transposed : {false, true})
          for (bool right_transposed : {false, true})
            for (std::int64_t gap : {0, 7}) {
              matrix_product p;
              p.rows = rows, p.columns = columns, p.depth = depth;
              p.left_row = left_transposed ? 1 : depth + gap, p.left_depth = left_transposed ? rows + gap : 1;
              p.right_depth = right_transposed ? 1 : columns + gap, p.right_column = right_transposed ? depth + gap : 1;
              INFO(rows << " x " << depth << " x " << columns << (left_transposed ? ", left transposed" : "")
                        << (right_transposed ? ", right transposed" : "") << ", gap " << gap);
              const auto as = library_product::of(p);
              REQUIRE(as);
              CHECK(as_library(p, *as, left, right) == as_meant(p, left, right));
            }
}

TEST_CASE("products that the library does not do") {
  matrix_product p;
  p.rows = p.columns = p.depth = p.left_row = p.right_depth = 8;
  CHECK(library_product::of(p));
  for (element_type type : {element_type::boolean, element_type::uint8, element_type::int32, element_type::uint64}) {
    p.type = type;
    CHECK_FALSE(library_product::of(p));
  }
  for (element_type type : {element_type::float64, element_type::float16, element_type::bfloat16}) {
    p.type = type;
    CHECK(library_product::of(p));
  }
  CHECK(parallax::cuda::detail::library_type(element_type::float16) == CUDA_R_16F);
  CHECK(parallax::cuda::detail::library_type(element_type::bfloat16) == CUDA_R_16BF);
  matrix_product long_one = p;
  long_one.rows = std::int64_t{1} << 31;
  CHECK_FALSE(library_product::of(long_one));
  p.left_row = 0;
  CHECK_FALSE(library_product::of(p));
}

TEST_CASE("a matrix as the library sees it") {
  auto plain = stored_matrix::of(3, 5, 1, 7);
  REQUIRE(plain);
  CHECK((plain->operation == CUBLAS_OP_N && plain->rows == 3 && plain->columns == 5 && plain->leading == 7));
  auto transposed = stored_matrix::of(3, 5, 9, 1);
  REQUIRE(transposed);
  CHECK((transposed->operation == CUBLAS_OP_T && transposed->rows == 5 && transposed->columns == 3 &&
         transposed->leading == 9));
  CHECK(stored_matrix::of(1, 5, 100, 3)->leading == 3);
  CHECK(stored_matrix::of(4, 1, 1, 0)->leading == 4);
  CHECK(stored_matrix::of(1, 1, 0, 0)->leading == 1);
  CHECK(stored_matrix::of(4, 1, 6, 0)->operation == CUBLAS_OP_T);
  CHECK_FALSE(stored_matrix::of(4, 5, 2, 8));
  CHECK_FALSE(stored_matrix::of(4, 5, 1, 0));
  CHECK_FALSE(stored_matrix::of(4, 5, 1, 3));
}

TEST_CASE("the alignment of a batch is that of its worst matrix") {
  using parallax::cuda::detail::alignment_of;
  alignas(256) static float memory[64]; // more than 16 is as good as 16
  CHECK(alignment_of(memory, 1, 3, element_type::float32) == 16);
  CHECK(alignment_of(memory + 4, 1, 0, element_type::float32) == 16);
  CHECK(alignment_of(memory, 2, 6, element_type::float32) == 8);
  CHECK(alignment_of(memory, 2, 0, element_type::float32) == 16);
}

} // namespace products_test
