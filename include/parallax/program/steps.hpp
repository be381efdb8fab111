// The steps of a section as records.
#pragma once

#include <parallax/core/types/activation.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/types/precision.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/section_records.hpp>
#include <parallax/transforms/calls/scan_role.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// Where a kernel finds an operand: an offset and a stride for each dimension of the loop, in elements.
struct operand_record {
  buffer_id buffer = buffer_id::none; ///< none for an index, which counts instead of loading
  dim offset{};
  record_list<dim> strides{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.buffer);
    field(r.offset);
    field(r.strides);
  }
};

enum class constant_kind : int { literal, extent, axis_index };
/// A number that the call gives a kernel.
struct kernel_constant {
  constant_kind kind = constant_kind::literal;
  element_type type = element_type::float32;
  std::int64_t bits = 0;            ///< of a literal: of a double, or an integer
  dim extent{};                     ///< of an extent
  mesh_axis axis = mesh_axis::none; ///< of an index
  friend constexpr bool operator==(const kernel_constant&, const kernel_constant&) = default;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.type);
    field(r.bits);
    field(r.extent);
    field(r.axis);
  }
};

/// A loop over a kernel. Its first operand is the result.
struct kernel_step {
  kernel_id kernel = kernel_id::none;
  bit_set reduced{}; ///< the dimensions that are reduced
  record_list<dim> extents{};
  record_list<operand_record> operands{};
  record_list<kernel_constant> constants{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.kernel);
    field(r.reduced);
    field(r.extents);
    field(r.operands);
    field(r.constants);
  }
};

/// A matrix product with any number of batch dimensions; the result is contiguous. Offsets and strides in elements.
struct product_step {
  buffer_id result = buffer_id::none, left = buffer_id::none, right = buffer_id::none;
  dim left_offset{}, right_offset{};
  record_list<dim> batch{}, left_batch{}, right_batch{}; ///< extents, and the operands' strides
  dim rows{}, columns{}, depth{};
  dim left_row{}, left_depth{}, right_depth{}, right_column{};
  product_precision precision = product_precision::full;
  static constexpr void describe(auto& r, auto& field) {
    field(r.result), field(r.left), field(r.right);
    field(r.left_offset), field(r.right_offset);
    field(r.batch), field(r.left_batch), field(r.right_batch);
    field(r.rows), field(r.columns), field(r.depth);
    field(r.left_row), field(r.left_depth), field(r.right_depth), field(r.right_column);
    field(r.precision);
  }
};

/// A product and the loops behind it as one call of a library, or as parts: the product first.
struct epilogue_step {
  product_activation activation = product_activation::identity;
  buffer_id result = buffer_id::none; ///< of the activation
  buffer_id bias = buffer_id::none;   ///< added to each row before the activation
  dim bias_offset{};
  buffer_id auxiliary = buffer_id::none;     ///< for the gradient: signs of a relu, the operand of a gelu
  buffer_id bias_gradient = buffer_id::none; ///< sums over rows: of the result, or of the right operand
  bool sums_right = false;
  record_list<step_record> parts{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.activation);
    field(r.result);
    field(r.bias);
    field(r.bias_offset);
    field(r.auxiliary);
    field(r.bias_gradient);
    field(r.sums_right);
    field(r.parts);
  }
};

/// result = base + scale * product, as one call of a library, or as two parts: the product, perhaps as an epilogue with
/// sums of its right operand, and the loop that adds it.
struct accumulation_step {
  buffer_id result = buffer_id::none, base = buffer_id::none;
  std::int64_t scale_bits = 0; ///< of a double
  record_list<step_record> parts{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.result), field(r.base);
    field(r.scale_bits);
    field(r.parts);
  }
};

/// A product whose matrices and rows lie apart by strides of their own, as one call of a library, or as two parts: the
/// product, and the loop that copies it there.
struct placed_product_step {
  buffer_id result = buffer_id::none;
  record_list<dim> result_batch{};
  dim result_row{};
  record_list<step_record> parts{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.result);
    field(r.result_batch);
    field(r.result_row);
    field(r.parts);
  }
};

/// Loops none of which needs another one's results: they may run in any order or at once. All are elementwise, over
/// contiguous arrays and scalars, or all are reductions.
struct launch_batch_step {
  record_list<step_record> parts{};
  static constexpr void describe(auto& r, auto& field) { field(r.parts); }
};

/// A group of instances: their indices along the axes.
struct group_record {
  record_list<int> members{};
  static constexpr void describe(auto& r, auto& field) { field(r.members); }
};

