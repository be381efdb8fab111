// Kernels of cumulative operations and sorts that are not loops over expressions: their operands lie in memory.
#pragma once

#include <parallax/compile/fuse/build_kernel.hpp>
#include <parallax/compile/plan/plan.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/cumulative.hpp>
#include <parallax/primitives/arrays/sort.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The loop of a linear recurrence.
constexpr planned_loop plan_recurrence(dim_table& t, const graph& g, node_id id, buffer_id factor, buffer_id term,
                                       buffer_id result) {
  const auto p = parameters_of<primitives::linear_recurrence>(g, id);
  const element_type type = g.type(id);
  const dims shape = g.shape(id), strides = contiguous_strides(t, shape);
  planned_loop loop{.statements = {{.kind = statement_kind::load_strided, .type = type, .argument = 1},
                                   {.kind = statement_kind::load_strided, .type = type, .argument = 2},
                                   {.type = type, .primitive = g.primitive(id), .operands = {0, 1}}},
                    .result = p.reverse ? kernel_result::reverse_cumulative : kernel_result::cumulative,
                    .reduction = g.primitive(id),
                    .extents = shape,
                    .accesses = {{result, dim{}, strides}, {factor, dim{}, strides}, {term, dim{}, strides}}};
  loop.reduced.insert(p.axis);
  return loop;
}

/// The buffers of a sort: its rows, and the memory that it moves them to. Keys are `none` if values are sorted by
/// themselves.
struct sort_buffers {
  buffer_id keys = buffer_id::none, values = buffer_id::none, result = buffer_id::none;
  buffer_id other_values = buffer_id::none;
  buffer_id moved_keys[2] = {buffer_id::none, buffer_id::none};
};

/// The loop of a sort over contiguous rows. Its operands: the result; keys, if there are some beside the values;
/// values; memory for as many values, and twice for keys.
constexpr planned_loop plan_sort(dim_table& t, const graph& g, node_id id, const sort_buffers& used) {
  const dims shape = g.shape(id);
  const dim length = shape[shape.size() - 1];
  dim rows{1};
  for (int axis = 0; axis + 1 < shape.size(); ++axis) rows = t.multiply(rows, shape[axis]);
  planned_loop loop{.result = kernel_result::sorted, .reduction = g.primitive(id), .extents = {rows, length}};
  loop.reduced.insert(1);
  auto add_access = [&](buffer_id buffer) { loop.accesses.push_back({buffer, dim{}, {length, dim{1}}}); };
  auto add_operand = [&](node_id operand, buffer_id buffer) {
    add_access(buffer);
    loop.statements.push_back(
        {.kind = statement_kind::load_vector, .type = g.type(operand), .argument = count_of(loop.accesses) - 1});
  };
  const bool has_keys = g.operand(id, 0) != g.operand(id, 1);
  add_access(used.result);
  if (has_keys) add_operand(g.operand(id, 0), used.keys);
  add_operand(g.operand(id, 1), used.values);
  add_access(used.other_values);
  if (has_keys)
    for (buffer_id each : used.moved_keys) add_access(each);
  kernel_statement sort{.type = g.type(id),
                        .primitive = g.primitive(id),
                        .parameter = parameters_of<primitives::sort_by>(g, id).descending ? 1 : 0};
  for (int i = 0; i < count_of(loop.statements); ++i) sort.operands.push_back(i);
  loop.statements.push_back(sort);
  return loop;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
