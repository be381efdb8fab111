// The dimensions that are reduced, for reductions along rows and down columns.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// The dimensions of a reduction: kept ones, then reduced ones; the innermost of the loop stays apart.
struct reduction_shape {
  int kept[max_rank] = {}, reduced[max_rank] = {};
  int kept_count = 0, reduced_count = 0;
  std::int64_t kept_size = 1, reduced_size = 1;
  std::int64_t length = 1; ///< of the innermost dimension

  explicit reduction_shape(const kernel_arguments& a) {
    for (int d = 0; d + 1 < a.rank; ++d) {
      if (a.reduced >> d & 1U) reduced[reduced_count++] = d, reduced_size *= a.extents[d];
      else kept[kept_count++] = d, kept_size *= a.extents[d];
    }
    if (a.rank > 0) length = a.extents[a.rank - 1];
  }
  /// Sets the coordinates of the given dimensions to those of row-major number `number`.
  static void locate(const kernel_arguments& a, const int* dimensions, int count, std::int64_t number,
                     std::int64_t* position) {
    for (int i = count; i-- > 0;) {
      position[dimensions[i]] = number % a.extents[dimensions[i]];
      number /= a.extents[dimensions[i]];
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
