// Matrix products by plain loops.
#pragma once

#include "support/simulator/combine.hpp"
#include "support/simulator/epilogue.hpp"
#include "support/simulator/recorder.hpp"

#include <parallax/cuda/api/api.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace simulator {

using parallax::cuda::matrix_product;

/// Bytes of workspace that `multiply` wants.
inline constexpr std::size_t workspace_bytes = 256;

namespace detail {

/// Announces a strided matrix, one contiguous line of elements at a time.
template <class Touch>
void touch_matrix(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column, const std::byte* data,
                  std::size_t element, const Touch& touch) {
  if (column != 1 && (row == 1 || (rows == 1 && columns != 1)))
    return touch_matrix(columns, rows, column, row, data, element, touch);
  if (column == 1 && row == columns) { // it has no gaps
    columns *= rows;
    rows = 1;
  }
  const auto size = static_cast<std::int64_t>(element);
  for (std::int64_t i = 0; i < rows; ++i)
    if (column == 1 || columns == 1) touch(data + i * row * size, static_cast<std::size_t>(columns) * element);
    else
      for (std::int64_t j = 0; j < columns; ++j) touch(data + (i * row + j * column) * size, element);
}

/// What a tensor core reads of a float: 11 significant bits.
inline float as_tf32(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  bits = (bits + 0xFFFU + (bits >> 13 & 1U)) & ~0x1FFFU;
  return x - x == 0 ? std::bit_cast<float>(bits) : x;
}

/// sum + x * y; integers wrap around, and of booleans it is whether either holds.
template <class T> T multiplied(T sum, T x, T y, bool boolean) {
  if constexpr (std::is_floating_point_v<T>) return sum + x * y;
  else if (boolean) return static_cast<T>(sum | (x & y));
  else {
    using wide = std::make_unsigned_t<T>;
    return added(sum, static_cast<T>(std::uint64_t{static_cast<wide>(x)} * std::uint64_t{static_cast<wide>(y)}));
  }
}

inline void multiply_tf32(const matrix_product& p, const float* left, const float* right, float* result) {
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.depth; ++k)
        sum +=
            as_tf32(left[i * p.left_row + k * p.left_depth]) * as_tf32(right[k * p.right_depth + j * p.right_column]);
      result[i * p.result_pitch() + j] = sum;
    }
}

/// The first loop is for the usual strides: compilers make vectors of it. 16-bit numbers are summed as floats.
template <class T> void multiply_one(const matrix_product& p, const T* left, const T* right, T* result) {
  constexpr bool widened = parallax::math::floating16_element<T>;
  using sum_type = std::conditional_t<widened, float, T>;
  const bool boolean = p.type == element_type::boolean;
  if constexpr (std::is_same_v<T, float>)
    if (p.precision == parallax::detail::product_precision::tensor_float_32)
      return multiply_tf32(p, left, right, result);
  std::vector<sum_type> sums(widened ? static_cast<std::size_t>(p.columns) : 0);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    T* const target = result + i * p.result_pitch();
    sum_type* line = nullptr;
    if constexpr (widened) line = sums.data();
    else line = target;
    for (std::int64_t j = 0; j < p.columns; ++j) line[j] = sum_type{};
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const sum_type factor = left[i * p.left_row + k * p.left_depth];
      const T* const other = right + k * p.right_depth;
      if (p.right_column == 1)
        for (std::int64_t j = 0; j < p.columns; ++j) line[j] = multiplied<sum_type>(line[j], factor, other[j], boolean);
      else
        for (std::int64_t j = 0; j < p.columns; ++j)
          line[j] = multiplied<sum_type>(line[j], factor, other[j * p.right_column], boolean);
    }
    if constexpr (widened)
      for (std::int64_t j = 0; j < p.columns; ++j) target[j] = T(line[j]);
  }
}

