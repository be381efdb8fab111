// Matrix products on the host: CBLAS for floating types, plain loops for integers.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/worker_pool.hpp>
#include <parallax/host/kernels/products/blas.hpp>
#include <parallax/host/kernels/products/dot.hpp>
#include <parallax/host/kernels/products/library_call.hpp>
#include <parallax/host/kernels/products/matrix_vector.hpp>
#include <parallax/host/kernels/products/narrow_product.hpp>
#include <parallax/host/kernels/products/one_blas_thread.hpp>
#include <parallax/host/kernels/products/plain_product.hpp>
#include <parallax/host/kernels/products/product_arguments.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/math/scalar_math.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

template <class T> void multiply(const blas_product<T>& whole) {
  if (whole.rows == 0 || whole.columns == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (whole.depth > 0) return cut_product(whole, {}, multiply_within_limits<T>);
  }
  const blas_product<T> p = whole.with_base_in_result();
  for (std::int64_t i = 0; i < p.rows; ++i)
    for (std::int64_t j = 0; j < p.columns; ++j) {
      T sum{};
      for (std::int64_t k = 0; k < p.depth; ++k)
        sum = math::add(sum, math::mul(*p.left.at(i, k).data, *p.right.at(k, j).data));
      T& result = p.result[i * p.result_row + j];
      if (!p.is_added) result = sum;
      else if constexpr (std::is_floating_point_v<T>) result += p.scale * sum;
    }
}

/// Parts of neighbouring matrices of a product: the addresses of the first one's operands and result, the extents of
/// each matrix, the number of matrices, and the distances between their operands, in elements.
struct product_run {
  const std::byte *left, *right;
  std::byte* result;
  const std::byte* base; ///< null if there is none
  std::int64_t rows, columns;
  std::int64_t count, left_step, right_step;
};

template <class T> void multiply_one(const product_arguments& p, const product_run& run) {
  const matrix<T> left{reinterpret_cast<const T*>(run.left), p.left_row, p.left_depth};
  const matrix<T> right{reinterpret_cast<const T*>(run.right), p.right_depth, p.right_column};
  T* const result = reinterpret_cast<T*>(run.result);
  const T* const base = run.base == run.result ? nullptr : reinterpret_cast<const T*>(run.base);
  blas_product<T> product{p.rows, p.columns, p.depth, left, right, result, p.columns};
  if constexpr (std::is_floating_point_v<T>) product.is_narrow = narrow_product<T>::serves(product);
  product.rows = run.rows, product.columns = run.columns;
  product.scale = static_cast<T>(p.scale), product.is_added = run.base != nullptr, product.base = base;
  multiply<T>(product);
}
template <class T> void multiply_all(const product_arguments& p, product_run run) {
  [[maybe_unused]] const std::conditional_t<std::is_floating_point_v<T>, one_blas_thread, std::monostate> alone;
  const std::int64_t bytes = sizeof(T), result_step = p.rows * p.columns;
  for (; run.count > 0; --run.count) {
    multiply_one<T>(p, run);
    run.left += run.left_step * bytes, run.right += run.right_step * bytes, run.result += result_step * bytes;
    if (run.base != nullptr) run.base += result_step * bytes;
  }
}
/// Whether a product is one of contiguous rows or columns with a contiguous vector.
inline bool is_by_vector(const product_arguments& p) {
  return (p.rows == 1 || p.columns == 1) && (p.depth == 1 || (p.left_depth == 1 && p.right_depth == 1));
}
/// Multiplies without the library: whole matrices, or some of the rows or columns that meet a vector.
template <class T> void multiply_all_here(const product_arguments& p, product_run run) {
  const T* left = reinterpret_cast<const T*>(run.left);
  const T* right = reinterpret_cast<const T*>(run.right);
  T* result = reinterpret_cast<T*>(run.result);
  const bool by_vector = is_by_vector(p), are_dots = by_vector && p.rows == 1 && p.columns == 1;
  for (; run.count > 0; --run.count) {
    if (are_dots) *result = dot(left, right, p.depth);
    else if (!by_vector) plain_matrices<T>{left, right, result, p}.multiply();
    else if (p.columns == 1) multiply_by_vector(left, p.left_row, run.rows, right, p.depth, result);
    else multiply_by_vector(right, p.right_column, run.columns, left, p.depth, result);
    left += run.left_step, right += run.right_step, result += p.rows * p.columns;
  }
}
/// Whether no library is called: for small matrices, and for products that are faster here.
inline bool needs_no_library(const product_arguments& p) {
  if (p.base != nullptr) return false;
  if (is_by_vector(p)) return true;
  constexpr std::int64_t most = 16;
  return p.rows <= most && p.columns <= most && p.depth <= most && p.columns > 1 && p.right_column == 1;
}

