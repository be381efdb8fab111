// One loop of a fused graph as a kernel: its statements, and where its operands lie.
#pragma once

#include <parallax/compile/fuse/fuse.hpp>
#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/compile/fuse/loop_positions.hpp>
#include <parallax/compile/prepare/mapped_section.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/indexing.hpp>
#include <parallax/primitives/math/conversion.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Where the values of a section's graph lie.
using buffer_table = table<node_id, buffer_id>;

/// Builds the loop that computes `expression` (and what is fused into it) for every position of its shape.
class kernel_builder : public loop_positions {
 public:
  /// `mapped`: the section whose body the graph is; null for the main section. `scratch` holds `no_value` for every
  /// node before and after each run.
  constexpr kernel_builder(context& owner, const fusion& plan, const buffer_table& buffers,
                           const mapped_section* mapped, table<node_id, int>& scratch)
      : loop_positions(owner), fused(plan), g(plan.g), buffer_of(buffers), section(mapped), value_at(scratch) {}
  static constexpr int no_value = -1;

  /// The loop over an expression. `reduced_axes` of it are reduced by a primitive; `keep_ones` keeps loop dimensions of
  /// extent 1.
  constexpr void run(node_id expression, loop_id which, const axis_list& reduced_axes = {},
                     primitive_id reduction = primitive_id::input, bool keep_ones = false) {
    root = which;
    expression_map = open_dimensions(g.shape(expression), reduced_axes, keep_ones);
    loop.reduction = reduction;
    loop.accesses.push_back({}); // of the result, which comes last
    note(expression, expression_map, true);
    for_each(fused.members[root], [&](node_id id) {
      if (!find(id) && keeps(id)) insert(id, expression_map);
      place_operands(id);
    });
    append_members();
    result_statement = value_of(expression, expression_map);
    forget_values();
  }
  /// The loop of a row sweep: along the rows, the innermost dimension. Members that are kept are stored.
  constexpr void run_rows(loop_id which) {
    root = which;
    loop.extents = fused.rows.sweeps[fused.row_sweep(root)].rows;
    loop.reduced.insert(loop.extents.size() - 1);
    loop.result = kernel_result::rows;
    for_each(fused.members[root], [&](node_id id) {
      if (fused.rows.is_member(id) && fused.loop_of[id] == root) insert(id, row_map(id));
    });
    for_each(fused.members[root], [&](node_id id) { place_operands(id); });
    append_members();
    forget_values();
  }
  /// The loop of a scatter over its updates, which changes elements of a buffer.
  constexpr void run_scatter(node_id id, loop_id which, buffer_id buffer) {
    const auto p = parameters_of<primitives::scatter>(g, id);
    const node_id offsets = g.operand(id, 1), updates = g.operand(id, 2);
    root = which;
    expression_map = open_dimensions(g.shape(updates), {}, false);
    for (int axis = 0; axis < expression_map.size(); ++axis)
      if (const int d = expression_map[axis].dimension; d != axis_map::none && !p.axes.keeps_apart(axis))
        loop.reduced.insert(d);
    loop.accesses.push_back(through_window(g.shape(id), p.axes, expression_map, buffer));
    const index_map offsets_map = g.rank(offsets) == 0 ? index_map{} : expression_map;
    note(updates, expression_map, false);
    note(offsets, offsets_map, false);
    for_each(fused.members[root], [&](node_id member) { place_operands(member); });
    append_members();
    const int update = value_of(updates, expression_map), offset = value_of(offsets, offsets_map);
    add({.kind = is_uniform(offset) ? statement_kind::scatter_row : statement_kind::scatter_each,
         .type = g.type(id),
         .primitive = primitives::scatter::combining(p.combine),
         .argument = 0,
         .operands = {offset, update}});
    loop.result = kernel_result::scattered;
    forget_values();
  }
  /// Writes the result contiguously into a buffer of the expression's shape without the reduced axes.
  constexpr void write_whole(buffer_id buffer) { finish(contiguous(buffer, loop.reduced)); }
  /// Writes all positions: each result combines the values up to its own position along the dimension that is called
  /// reduced.
  constexpr void write_cumulated(buffer_id buffer, bool reverse) {
    finish(contiguous(buffer, {}));
    loop.result = reverse ? kernel_result::reverse_cumulative : kernel_result::cumulative;
  }
  /// Writes into a window of a larger buffer: its element strides and an offset, by axis of the expression.
  constexpr void write_window(buffer_id buffer, const dims& strides, dim offset) {
    access out{buffer, offset, dims(loop.extents.size(), dim{})};
    for (int axis = 0; axis < strides.size(); ++axis)
      if (expression_map[axis].dimension != axis_map::none) out.strides[expression_map[axis].dimension] = strides[axis];
    finish(out);
  }

