// The batch dimensions of a product, merged as far as their strides allow.
#pragma once

#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <numeric>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Strides of matrices that follow one another.
struct row_major_strides {
  std::int64_t strides[max_rank + 1] = {};
  constexpr row_major_strides(int count, const std::int64_t* sizes) {
    std::int64_t next = 1;
    for (int d = count; d-- > 0; next *= sizes[d]) strides[d] = next;
  }
};

/// At least one dimension, the innermost first.
struct product_batches {
  int rank = 0;
  std::int64_t extents[max_rank + 1] = {}; ///< and strides:
  std::int64_t left[max_rank + 1] = {}, right[max_rank + 1] = {}, result[max_rank + 1] = {};
  std::int64_t all = 1; ///< matrices

  constexpr product_batches(int count, const std::int64_t* sizes, const std::int64_t* left_strides,
                            const std::int64_t* right_strides, const std::int64_t* result_strides) {
    for (int d = count; d-- > 0;) {
      all *= sizes[d];
      if (sizes[d] == 1) continue;
      auto goes_on = [&](const std::int64_t* strides, const std::int64_t* merged) {
        return strides[d] == merged[rank - 1] * extents[rank - 1];
      };
      if (rank > 0 && goes_on(left_strides, left) && goes_on(right_strides, right) && goes_on(result_strides, result)) {
        extents[rank - 1] *= sizes[d];
        continue;
      }
      extents[rank] = sizes[d];
      left[rank] = left_strides[d], right[rank] = right_strides[d], result[rank] = result_strides[d];
      ++rank;
    }
    if (rank == 0) extents[rank++] = 1;
  }
  /// For results that follow one another.
  constexpr product_batches(int count, const std::int64_t* sizes, const std::int64_t* left_strides,
                            const std::int64_t* right_strides)
      : product_batches(count, sizes, left_strides, right_strides, row_major_strides(count, sizes)) {}
  // nvcc 12.4 forgets a member of an object without a name
  constexpr product_batches(int count, const std::int64_t* sizes, const std::int64_t* left_strides,
                            const std::int64_t* right_strides, const row_major_strides& of_results)
      : product_batches(count, sizes, left_strides, right_strides, of_results.strides) {}

  /// The longest dimension: one call goes along it, for each position of the others.
  constexpr int strided() const {
    int longest = 0;
    for (int d = 1; d < rank; ++d)
      if (extents[d] > extents[longest]) longest = d;
    return longest;
  }
  constexpr std::int64_t calls() const { return all == 0 ? 0 : all / extents[strided()]; }

  /// The greatest common divisor of the strides of an operand: the distances between all its matrices are multiples of
  /// it.
  constexpr std::int64_t common(const std::int64_t* strides) const {
    std::int64_t divisor = 0;
    for (int d = 0; d < rank; ++d) divisor = std::gcd(divisor, strides[d]);
    return divisor;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
