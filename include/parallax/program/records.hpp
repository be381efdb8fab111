// What is left of a program at run time: records in pools, one pool for each type. Each record lists its members once
// in a static function `describe`; how it is written while compiling, read again and searched follows from that.
#pragma once

#include <parallax/core/trace/context.hpp>
#include <parallax/core/types/activation.hpp>
#include <parallax/core/types/precision.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {
// The rooms that compile a program, hold its records and run it use each other's types by their bare names.
namespace compiled {
using namespace detail;
}
namespace detail {
using namespace compiled;
}
namespace runtime {
using namespace compiled;
}
} // namespace parallax::PARALLAX_INLINE_VERSION

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// How a kernel's results are written. Rows are loops whose statements reduce and store by themselves.
enum class kernel_result : int {
  vector,
  strided,
  reduction,
  rows,
  cumulative,         ///< each element combined with those before it along the dimension that is called reduced
  reverse_cumulative, ///< with those behind it
  sorted,             ///< rows arranged by their order; further operands are memory to work in
  scattered           ///< by its last statement; dimensions called reduced are gone along in order
};

/// Whether a kernel goes along one dimension, in either direction.
constexpr bool is_cumulative(kernel_result result) {
  return result == kernel_result::cumulative || result == kernel_result::reverse_cumulative;
}

/// An array of one section: an argument, a result, or an intermediate value.
enum class buffer_id : int { none = -1 };
/// An argument of a section or a result of a call.
enum class value_id : int { none = -1 };
/// A kernel of a program.
enum class kernel_id : int { none = -1 };
/// A part of a program that runs in one place: the main one, or one of those that are mapped over devices.
enum class section_id : int { main = 0 };
/// An axis of a section's mesh of devices, from the outermost in.
enum class mesh_axis : int { none = -1, outermost = 0 };

/// A set of a few small numbers: dimensions of a loop, or axes of a mesh.
struct bit_set {
  unsigned bits = 0;

  constexpr bool contains(int number) const { return (bits >> number & 1U) != 0; }
  constexpr void insert(int number) { bits |= 1U << number; }
  friend constexpr bool operator==(bit_set, bit_set) = default;
  static constexpr void describe(auto& r, auto& field) { field(r.bits); }
};

/// Some records of a pool that follow each other.
template <class T> struct record_list {
  int first = 0, count = 0;

  constexpr bool empty() const { return count == 0; }
  friend constexpr bool operator==(const record_list&, const record_list&) = default;
  static constexpr void describe(auto& r, auto& field) {
    field(r.first);
    field(r.count);
  }
};

/// An abstract value.
struct value_record {
  element_type type = element_type::float32;
  record_list<dim> shape{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.type);
    field(r.shape);
  }
};

// ---- extents

struct atom_record {
  dim_atom atom{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.atom.kind);
    field(r.atom.leaf);
    field(r.atom.axis);
    field(r.atom.left);
    field(r.atom.right);
  }
};
struct term_record {
  std::int64_t coefficient = 0;
  record_list<int> atoms{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.coefficient);
    field(r.atoms);
  }
};
/// A symbolic extent: the sum of its terms.
struct entry_record {
  record_list<term_record> terms{};
  static constexpr void describe(auto& r, auto& field) { field(r.terms); }
};

struct mapped_argument_record {
  int argument = 0, axis = 0;
  value_record value{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.argument);
    field(r.axis);
    field(r.value);
  }
};
/// See `guard`.
struct guard_record {
  guard_kind kind = guard_kind::equal_extents;
  record_list<char> operation{};
  dim left{}, right{};
  value_record left_value{}, right_value{};
  record_list<mapped_argument_record> mapped_arguments{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.operation);
    field(r.left);
    field(r.right);
    field(r.left_value);
    field(r.right_value);
    field(r.mapped_arguments);
  }
};

// ---- kernels

