// A fused loop before it becomes part of a program.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/kernel_records.hpp>
#include <parallax/program/steps.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Where a loop finds an operand: an offset and a stride for each of its dimensions, in elements.
struct access {
  buffer_id buffer = buffer_id::none; ///< none for an index
  dim offset{};
  dims strides{};
  friend constexpr bool operator==(const access&, const access&) = default;
};

/// A loop before it is written down.
struct planned_loop {
  growing_vector<kernel_statement> statements{}; ///< the last one is the result
  kernel_result result = kernel_result::vector;
  primitive_id reduction = primitive_id::input;
  dims extents{};
  bit_set reduced{};
  growing_vector<access> accesses{}; ///< the result first
  growing_vector<kernel_constant> constants{};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
