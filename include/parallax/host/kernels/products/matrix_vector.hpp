// Products of a matrix whose rows are contiguous with a vector.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/products/dot.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// Some rows times a vector, in a register of partial sums for each.
template <std::floating_point T> struct rows_times_vector {
  static constexpr int width = register_bytes / static_cast<int>(sizeof(T)); ///< of a register
  static constexpr int rows = width < 8 ? width : 8;
  using part = vector<T, width>;

  const T* matrix;
  std::int64_t row_step;
  const T* right;
  std::int64_t depth;

  /// The products of `rows` rows from `first` on.
  PARALLAX_INLINE void multiply(std::int64_t first, T* result) const {
    part sums[std::size_t{rows}] = {};
    const T* const from = matrix + first * row_step;
    std::int64_t k = 0;
    for (; k + width <= depth; k += width) {
      const part factors = whole(right + k);
      PARALLAX_UNROLL(8)
      for (int r = 0; r < rows; ++r) sums[r] += whole(from + r * row_step + k) * factors;
    }
    if (const int rest = static_cast<int>(depth - k); rest > 0) {
      const part factors = load(right + k, rest).template part<0>();
      PARALLAX_UNROLL(8)
      for (int r = 0; r < rows; ++r) sums[r] += load(from + r * row_step + k, rest).template part<0>() * factors;
    }
    combine_each<T, width / 2, rows>(sums, [](part a, part b) { return a + b; }, result);
  }

 private:
  static PARALLAX_INLINE part whole(const T* from) {
    part result;
    __builtin_memcpy(&result, from, sizeof result);
    return result;
  }
};

/// result[i] = sum over k of matrix[i * row_step + k] * right[k].
template <std::floating_point T>
void multiply_by_vector(const T* matrix, std::int64_t row_step, std::int64_t rows, const T* right, std::int64_t depth,
                        T* result) {
  const rows_times_vector<T> several{matrix, row_step, right, depth};
  std::int64_t i = 0;
  if (depth <= terms_of_dot)
    for (; i + several.rows <= rows; i += several.rows) several.multiply(i, result + i);
  for (; i < rows; ++i) result[i] = dot(matrix + i * row_step, right, depth);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
