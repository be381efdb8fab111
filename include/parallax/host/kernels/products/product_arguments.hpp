// The arguments of a matrix product on the host.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The largest depth of a product that is added to a base while it is computed. Deeper products are summed in parts, so
/// that a base would be rounded several times.
inline constexpr std::int64_t most_accumulated_depth = 128;
/// Whether products of a type can be added to a base while they are computed: 16 bits are rounded from wider sums.
constexpr bool has_accumulation(element_type type) {
  return type == element_type::float32 || type == element_type::float64;
}

/// p[b][i][j] = sum over k of left[b][i][k] * right[b][k][j]; strides in elements, the result is row-major. The result
/// is p, or, with a base, base[b][i][j] + scale * p[b][i][j] in float32 or float64. The base may be the result itself.
struct product_arguments {
  element_type type = element_type::float32;
  int batch_rank = 0;
  std::int64_t batch[max_rank] = {}, left_batch[max_rank] = {}, right_batch[max_rank] = {};
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t left_row = 0, left_depth = 0, right_depth = 0, right_column = 0;
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
  const void* base = nullptr; ///< row-major
  double scale = 1;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
