// Products of two matrices by CBLAS, whose sizes are of type int and whose long sums lose digits.
#pragma once

#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <cblas.h>

#include <algorithm>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// One matrix of a product.
template <class T> struct matrix {
  const T* data;
  std::int64_t row, column; ///< strides

  matrix at(std::int64_t i, std::int64_t j) const { return {data + i * row + j * column, row, column}; }
  matrix transposed() const { return {data, column, row}; }
};

/// result[i][j] = sum over k of left[i][k] * right[k][j]; the rows of the result are `result_row` elements apart. If
/// `is_added`, the sum is scaled and added to the result, or to `base`, whose rows are as far apart.
template <class T> struct blas_product {
  std::int64_t rows, columns, depth;
  matrix<T> left, right;
  T* result;
  std::int64_t result_row;
  T scale = 1;
  bool is_added = false;
  const T* base = nullptr;
  bool is_narrow = false; ///< made without the library; the same for all parts of a product, whose bits depend on it

  blas_product some_rows(std::int64_t begin, std::int64_t count) const {
    blas_product part = *this;
    part.rows = count, part.left = left.at(begin, 0), part.result = result + begin * result_row;
    if (base != nullptr) part.base = base + begin * result_row;
    return part;
  }
  blas_product some_columns(std::int64_t begin, std::int64_t count) const {
    blas_product part = *this;
    part.columns = count, part.right = right.at(0, begin), part.result = result + begin;
    if (base != nullptr) part.base = base + begin;
    return part;
  }
  /// The product with its base copied into the result, to which it is then added.
  blas_product with_base_in_result() const {
    blas_product same = *this;
    for (std::int64_t i = 0; i < rows && base != nullptr; ++i)
      std::copy_n(base + i * result_row, columns, result + i * result_row);
    same.base = nullptr;
    return same;
  }
};

/// The limits of one call.
struct blas_limits {
  /// Extents and strides are ints.
  std::int64_t integer = INT_MAX;
  /// Long sums of floats of one sign lose digits: the sum of 4,194,304 equal ones is off by 1e-3 in OpenBLAS's dot and
  /// by 5e-5 in its product of matrices, which sums in blocks. So longer sums are put together in float64 from sums of
  /// at most this many elements: in products with a vector, and in others.
  std::int64_t depth_of_vector = 8192, depth = 65536;
  /// Elements of a result that are put together at a time.
  std::int64_t result = 1 << 18;
};

/// Calls `part(begin, count)` for pieces of at most `most` of the `extent` indices.
template <class Part> void in_pieces(std::int64_t extent, std::int64_t most, const Part& part) {
  for (std::int64_t begin = 0; begin < extent; begin += most) part(begin, std::min(most, extent - begin));
}

/// The product, put together from pieces of at most `most` of its depth. `one` makes a product.
template <class T, class One> void sum_in_pieces(const blas_product<T>& p, std::int64_t most, const One& one) {
  const auto count = static_cast<std::size_t>(p.rows * p.columns);
  scratch_array<double, 64> sums(count);
  scratch_array<T, 64> piece(count);
  std::fill(sums.begin(), sums.end(), 0.0);
  in_pieces(p.depth, most, [&](std::int64_t begin, std::int64_t length) {
    one(blas_product<T>{p.rows, p.columns, length, p.left.at(0, begin), p.right.at(begin, 0), piece.data(), p.columns});
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(piece[i]);
  });
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      const double sum = sums[static_cast<std::size_t>(i * p.columns + j)];
      T& result = p.result[i * p.result_row + j];
      result = static_cast<T>(p.is_added ? static_cast<double>(result) + static_cast<double>(p.scale) * sum : sum);
    }
}

