// A program's matrix products as calls of the library: batch dimensions merged as far as their strides allow.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/cuda/kernels/loop/product_batches.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/resolved_product.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

/// Sets the two strides of a matrix if an extent of 1 leaves one of them open: the library needs one stride that is 1,
/// and another one that is not less than the extent along the first.
inline void settle_strides(std::int64_t& outer, std::int64_t outer_extent, std::int64_t& inner,
                           std::int64_t inner_extent) {
  if (inner_extent == 1 && outer != 1) inner = 1;
  if (outer_extent == 1 && inner != 1) outer = 1;
  if (inner == 1 && outer_extent == 1) outer = std::max(outer, inner_extent);
  if (outer == 1 && inner_extent == 1) inner = std::max(inner, outer_extent);
}

} // namespace detail

/// A product's batch dimensions, merged as far as their strides allow.
inline product_batches batches_of(const resolved_product& step) {
  return {step.batch_rank, step.batch, step.left_batch, step.right_batch, step.result_batch};
}

/// One matrix of a product, without its addresses.
inline matrix_product matrix_of(const resolved_product& step) {
  matrix_product p;
  p.type = step.type;
  p.precision = step.precision;
  p.result_batch = step.rows * step.columns;
  p.result_row = step.result_row;
  p.rows = step.rows, p.columns = step.columns, p.depth = step.depth;
  p.left_row = step.left_row, p.left_depth = step.left_depth;
  p.right_depth = step.right_depth, p.right_column = step.right_column;
  detail::settle_strides(p.left_row, p.rows, p.left_depth, p.depth);
  detail::settle_strides(p.right_depth, p.depth, p.right_column, p.columns);
  return p;
}

/// All matrices of a product at addresses, without those of the first ones.
inline matrix_product matrix_of(const resolved_product& step, const product_batches& batches, void* const* addresses) {
  matrix_product p = matrix_of(step);
  p.batch = batches.all;
  p.left_batch = batches.common(batches.left);
  p.right_batch = batches.common(batches.right);
  p.result_batch = batches.common(batches.result);
  p.addresses = addresses;
  return p;
}

/// Enqueues a product; operands begin at `left` and `right`. If the addresses of its matrices are known, it is one
/// call.
template <device_api Api>
void run_batched_product(const device<Api>& on, const resolved_product& step, std::byte* result, const std::byte* left,
                         const std::byte* right, void* const* addresses) {
  on.activate();
  const std::int64_t element_bytes = step.element_bytes();
  const std::int64_t matrix = step.rows * step.columns;
  const product_batches merged = batches_of(step);
  if (merged.all * matrix == 0) return;
  if (step.depth == 0) return on.fill_zero(result, static_cast<std::size_t>(merged.all * matrix * element_bytes));
  if (addresses != nullptr) {
    matrix_product p = matrix_of(step, merged, addresses);
    p.left = left, p.right = right, p.result = result;
    p.workspace = on.product_workspace();
    const status enqueued = on.multiply(p);
    if (enqueued.is != status::kind::unsupported) return check(enqueued, on.number);
  }

  // one call goes along the longest dimension, for each position of the others
  const int strided = merged.strided();
  matrix_product p = matrix_of(step);
  p.batch = merged.extents[strided];
  p.left_batch = merged.left[strided], p.right_batch = merged.right[strided];
  p.result_batch = p.batch == 1 ? matrix : merged.result[strided];
  p.workspace = on.product_workspace();
  for (std::int64_t n = 0; n < merged.calls(); ++n) {
    std::int64_t rest = n, left_offset = 0, right_offset = 0, result_offset = 0;
    for (int d = 0; d < merged.rank; ++d) {
      if (d == strided) continue;
      const std::int64_t position = rest % merged.extents[d];
      left_offset += position * merged.left[d];
      right_offset += position * merged.right[d];
      result_offset += position * merged.result[d];
      rest /= merged.extents[d];
    }
    p.left = left + left_offset * element_bytes;
    p.right = right + right_offset * element_bytes;
    p.result = result + result_offset * element_bytes;
    check(on.multiply(p), on.number);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