/// Element [b][i][j] of what lies as the result does.
inline std::int64_t place_in_result(const matrix_product& p, std::int64_t b, std::int64_t i, std::int64_t j) {
  return b * p.result_batch + i * p.result_pitch() + j;
}
/// What a product is added to, before the result is written, which may lie there.
template <class T> std::vector<T> base_of(const matrix_product& p, recorder& log) {
  std::vector<T> values;
  if (p.base == nullptr) return values;
  const T* const base = static_cast<const T*>(p.base);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const T* const row = base + place_in_result(p, b, i, 0);
      log.read(row, static_cast<std::size_t>(p.columns) * sizeof(T));
      values.insert(values.end(), row, row + p.columns);
    }
  return values;
}
template <class T> void add_to_base(const matrix_product& p, const std::vector<T>& base) {
  std::size_t next = 0;
  if (p.base == nullptr) return;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.rows; ++i)
      for (std::int64_t j = 0; j < p.columns; ++j) {
        T& result = static_cast<T*>(p.result)[place_in_result(p, b, i, j)];
        const double sum = static_cast<double>(base[next++]) + p.scale * static_cast<double>(result);
        result = T(sum);
      }
}

/// Whether one of the two strides is 1, as the seam demands.
inline bool has_unit_stride(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
  return row == 1 || column == 1 || (rows == 1 && columns == 1);
}

} // namespace detail

/// Computes the product, on memory that the device reaches. Faults where it breaks the seam's rules.
inline void multiply(const matrix_product& p, recorder& log);

/// Products of matrices at addresses, one by one.
inline void multiply_at_addresses(const matrix_product& p, recorder& log) {
  const auto batch = static_cast<std::size_t>(p.batch);
  log.read(p.addresses, 3 * batch * sizeof(void*));
  const auto is_multiple = [&](const void* first, const void* each, std::int64_t stride) {
    const auto distance = static_cast<const std::byte*>(each) - static_cast<const std::byte*>(first);
    const auto step = stride * static_cast<std::int64_t>(size_of(p.type));
    return step == 0 ? distance == 0 : distance % step == 0;
  };
  for (std::size_t b = 0; b < batch; ++b) {
    matrix_product one = p;
    one.batch = 1;
    one.addresses = nullptr;
    one.left = p.addresses[b], one.right = p.addresses[batch + b], one.result = p.addresses[2 * batch + b];
    if (!is_multiple(p.left, one.left, p.left_batch) || !is_multiple(p.right, one.right, p.right_batch) ||
        !is_multiple(p.result, one.result, p.result_batch))
      fail(name_of(log.who()), ": an address of a matrix is not where the strides say");
    multiply(one, log);
  }
}

inline void multiply(const matrix_product& p, recorder& log) {
  if (p.addresses != nullptr) return multiply_at_addresses(p, log);
  if (!detail::has_unit_stride(p.rows, p.depth, p.left_row, p.left_depth) ||
      !detail::has_unit_stride(p.depth, p.columns, p.right_depth, p.right_column))
    fail(name_of(log.who()), ": a matrix has no stride of 1");
  const std::size_t element = size_of(p.type);
  const auto at = [&](const void* data, std::int64_t offset) {
    return static_cast<const std::byte*>(data) + offset * static_cast<std::int64_t>(element);
  };
  const auto reads = [&](const void* data, std::size_t bytes) { log.read(data, bytes); };
  const auto writes = [&](const void* data, std::size_t bytes) { log.write(const_cast<void*>(data), bytes); };
  for (std::int64_t b = 0; b < p.batch; ++b) {
    if (p.rows > 0 && p.columns > 0) {
      detail::touch_matrix(p.rows, p.depth, p.left_row, p.left_depth, at(p.left, b * p.left_batch), element, reads);
      detail::touch_matrix(p.depth, p.columns, p.right_depth, p.right_column, at(p.right, b * p.right_batch), element,
                           reads);
    }
    detail::touch_matrix(p.rows, p.columns, p.result_pitch(), 1, at(p.result, b * p.result_batch), element, writes);
  }
  if (p.workspace != nullptr) log.write(p.workspace, workspace_bytes);
  with_type(p.type, [&](auto zero) {
    using value = decltype(zero);
    std::vector<value> base;
    if constexpr (parallax::math::floating_element<value>) base = detail::base_of<value>(p, log);
    for (std::int64_t b = 0; b < p.batch; ++b)
      detail::multiply_one(p, static_cast<const value*>(p.left) + b * p.left_batch,
                           static_cast<const value*>(p.right) + b * p.right_batch,
                           static_cast<value*>(p.result) + b * p.result_batch);
    if constexpr (parallax::math::floating_element<value>) detail::add_to_base(p, base);
    if constexpr (parallax::math::floating_element<value>)
      if (!p.epilogue.is_plain()) apply_epilogue<value>(p, log);
  });
}

} // namespace simulator