/// The product from calls of `one` that are within the limits. None of its extents is 0.
template <class T, class One> void cut_product(const blas_product<T>& p, const blas_limits& most, const One& one) {
  const auto too_far = [&](std::int64_t stride) { return stride > most.integer; };
  const bool with_vector = p.rows == 1 || p.columns == 1;
  const bool steps_too_far = too_far(p.left.column) || too_far(p.right.row);
  const std::int64_t most_depth = steps_too_far ? 1 : with_vector ? most.depth_of_vector : most.depth;
  std::int64_t most_rows = too_far(p.left.row) || too_far(p.result_row) ? 1 : most.integer;
  std::int64_t most_columns = too_far(p.right.column) ? 1 : most.integer;
  if (p.depth > most_depth) {
    most_columns = std::min(most_columns, most.result);
    most_rows = std::clamp<std::int64_t>(most.result / std::min(p.columns, most_columns), 1, most_rows);
  }
  const auto again = [&](const blas_product<T>& part) { cut_product(part, most, one); };
  if (p.rows > most_rows)
    in_pieces(p.rows, most_rows, [&](std::int64_t begin, std::int64_t n) { again(p.some_rows(begin, n)); });
  else if (p.columns > most_columns)
    in_pieces(p.columns, most_columns, [&](std::int64_t begin, std::int64_t n) { again(p.some_columns(begin, n)); });
  else if (p.depth > most_depth) sum_in_pieces(p.with_base_in_result(), most_depth, one);
  else one(p);
}

/// A matrix as CBLAS takes it: transposed or not, and the stride of its rows.
struct layout {
  CBLAS_TRANSPOSE transpose;
  int leading;
};
template <class T> layout layout_of(const matrix<T>& m, std::int64_t rows, std::int64_t columns) {
  if (m.column == 1 || columns == 1) {
    std::int64_t leading = rows > 1 ? m.row : columns;
    if (m.column == 1 || rows == 1 || m.row >= 1)
      return {CblasNoTrans, static_cast<int>(leading > columns ? leading : columns)};
  }
  std::int64_t leading = columns > 1 ? m.column : rows;
  return {CblasTrans, static_cast<int>(leading > rows ? leading : rows)};
}

/// Elements that lie `step` apart.
template <class T> struct strided_vector {
  T* data;
  int step;
};

/// y = scale * a * x + kept * y for a matrix of `rows` times `columns`.
template <std::floating_point T>
void call_gemv(const matrix<T>& a, int rows, int columns, strided_vector<const T> x, T scale, T kept,
               strided_vector<T> y) {
  const layout l = layout_of(a, rows, columns);
  const bool stored_as_is = l.transpose == CblasNoTrans;
  const int m = stored_as_is ? rows : columns, n = stored_as_is ? columns : rows;
  if constexpr (sizeof(T) == 4)
    cblas_sgemv(CblasRowMajor, l.transpose, m, n, scale, a.data, l.leading, x.data, x.step, kept, y.data, y.step);
  else cblas_dgemv(CblasRowMajor, l.transpose, m, n, scale, a.data, l.leading, x.data, x.step, kept, y.data, y.step);
}

/// One call of CBLAS: all numbers are ints. Strides along extents of 1 mean nothing.
template <std::floating_point T> void call_blas(const blas_product<T>& p) {
  const auto m = static_cast<int>(p.rows), n = static_cast<int>(p.columns), k = static_cast<int>(p.depth);
  const auto left_step = static_cast<int>(k > 1 ? p.left.column : 1);
  const auto right_step = static_cast<int>(k > 1 ? p.right.row : 1);
  const auto result_row = static_cast<int>(m > 1 ? p.result_row : n);
  const T scale = p.is_added ? p.scale : T{1}, kept = p.is_added ? T{1} : T{0};
  if (n == 1 && m == 1) {
    T sum;
    if constexpr (sizeof(T) == 4) sum = cblas_sdot(k, p.left.data, left_step, p.right.data, right_step);
    else sum = cblas_ddot(k, p.left.data, left_step, p.right.data, right_step);
    *p.result = p.is_added ? *p.result + scale * sum : sum;
  } else if (n == 1) {
    call_gemv(p.left, m, k, {p.right.data, right_step}, scale, kept, {p.result, result_row});
  } else if (m == 1) {
    call_gemv(p.right.transposed(), n, k, {p.left.data, left_step}, scale, kept, {p.result, 1});
  } else {
    const layout left = layout_of(p.left, m, k), right = layout_of(p.right, k, n);
    if constexpr (sizeof(T) == 4)
      cblas_sgemm(CblasRowMajor, left.transpose, right.transpose, m, n, k, scale, p.left.data, left.leading,
                  p.right.data, right.leading, kept, p.result, result_row);
    else
      cblas_dgemm(CblasRowMajor, left.transpose, right.transpose, m, n, k, scale, p.left.data, left.leading,
                  p.right.data, right.leading, kept, p.result, result_row);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