 private:
  static constexpr int none_yet = -1;
  struct fused_value {
    node_id id = node_id::none;
    index_map map;
    int statement = none_yet;
  };

  const fusion& fused;
  const graph& g;
  const buffer_table& buffer_of;
  const mapped_section* section;
  growing_vector<fused_value> values;
  table<node_id, int>& value_at; ///< by node: its place among the values
  index_map expression_map;
  int result_statement = none_yet;
  loop_id root = loop_id::none;

  constexpr fused_value* find(node_id id) {
    const int number = value_at[id];
    return number == no_value ? nullptr : values.data() + number;
  }
  constexpr void insert(node_id id, const index_map& map) {
    value_at[id] = count_of(values);
    values.push_back({id, map});
  }
  constexpr void forget_values() {
    for (const fused_value& v : values) value_at[v.id] = no_value;
  }

  constexpr bool is_root(node_id id) const { return loop_of_node(id) == root; }
  constexpr bool is_row_loop() const { return loop.result == kernel_result::rows; }
  /// Whether a node of this loop is a further result.
  constexpr bool keeps(node_id id) const { return (!is_root(id) || is_row_loop()) && fused.has_buffer.contains(id); }
  /// A member's axes in order; one that has a single element for each row has none along the row.
  constexpr index_map row_map(node_id id) const {
    index_map map;
    int next = 0;
    for (dim extent : g.shape(id)) map.push_back(extent == 1 ? axis_map::constant() : axis_map::identity(next++));
    return map;
  }

  /// Gives a fused node's operands their index maps; consumers come first.
  constexpr void place_operands(node_id id) {
    const fused_value* v = find(id);
    if (!v) return;
    const index_map own = operand_map(id, v->map);
    for (node_id operand : g.operands(id))
      if (fused.inner_member(root, id, operand) == node_id::none)
        note(operand, g.rank(operand) == 0 ? index_map{} : own, false);
  }
  constexpr bool is_reduction(node_id id) const { return is_kind(trace, g, id, primitive_kind::reduction); }
  /// How a node's operands follow the loop: a row reduction's are whole rows.
  constexpr index_map operand_map(node_id id, const index_map& map) const {
    return is_reduction(id) ? row_map(g.operand(id, 0)) : map;
  }
  constexpr void note(node_id id, index_map map, bool is_expression) {
    // a root that is a view or a source copies what it stands for
    bool through = is_expression;
    while ((through || !fused.has_array(id)) && fused.is_view(id)) {
      map = through_view(trace.extents, g, id, map);
      id = g.operand(id, 0);
      through = false;
    }
    if (!fused.computes(root, id)) return;
    const fused_value* known = find(id);
    if (!known) return insert(id, map);
    if (!(known->map == map))
      trace.fail(message() << "internal error: " << rules_of(trace, g, id).name << " is fused under two index maps");
  }

