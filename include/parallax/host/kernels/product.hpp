// Matrix products on the host: CBLAS for floating types, plain loops for integers.
#pragma once

#include <parallax/arrays/buffer.hpp>
#include <parallax/core/element_type.hpp>
#include <parallax/core/extents.hpp>
#include <parallax/host/devices/worker_pool.hpp>
#include <parallax/host/kernels/blas.hpp>
#include <parallax/host/kernels/library_call.hpp>
#include <parallax/host/kernels/product_arguments.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/host/simd/registers.hpp>
#include <parallax/math/scalar_math.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

template <class T> void multiply(const matrix_product<T>& p) {
  if (p.rows == 0 || p.columns == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (p.depth > 0) return cut_product(p, {}, call_blas<T>);
  }
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      T sum{};
      for (std::int64_t k = 0; k < p.depth; ++k)
        sum = math::add(sum, math::mul(*p.left.at(i, k).data, *p.right.at(k, j).data));
      p.result[i * p.result_row + j] = sum;
    }
}

/// Lasts while CBLAS is called for elements of type `T`, which it is not for integers.
template <class T> struct blas_call {};
template <std::floating_point T> struct blas_call<T> : library_call {};

template <class T> void run_product(const product_arguments& p) {
  std::int64_t count = 1;
  for (int d = 0; d < p.batch_rank; ++d) count *= p.batch[d];
  double work = static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.depth);
  auto one = [&](std::int64_t number, std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                 std::int64_t column_end) {
    std::int64_t left = 0, right = 0, rest = number;
    for (int d = p.batch_rank; d-- > 0;) {
      left += rest % p.batch[d] * p.left_batch[d];
      right += rest % p.batch[d] * p.right_batch[d];
      rest /= p.batch[d];
    }
    matrix<T> a{static_cast<const T*>(p.left) + left + row_begin * p.left_row, p.left_row, p.left_depth};
    matrix<T> b{static_cast<const T*>(p.right) + right + column_begin * p.right_column, p.right_depth, p.right_column};
    T* c = static_cast<T*>(p.result) + (number * p.rows + row_begin) * p.columns + column_begin;
    multiply<T>({row_end - row_begin, column_end - column_begin, p.depth, a, b, c, p.columns});
  };
  auto several = [&](std::int64_t begin, std::int64_t end) {
    [[maybe_unused]] const blas_call<T> lasting;
    for (std::int64_t i = begin; i < end; ++i) one(i, 0, p.rows, 0, p.columns);
  };
  constexpr double worth_a_thread = 1 << 18; // multiply-adds
  if (work * static_cast<double>(count) < 2 * worth_a_thread) {
    several(0, count);
  } else if (count > 1) {
    parallel_for(count, static_cast<std::int64_t>(worth_a_thread / (work + 1)) + 1, several);
  } else {
    // one piece per thread: every piece packs the operand that is not cut
    bool by_rows = p.rows >= p.columns;
    std::int64_t length = by_rows ? p.rows : p.columns, threads = worker_pool::instance().threads();
    std::int64_t piece = ((length + threads - 1) / threads + 15) / 16 * 16;
    parallel_for(length, piece, [&](std::int64_t begin, std::int64_t end) {
      [[maybe_unused]] const blas_call<T> lasting;
      if (by_rows) one(0, begin, end, 0, p.columns);
      else one(0, 0, p.rows, begin, end);
    });
  }
}

/// Memory for so many floats.
inline buffer floats(std::int64_t count) { return buffer::allocate(static_cast<std::size_t>(count) * sizeof(float)); }
inline float* elements_of(const buffer& memory) { return reinterpret_cast<float*>(memory.data()); }

/// An operand as floats, all its elements one after another; batch dimensions along which it repeats stay repeated.
struct widened_operand {
  buffer memory;
  std::int64_t batch[max_rank] = {}, outer = 0, inner = 0; ///< strides

