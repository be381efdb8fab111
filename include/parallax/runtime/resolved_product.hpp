// A matrix product with the extents and strides of a call.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/types/precision.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/steps.hpp>
#include <parallax/runtime/product_shape.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// A step's product at a call: its shape, and how far its operands begin behind their buffers' first bytes.
struct resolved_product : product_shape {
  product_precision precision;
  std::int64_t left_offset, right_offset; ///< in bytes
  std::int64_t result_batch[max_rank] = {};
  std::int64_t result_row;

  resolved_product(const section_plan& section, const product_step& step) : precision(step.precision) {
    const resolved_extents& extents = section.extents;
    type = section.type_of(step.result);
    batch_rank = step.batch.count;
    section.resolve(step.batch, batch);
    section.resolve(step.left_batch, left_batch);
    section.resolve(step.right_batch, right_batch);
    rows = extents[step.rows], columns = extents[step.columns], depth = extents[step.depth];
    left_row = extents[step.left_row], left_depth = extents[step.left_depth];
    right_depth = extents[step.right_depth], right_column = extents[step.right_column];
    left_offset = extents[step.left_offset] * element_bytes();
    right_offset = extents[step.right_offset] * element_bytes();
    result_row = columns;
    std::int64_t next = rows * columns;
    for (int d = batch_rank; d-- > 0; next *= batch[d]) result_batch[d] = next;
  }
  /// The same product with its result in its place.
  resolved_product(const section_plan& section, const product_step& step, const placed_product_step& placed)
      : resolved_product(section, step) {
    section.resolve(placed.result_batch, result_batch);
    if (rows > 1) result_row = section.extents[placed.result_row];
  }
  std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_of(type)); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
