// The extents and strides of a matrix product. Plain code of compiled functions needs this and no more.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// result[b][i][j] = sum over k of left[b][i][k] * right[b][k][j]; strides in elements, each result row-major.
struct product_shape {
  element_type type = element_type::float32;
  int batch_rank = 0;
  std::int64_t batch[max_rank] = {}, left_batch[max_rank] = {}, right_batch[max_rank] = {};
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t left_row = 0, left_depth = 0, right_depth = 0, right_column = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