  template <floating16_element T>
  static widened_operand of(const T* data, int batch_rank, const std::int64_t* batch_extents,
                            const std::int64_t* batch_strides, std::int64_t outer_extent, std::int64_t outer_stride,
                            std::int64_t inner_extent, std::int64_t inner_stride) {
    widened_operand result;
    if (outer_stride == 1 && inner_stride != 1) { // read in the order in which it lies
      result =
          of(data, batch_rank, batch_extents, batch_strides, inner_extent, inner_stride, outer_extent, outer_stride);
      std::swap(result.outer, result.inner);
      return result;
    }
    result.outer = inner_extent, result.inner = 1;
    std::int64_t rows = outer_extent, extents[max_rank] = {};
    for (int d = batch_rank; d-- > 0;) {
      result.batch[d] = batch_strides[d] == 0 ? 0 : rows * inner_extent;
      extents[d] = batch_strides[d] == 0 ? 1 : batch_extents[d];
      rows *= extents[d];
    }
    result.memory = floats(rows * inner_extent);
    float* const elements = elements_of(result.memory);
    parallel_for(rows, 1 + (1 << 16) / (1 + inner_extent), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        std::int64_t rest = row / outer_extent, offset = row % outer_extent * outer_stride;
        for (int d = batch_rank; d-- > 0;) {
          offset += rest % extents[d] * batch_strides[d];
          rest /= extents[d];
        }
        widen_row(data + offset, inner_stride, elements + row * inner_extent, inner_extent);
      }
    });
    return result;
  }

 private:
  template <class T> static void widen_row(const T* from, std::int64_t stride, float* to, std::int64_t count) {
    std::int64_t i = 0;
    if (stride == 1)
      for (; i + lanes <= count; i += lanes) store(to + i, widened(load(from + i)));
    for (; i < count; ++i) to[i] = static_cast<float>(from[i * stride]);
  }
};

/// Products of 16 bits are made as floats, and rounded at the end.
template <floating16_element T> void run_widened(const product_arguments& p) {
  auto left = widened_operand::of(static_cast<const T*>(p.left), p.batch_rank, p.batch, p.left_batch, p.rows,
                                  p.left_row, p.depth, p.left_depth);
  auto right = widened_operand::of(static_cast<const T*>(p.right), p.batch_rank, p.batch, p.right_batch, p.depth,
                                   p.right_depth, p.columns, p.right_column);
  product_arguments wide = p;
  std::int64_t count = p.rows * p.columns;
  for (int d = 0; d < p.batch_rank; ++d) {
    wide.left_batch[d] = left.batch[d], wide.right_batch[d] = right.batch[d];
    count *= p.batch[d];
  }
  const buffer result = floats(count);
  wide.type = element_type::float32;
  wide.left_row = left.outer, wide.left_depth = left.inner;
  wide.right_depth = right.outer, wide.right_column = right.inner;
  wide.left = elements_of(left.memory), wide.right = elements_of(right.memory), wide.result = elements_of(result);
  run_product<float>(wide);
  const float* from = elements_of(result);
  T* to = static_cast<T*>(p.result);
  parallel_for(count, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) store(to + i, rounded<T>(load(from + i)));
    for (; i < end; ++i) to[i] = T(from[i]);
  });
}

} // namespace detail

/// Makes a product with this file's registers.
inline void make_product(const product_arguments& p) {
  detail::use_one_blas_thread();
  switch (p.type) {
  case element_type::float16: return detail::run_widened<float16>(p);
  case element_type::bfloat16: return detail::run_widened<bfloat16>(p);
  case element_type::float32: return detail::run_product<float>(p);
  case element_type::float64: return detail::run_product<double>(p);
  case element_type::int32: return detail::run_product<std::int32_t>(p);
  case element_type::uint32: return detail::run_product<std::uint32_t>(p);
  case element_type::int64: return detail::run_product<std::int64_t>(p);
  case element_type::uint64: return detail::run_product<std::uint64_t>(p);
  case element_type::uint8: return detail::run_product<std::uint8_t>(p);
  case element_type::boolean: return detail::run_product<bool>(p);
  }
}

} // namespace parallax::host::inline PARALLAX_REGISTERS
