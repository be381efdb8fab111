// What a matrix product on the host is called with.
#pragma once

#include <parallax/core/element_type.hpp>
#include <parallax/core/extents.hpp>

#include <cstdint>

namespace parallax::host {

/// result[b][i][j] = sum over k of left[b][i][k] * right[b][k][j]; strides in elements, the result is row-major.
struct product_arguments {
  element_type type = element_type::float32;
  int batch_rank = 0;
  std::int64_t batch[max_rank] = {}, left_batch[max_rank] = {}, right_batch[max_rank] = {};
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t left_row = 0, left_depth = 0, right_depth = 0, right_column = 0;
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
};

} // namespace parallax::host