/// An exchange of values among the devices that differ only in their indices along `axes` of the mesh.
struct exchange_step {
  exchange_kind kind = exchange_kind::all_reduce;
  buffer_id result = buffer_id::none, source = buffer_id::none;
  bit_set axes{};
  reduction_kind reduction = reduction_kind::sum; ///< of an all_reduce; a reduce_scatter sums
  dim outer{1}, inner{1}; ///< elements before and after the dimension that is gathered, scattered or exchanged
  record_list<group_record> groups{}; ///< of instances; empty if all are in one group
  permutation_kind how = permutation_kind::pairs;
  std::int64_t distance = 0;                  ///< of a rotation or shift
  record_list<int> sources{}, destinations{}; ///< of a permutation by pairs
  int source_index = 0;                       ///< of a broadcast
  bool is_of_process = false;                 ///< among the devices of this process only
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.result), field(r.source);
    field(r.axes);
    field(r.reduction);
    field(r.outer), field(r.inner);
    field(r.groups);
    field(r.how);
    field(r.distance);
    field(r.sources), field(r.destinations);
    field(r.source_index);
    field(r.is_of_process);
  }
};

/// Takes each device's slice of a dimension: the slice at its own index along the axis, which is as long as the
/// dimension.
struct axis_slice_step {
  buffer_id result = buffer_id::none, source = buffer_id::none;
  bit_set axes{};
  dim outer{1}, inner{1}; ///< elements before and after the dimension
  static constexpr void describe(auto& r, auto& field) {
    field(r.result), field(r.source);
    field(r.axes);
    field(r.outer), field(r.inner);
  }
};

/// An operand of a mapped section: a buffer of the calling one.
struct mapped_operand {
  buffer_id buffer = buffer_id::none;
  record_list<spread_dimension> spread{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.buffer);
    field(r.spread);
  }
};
/// Runs a section that is mapped over devices.
struct mapped_section_step {
  section_id section = section_id::main;
  record_list<mapped_operand> operands{};
  record_list<value_id> results{};
  record_list<int> devices{}; ///< those that the user named; none otherwise
  static constexpr void describe(auto& r, auto& field) {
    field(r.section);
    field(r.operands);
    field(r.results);
    field(r.devices);
  }
};

/// An operand of a loop.
struct scan_operand {
  buffer_id buffer = buffer_id::none;
  scan_role role = scan_role::constant;
  dim slice{}; ///< elements of a slice, if it is stacked
  static constexpr void describe(auto& r, auto& field) {
    field(r.buffer);
    field(r.role);
    field(r.slice);
  }
};
/// A result of a loop. Rounds write a carry to `buffer` and to `other` in turn, the last round to `buffer`. A carry
/// with `other == buffer` stays there, and rounds change it. A carry whose `other` is another carry's own buffer is
/// handed on: its next value is the one that a round finds there (`program/carry_ring.hpp`).
struct scan_result {
  buffer_id buffer = buffer_id::none;
  buffer_id other = buffer_id::none; ///< of a carry
  dim slice{};                       ///< elements of a slice, if it is stacked
  static constexpr void describe(auto& r, auto& field) {
    field(r.buffer);
    field(r.other);
    field(r.slice);
  }
};
/// Runs a section, the body, `count` times, one after another, where the calling one runs. Its arguments are the
/// operands, its outputs the results: the carries first.
struct scan_step {
  section_id body = section_id::main;
  dim count{};
  bool reverse = false; ///< from the last slice to the first
  record_list<scan_operand> operands{};
  record_list<scan_result> results{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.body);
    field(r.count);
    field(r.reverse);
    field(r.operands);
    field(r.results);
  }
};

/// Runs a section, the body, as long as another one, the predicate, has a true output. Operands are constants and
/// carries; the results are the carries.
struct while_step {
  section_id predicate = section_id::main, body = section_id::main;
  record_list<scan_operand> operands{};
  record_list<scan_result> results{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.predicate);
    field(r.body);
    field(r.operands);
    field(r.results);
  }
};

/// Runs one of several sections, by the number in a buffer.
struct cond_step {
  buffer_id index = buffer_id::none;
  record_list<section_id> branches{};
  record_list<buffer_id> operands{}, results{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.index);
    field(r.branches);
    field(r.operands);
    field(r.results);
  }
};

/// An array that a user's own function reads or fills.
struct ffi_array {
  buffer_id buffer = buffer_id::none;
  record_list<dim> extents{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.buffer);
    field(r.extents);
  }
};
/// A call of a user's own function: its number in the program, its arguments, and then its results.
struct ffi_step {
  int function = -1;
  int arguments = 0; ///< how many of the arrays are arguments
  record_list<ffi_array> arrays{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.function);
    field(r.arguments);
    field(r.arrays);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