/// What a statement of a kernel does.
enum class statement_kind : int {
  compute,       ///< a primitive, of earlier statements' values
  load_vector,   ///< consecutive elements of an array
  load_scalar,   ///< the same element for the whole innermost dimension
  load_strided,  ///< elements a stride apart
  load_index,    ///< an affine function of the position, by an offset and strides like an array's
  load_constant, ///< a number known at the call
  store_vector,  ///< a further result: an earlier statement's values
  store_row,     ///< a further result with one element for each row: an earlier statement's value
  reduce_row,    ///< a reduction of an earlier statement's elements of a row
  gather_each,   ///< elements of an array, an earlier statement's value behind the position's own
  gather_row,    ///< as gather_each, with one such value for the whole innermost dimension
  scatter_each,  ///< combines elements, found as by gather_each, with an earlier statement's; the primitive says how
  scatter_row    ///< as scatter_each, with elements found as by gather_row
};
constexpr std::string_view name_of(statement_kind kind) {
  switch (kind) {
  case statement_kind::compute: return "compute";
  case statement_kind::load_vector: return "load_vector";
  case statement_kind::load_scalar: return "load_scalar";
  case statement_kind::load_strided: return "load_strided";
  case statement_kind::load_index: return "load_index";
  case statement_kind::load_constant: return "load_constant";
  case statement_kind::store_vector: return "store_vector";
  case statement_kind::store_row: return "store_row";
  case statement_kind::reduce_row: return "reduce_row";
  case statement_kind::gather_each: return "gather_each";
  case statement_kind::gather_row: return "gather_row";
  case statement_kind::scatter_each: return "scatter_each";
  case statement_kind::scatter_row: return "scatter_row";
  }
  return "";
}
constexpr bool is_load(statement_kind kind) {
  switch (kind) {
  case statement_kind::load_vector:
  case statement_kind::load_scalar:
  case statement_kind::load_strided:
  case statement_kind::load_index:
  case statement_kind::load_constant: return true;
  case statement_kind::compute:
  case statement_kind::store_vector:
  case statement_kind::store_row:
  case statement_kind::reduce_row:
  case statement_kind::gather_each:
  case statement_kind::gather_row:
  case statement_kind::scatter_each:
  case statement_kind::scatter_row: return false;
  }
  return false;
}
constexpr bool is_load_of_array(statement_kind kind) {
  return kind == statement_kind::load_vector || kind == statement_kind::load_scalar ||
         kind == statement_kind::load_strided;
}
constexpr bool is_gather(statement_kind kind) {
  return kind == statement_kind::gather_each || kind == statement_kind::gather_row;
}
constexpr bool is_scatter(statement_kind kind) {
  return kind == statement_kind::scatter_each || kind == statement_kind::scatter_row;
}
constexpr bool is_store(statement_kind kind) {
  return kind == statement_kind::store_vector || kind == statement_kind::store_row;
}
/// Whether a statement touches an array in another way than a load at the loop's position.
constexpr bool stores_or_indexes(statement_kind kind) {
  switch (kind) {
  case statement_kind::store_vector:
  case statement_kind::store_row:
  case statement_kind::gather_each:
  case statement_kind::gather_row:
  case statement_kind::scatter_each:
  case statement_kind::scatter_row: return true;
  case statement_kind::load_vector:
  case statement_kind::load_scalar:
  case statement_kind::load_strided:
  case statement_kind::load_index:
  case statement_kind::load_constant:
  case statement_kind::compute:
  case statement_kind::reduce_row: return false;
  }
  return false;
}

/// One statement of a kernel.
struct kernel_statement {
  statement_kind kind = statement_kind::compute;
  element_type type = element_type::float32;
  primitive_id primitive = primitive_id::input; ///< that computes or reduces
  std::int64_t parameter = 0;                   ///< of a primitive that has one
  int argument = 0;                             ///< the number of the array that is read or written, or of the constant
  small_vector<int, 4> operands{};              ///< the numbers of earlier statements
  friend constexpr bool operator==(const kernel_statement&, const kernel_statement&) = default;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.type);
    field(r.primitive);
    field(r.parameter);
    field(r.argument);
    field(r.operands);
  }
};
/// The structure of a fused loop; equal kernels are compiled once. The last statement is the result.
struct kernel_record {
  record_list<kernel_statement> statements{};
  kernel_result result = kernel_result::vector;
  primitive_id reduction = primitive_id::input; ///< the primitive that combines elements, if any
  static constexpr void describe(auto& r, auto& field) {
    field(r.statements);
    field(r.result);
    field(r.reduction);
  }
};