/// The functions that compute products of one type.
struct product_kind {
  using function = void (*)(const product_arguments&, product_run);
  function multiply;
  function multiply_here; ///< without the library; null if `multiply` does not call it either
  std::int64_t element_bytes;
};
template <class T> constexpr product_kind product_kind_of() {
  if constexpr (std::is_floating_point_v<T>) return {&multiply_all<T>, &multiply_all_here<T>, sizeof(T)};
  else return {&multiply_all<T>, nullptr, sizeof(T)};
}

/// Calls `work`, within a `library_call` if it calls the library.
template <class Work> void in_library(bool calls_library, const Work& work) {
  if (!calls_library) return work();
  const library_call lasting;
  work();
}

/// Computes a product, in pieces for the threads.
inline void run_product(const product_arguments& p, const product_kind& kind) {
  std::int64_t count = 1;
  for (int d = 0; d < p.batch_rank; ++d) count *= p.batch[d];
  const bool is_here = kind.multiply_here != nullptr && needs_no_library(p);
  const bool calls_library = kind.multiply_here != nullptr && !is_here;
  const product_kind::function multiply = is_here ? kind.multiply_here : kind.multiply;
  const double work = static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.depth);
  // some rows and columns of matrix `number` and of those behind it
  auto run = [&](std::int64_t number, std::int64_t matrices, std::int64_t row_begin, std::int64_t row_end,
                 std::int64_t column_begin, std::int64_t column_end) {
    std::int64_t left = row_begin * p.left_row, right = column_begin * p.right_column, rest = number;
    for (int d = p.batch_rank; d-- > 0;) {
      left += rest % p.batch[d] * p.left_batch[d];
      right += rest % p.batch[d] * p.right_batch[d];
      rest /= p.batch[d];
    }
    const std::int64_t result = ((number * p.rows + row_begin) * p.columns + column_begin) * kind.element_bytes;
    const int inner = p.batch_rank - 1;
    multiply(p, {static_cast<const std::byte*>(p.left) + left * kind.element_bytes,
                 static_cast<const std::byte*>(p.right) + right * kind.element_bytes,
                 static_cast<std::byte*>(p.result) + result,
                 p.base == nullptr ? nullptr : static_cast<const std::byte*>(p.base) + result, row_end - row_begin,
                 column_end - column_begin, matrices, inner < 0 ? 0 : p.left_batch[inner],
                 inner < 0 ? 0 : p.right_batch[inner]});
  };
  auto several = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t inner = p.batch_rank > 0 ? p.batch[p.batch_rank - 1] : 1;
    in_library(calls_library, [&] {
      for (std::int64_t i = begin; i < end;) {
        const std::int64_t matrices = inner == 1 ? 1 : std::min(end - i, inner - i % inner);
        run(i, matrices, 0, p.rows, 0, p.columns);
        i += matrices;
      }
    });
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
      in_library(calls_library, [&] {
        if (by_rows) run(0, 1, begin, end, 0, p.columns);
        else run(0, 1, 0, p.rows, begin, end);
      });
    });
  }
}

/// Memory for so many floats.
inline buffer floats(std::int64_t count) { return buffer::allocate(static_cast<std::size_t>(count) * sizeof(float)); }
inline float* elements_of(const buffer& memory) { return reinterpret_cast<float*>(memory.data()); }

/// An operand as floats, its elements contiguous; along batch dimensions that repeat it, it is still repeated.
struct widened_operand {
  buffer memory;
  std::int64_t batch[max_rank] = {}, outer = 0, inner = 0; ///< strides

  template <floating16_element T>
  static widened_operand of(const T* data, int batch_rank, const std::int64_t* batch_extents,
                            const std::int64_t* batch_strides, std::int64_t outer_extent, std::int64_t outer_stride,
                            std::int64_t inner_extent, std::int64_t inner_stride) {
    widened_operand result;
    if (outer_stride == 1 && inner_stride != 1) { // read in the order of memory
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
  run_product(wide, product_kind_of<float>());
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
  switch (p.type) {
  case element_type::float16: return detail::run_widened<float16>(p);
  case element_type::bfloat16: return detail::run_widened<bfloat16>(p);
  case element_type::float32: return detail::run_product(p, detail::product_kind_of<float>());
  case element_type::float64: return detail::run_product(p, detail::product_kind_of<double>());
  case element_type::int32: return detail::run_product(p, detail::product_kind_of<std::int32_t>());
  case element_type::uint32: return detail::run_product(p, detail::product_kind_of<std::uint32_t>());
  case element_type::int64: return detail::run_product(p, detail::product_kind_of<std::int64_t>());
  case element_type::uint64: return detail::run_product(p, detail::product_kind_of<std::uint64_t>());
  case element_type::uint8: return detail::run_product(p, detail::product_kind_of<std::uint8_t>());
  case element_type::boolean: return detail::run_product(p, detail::product_kind_of<bool>());
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
