// What a graph is lowered to: blocks of steps over planned buffers, and the distinct kernels they run.
#pragma once

#include <parallax/compile/prepare.hpp>
#include <parallax/core/activation.hpp>

namespace parallax::detail {

/// The operations of kernel statements that are no primitives.
enum kernel_operation : int {
  load_vector = -2,   ///< consecutive elements; the operand is an access's number
  load_scalar = -3,   ///< the same element for the whole innermost dimension
  load_strided = -4,  ///< elements a stride apart
  load_constant = -5, ///< a number known at the call; the operand is its number
  load_index = -6,    ///< an affine function of the position; the operand is an access's number
  store_vector = -7,  ///< a further result: the operands are a statement's number and that of the access it is kept in
  store_row = -8,     ///< the same, of one element for each row
  reduce_row = -9     ///< combines the operand's elements of a row; the parameter is the reduction's number
};

/// One operation of a kernel. Operands are numbers of earlier statements, or what a load takes.
struct kernel_statement {
  int operation = 0;
  element_type type = element_type::float32;
  std::int64_t parameter = 0;
  small_vector<int, 4> operands;
  friend constexpr bool operator==(const kernel_statement&, const kernel_statement&) = default;
};

/// How results are written. Rows are loops whose statements reduce and store by themselves.
enum class kernel_result : int { vector, strided, reduction, rows };

/// The structure of a fused loop; equal kernels are compiled once.
struct kernel_structure {
  std::vector<kernel_statement> statements; ///< the last one is the result
  kernel_result result = kernel_result::vector;
  int reduction = -1; ///< the primitive that combines elements
  friend constexpr bool operator==(const kernel_structure&, const kernel_structure&) = default;
};

/// Where a kernel finds an operand: an offset and a stride for each dimension of the loop, in elements.
struct access {
  int buffer = -1; ///< none for an index
  dim offset = 0;
  dims strides;
  friend constexpr bool operator==(const access&, const access&) = default;
};

enum class constant_kind : int { literal, extent, axis_index };
struct kernel_constant {
  constant_kind kind = constant_kind::literal;
  element_type type = element_type::float32;
  std::int64_t value = 0; ///< a double's bits or an integer, an extent, a mesh axis
  friend constexpr bool operator==(const kernel_constant&, const kernel_constant&) = default;
};

enum class buffer_place : int { value, output, slot };

/// A contiguous array of one block. A value is an argument of the block or the result of a call.
struct planned_buffer {
  buffer_place place = buffer_place::slot;
  int number = -1;
  element_type type = element_type::float32;
  dims shape;
  dim count = 1;
  int first_step = 0, last_step = 0;
};

enum class step_kind : int {
  kernel,
  product,
  epilogue, ///< a product and loops behind it, for a library that does all of them in one call
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  permute,
  broadcast,
  axis_slice,
  call
};

/// One product: batch dimensions with their strides, then rows, columns and the contracted length.
struct planned_product {
  small_vector<dim, max_rank> batch, left_batch, right_batch, result_batch;
  dim rows = 1, columns = 1, depth = 1;
  dim left_row = 0, left_depth = 0, right_depth = 0, right_column = 0;
  product_precision precision = product_precision::full;
};

/// How a library's product does the work of the loops behind it.
struct planned_epilogue {
  product_activation activation = product_activation::identity;
  int result = -1; ///< the buffer of what comes out of the activation
  int bias = -1;   ///< added to each row before the activation
  dim bias_offset = 0;
  int auxiliary = -1; ///< what the gradient wants to know: for relu the signs as bits, for gelu what it is applied to
  int bias_gradient = -1; ///< sums over rows: of the result, or of the right operand
  bool sums_right = false;
};

struct planned_step {
  step_kind kind = step_kind::kernel;
  // kernel
  int kernel = -1;
  dims extents;
  unsigned reduced = 0;         ///< bit k: dimension k of the loop is reduced
  std::vector<access> accesses; ///< the result first
  std::vector<kernel_constant> constants;
  // the others: result and operands
  int result = -1;
  std::vector<int> operands;
  dim left_offset = 0, right_offset = 0;
  planned_product product;
  int reduction = -1;
  unsigned mesh_axes = 0;
  dim outer = 1, inner = 1;
  std::vector<std::int64_t> parameters; ///< permutation, source of a broadcast, or of others the groups, if any
  // epilogue: the product first
  planned_epilogue epilogue;
  std::vector<planned_step> parts;
  // call
  int section = -1;
  std::vector<std::vector<dim>> before; ///< by operand and spread dimension: the number of elements before it
  std::vector<int> results;             ///< value numbers
};

/// An output of a block: a buffer of its own, or (of the outermost block) a value that stays where it is.
struct planned_output {
  bool is_value = false;
  int number = 0; ///< buffer or value
  abstract_value value;
};

struct planned_block {
  std::vector<planned_buffer> buffers;
  std::vector<planned_step> steps;
  std::vector<planned_output> outputs;
  int argument_count = 0;
  int value_count = 0;
  int slot_count = 0;
};

struct planned_program {
  std::vector<planned_block> blocks; ///< the outermost first, then one per section
  std::vector<section> sections;
  std::vector<kernel_structure> kernels;
};

} // namespace parallax::detail