// ---- sections

enum class buffer_kind : int {
  value,  ///< an argument of the section or the result of a call
  output, ///< memory of its own, given to the caller
  slot    ///< memory shared with others that are not live at the same time
};

/// A contiguous array of one section.
struct buffer_record {
  buffer_kind kind = buffer_kind::slot;
  int number = -1; ///< of the value, output or slot
  element_type type = element_type::float32;
  dim count{};             ///< of elements
  std::int64_t offset = 0; ///< of a slot: where the buffer begins in that, in bytes, a multiple of `slot_alignment`
  /// Of a slot: the output whose memory this buffer may use, unless that output already uses an argument's; -1 for
  /// none.
  int output = -1;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.number);
    field(r.type);
    field(r.count);
    field(r.offset);
    field(r.output);
  }
};

/// The alignment of slots, and of buffers that lie side by side in one: enough for a device's memory, and for the
/// host's registers.
inline constexpr std::int64_t slot_alignment = 256;

/// A dimension of an operand or a result that is spread over an axis of the mesh.
struct spread_dimension {
  mesh_axis over = mesh_axis::outermost;
  int dimension = 0; ///< of the logical array
  dim before{};      ///< of an operand: the number of elements before it
  static constexpr void describe(auto& r, auto& field) {
    field(r.over);
    field(r.dimension);
    field(r.before);
  }
};

/// A result of a section: a buffer of its own, or (of the main section) a value that stays where it is.
struct output_record {
  value_id value = value_id::none;
  value_record described{};
  record_list<spread_dimension> spread{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.value);
    field(r.described);
    field(r.spread);
  }
};

enum class step_kind : int {
  kernel,
  product,
  epilogue,   ///< a product and loops behind it, for a library that does all of them in one call
  concurrent, ///< loops that need nothing of one another, for a device that launches them as one
  exchange,   ///< between devices
  axis_slice,
  call,
  scan,
  while_loop,
  cond,
  ffi
};

constexpr std::string_view name_of(step_kind kind) {
  switch (kind) {
  case step_kind::kernel: return "kernel";
  case step_kind::product: return "product";
  case step_kind::epilogue: return "epilogue";
  case step_kind::concurrent: return "concurrent";
  case step_kind::exchange: return "exchange";
  case step_kind::axis_slice: return "axis_slice";
  case step_kind::call: return "call";
  case step_kind::scan: return "scan";
  case step_kind::while_loop: return "while_loop";
  case step_kind::cond: return "cond";
  case step_kind::ffi: return "ffi";
  }
  return "";
}

/// Whether a step runs other sections.
constexpr bool runs_sections(step_kind kind) {
  switch (kind) {
  case step_kind::call:
  case step_kind::scan:
  case step_kind::while_loop:
  case step_kind::cond: return true;
  case step_kind::kernel:
  case step_kind::product:
  case step_kind::epilogue:
  case step_kind::concurrent:
  case step_kind::exchange:
  case step_kind::axis_slice:
  case step_kind::ffi: return false;
  }
  return false;
}

/// A step of a section: which record it is, in the pool of its kind.
struct step_record {
  step_kind kind = step_kind::kernel;
  int index = 0;
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.index);
  }
};

struct section_record {
  record_list<dim> mesh{}; ///< the sizes of its axes; empty for the main section
  dim axis_size{};         ///< size of the outermost axis over all processes; 0 if nothing depends on it
  /// Whether all devices of all processes make up the mesh. A process may then have a part of each axis.
  bool is_whole_mesh = false;
  int argument_count = 0, value_count = 0, slot_count = 0;
  record_list<buffer_record> buffers{};
  record_list<output_record> outputs{};
  record_list<step_record> steps{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.mesh);
    field(r.axis_size);
    field(r.is_whole_mesh);
    field(r.argument_count);
    field(r.value_count);
    field(r.slot_count);
    field(r.buffers);
    field(r.outputs);
    field(r.steps);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
