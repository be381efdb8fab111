// The batch dimensions of a product, merged as far as their strides allow.
#pragma once

#include <parallax/core/extents.hpp>

#include <cstdint>

namespace parallax::cuda {

/// At least one dimension, the innermost first.
struct product_batches {
  int rank = 0;
  std::int64_t extents[max_rank + 1] = {}, left[max_rank + 1] = {}, right[max_rank + 1] = {}; ///< and strides
  std::int64_t all = 1;                                                                       ///< matrices

  constexpr product_batches(int count, const std::int64_t* sizes, const std::int64_t* left_strides,
                            const std::int64_t* right_strides) {
    for (int d = count; d-- > 0;) {
      all *= sizes[d];
      if (sizes[d] == 1) continue;
      const bool goes_on = rank > 0 && left_strides[d] == left[rank - 1] * extents[rank - 1] &&
                           right_strides[d] == right[rank - 1] * extents[rank - 1];
      if (goes_on) {
        extents[rank - 1] *= sizes[d];
        continue;
      }
      extents[rank] = sizes[d], left[rank] = left_strides[d], right[rank] = right_strides[d];
      ++rank;
    }
    if (rank == 0) extents[rank++] = 1;
  }
};

} // namespace parallax::cuda
