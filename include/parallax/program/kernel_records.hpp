// Kernels as records: what their statements do, and how their results are written.
#pragma once

#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/trace/graph.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/record_members.hpp>

#include <cstdint>
#include <string_view>

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
  switch (result) {
  case kernel_result::cumulative:
  case kernel_result::reverse_cumulative: return true;
  case kernel_result::vector:
  case kernel_result::strided:
  case kernel_result::reduction:
  case kernel_result::rows:
  case kernel_result::sorted:
  case kernel_result::scattered: return false;
  }
  return false;
}

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

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