  /// Operands before consumers.
  constexpr void append_members() {
    const growing_vector<node_id>& members = fused.members[root];
    for (std::size_t i = members.size(); i-- > 0;) append(members[i]);
  }
  constexpr void append(node_id id) {
    const fused_value* v = find(id);
    if (!v) return;
    if (is_kind(trace, g, id, primitive_kind::gather)) {
      const int statement = append_gather(id, v->map);
      find(id)->statement = statement;
      if (keeps(id)) store(id, statement);
      return;
    }
    const index_map map = operand_map(id, v->map);
    kernel_statement s{.type = g.type(id), .primitive = g.primitive(id)};
    if (is_reduction(id)) {
      s.kind = statement_kind::reduce_row;
    } else if (!is<primitives::convert>(g, id) && !is<primitives::bitcast>(g, id) && !g.parameters(id).empty()) {
      s.parameter = g.parameters(id)[0]; // an elementwise primitive has one word at most; those two have the type
    }
    for (node_id operand : g.operands(id)) {
      const node_id inner = fused.inner_member(root, id, operand);
      s.operands.push_back(inner != node_id::none ? find(inner)->statement
                                                  : value_of(operand, g.rank(operand) == 0 ? index_map{} : map));
    }
    const int statement = add(s);
    find(id)->statement = statement;
    if (keeps(id)) store(id, statement);
  }
  constexpr int append_gather(node_id id, const index_map& map) {
    const node_id array = g.operand(id, 0), offsets = g.operand(id, 1);
    const int offset = value_of(offsets, g.rank(offsets) == 0 ? index_map{} : map);
    loop.accesses.push_back(through_window(g.shape(array), parameters_of<primitives::gather>(g, id).axes, map,
                                           buffer_of[memory_of(g, array, true)]));
    return add({.kind = is_uniform(offset) ? statement_kind::gather_row : statement_kind::gather_each,
                .type = g.type(id),
                .argument = count_of(loop.accesses) - 1,
                .operands = {offset}});
  }
  constexpr void store(node_id id, int statement) {
    const bool of_rows = is_row_loop() && fused.rows.is_member(id) && fused.rows.is_uniform(id);
    loop.accesses.push_back(contiguous(buffer_of[id], of_rows || !is_row_loop() ? loop.reduced : bit_set{}));
    add({.kind = of_rows ? statement_kind::store_row : statement_kind::store_vector,
         .type = g.type(id),
         .argument = count_of(loop.accesses) - 1,
         .operands = {statement}});
  }

  /// The statement that computes or loads a node's value; views are read through.
  constexpr int value_of(node_id id, index_map map) {
    bool through = is_root(id) && fused.is_view(id);
    while (true) {
      if (const fused_value* v = find(id); v && v->statement != none_yet) return v->statement;
      if (!through && fused.has_array(id) && !is_root(id)) break;
      if (!fused.is_view(id)) break;
      map = through_view(trace.extents, g, id, map);
      id = g.operand(id, 0);
      through = false;
    }
    if (is_kind(trace, g, id, primitive_kind::source) && (is_root(id) || !fused.has_buffer.contains(id)))
      return source_value(id, map);
    const bool has_own = fused.has_array(id) && !is_root(id);
    return load(locate(trace.extents, strides_of(trace.extents, g, id, has_own), map, loop.extents.size(),
                       buffer_of[memory_of(g, id, has_own)]),
                g.type(id));
  }

  constexpr int source_value(node_id id, const index_map& map) {
    kernel_constant given{.type = g.type(id)};
    if (is<primitives::literal>(g, id)) {
      given.bits = parameters_of<primitives::literal>(g, id).bits;
      return constant(given);
    }
    if (is<primitives::extent_value>(g, id)) {
      given.kind = constant_kind::extent;
      given.extent = parameters_of<primitives::extent_value>(g, id).extent;
      return constant(given);
    }
    if (is<primitives::axis_index>(g, id)) {
      given.kind = constant_kind::axis_index;
      if (section) given.axis = section->mesh_axis_of[parameters_of<primitives::axis_index>(g, id).axis];
      return constant(given);
    }
    return load_once(statement_kind::load_index, index_access(id, map), g.type(id));
  }
  /// An iota: an affine function of the position, as an address is.
  constexpr access index_access(node_id id, const index_map& map) {
    const int axis = parameters_of<primitives::iota>(g, id).axis;
    if (axis == primitives::iota::row_major)
      return locate(trace.extents, contiguous_strides(trace.extents, g.shape(id)), map, loop.extents.size(),
                    buffer_id::none);
    access index{buffer_id::none, map[axis].offset, dims(loop.extents.size(), dim{})};
    if (map[axis].dimension != axis_map::none) index.strides[map[axis].dimension] = map[axis].multiplier;
    return index;
  }

  /// Makes the result the last statement, and sets where it is written.
  constexpr void finish(const access& out) {
    if (result_statement != count_of(loop.statements) - 1) {
      const element_type type = loop.statements[index_of(result_statement)].type;
      add({.type = type, .primitive = primitives::id_of<primitives::stop_gradient>, .operands = {result_statement}});
    }
    loop.accesses[0] = out;
    const int rank = loop.extents.size();
    loop.result = loop.reduction != primitive_id::input     ? kernel_result::reduction
                  : rank == 0 || out.strides[rank - 1] == 1 ? kernel_result::vector
                                                            : kernel_result::strided;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
