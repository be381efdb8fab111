// One loop of a fused graph as a kernel: its statements, and where its operands lie.
#pragma once

#include <parallax/compile/fuse.hpp>

namespace parallax::detail {

/// Builds the loop that computes `expression` (and what is fused into it) for every position of its shape.
class kernel_builder {
 public:
  kernel_structure structure;
  planned_step step;

  /// `scratch` has a -1 for each node, before and after `run`.
  constexpr kernel_builder(context& owner, const fusion& plan, const std::vector<int>& buffers, const section* place,
                           std::vector<int>& scratch)
      : trace(owner), fused(plan), g(plan.g), buffer_of(buffers), mesh(place), value_at(scratch) {}

  /// `reduced_axes` of the expression are reduced by primitive `reduction`; `keep_ones` keeps loop dimensions of
  /// extent 1.
  constexpr void run(int expression, int loop, std::span<const std::int64_t> reduced_axes = {}, int reduction = -1,
                     bool keep_ones = false) {
    dims shape = g.shape(expression);
    index_map map;
    for (int axis = 0; axis < shape.size(); ++axis) {
      bool is_reduced = false;
      for (std::int64_t r : reduced_axes) is_reduced = is_reduced || r == axis;
      if (shape[axis] == 1 && !keep_ones) {
        map.push_back({-1, 0, 0});
        continue;
      }
      map.push_back({step.extents.size(), 1, 0});
      if (is_reduced) step.reduced |= 1U << step.extents.size();
      step.extents.push_back(shape[axis]);
    }
    expression_map = map;
    structure.reduction = reduction;
    step.kind = step_kind::kernel;
    step.accesses.push_back({});
    place(expression, map, loop);
    // operands before consumers
    const std::vector<int>& members = fused.members[static_cast<std::size_t>(loop)];
    for (std::size_t i = members.size(); i-- > 0;) append(members[i]);
    result_statement = value_of(expression, map);
    for (const fused_value& v : values) value_at[static_cast<std::size_t>(v.id)] = -1;
  }
  /// The loop of a row group: along the rows, the innermost dimension. Members that are kept are stored.
  constexpr void run_rows(int loop) {
    const row_groups::group& group = fused.rows.groups[static_cast<std::size_t>(fused.row_group(loop))];
    step.kind = step_kind::kernel;
    step.extents = group.rows;
    step.reduced = 1U << (group.rows.size() - 1);
    structure.result = kernel_result::rows;
    root = loop;
    const std::vector<int>& members = fused.members[static_cast<std::size_t>(loop)];
    for (int id : members)
      if (fused.row_group(id) >= 0) insert(id, row_map(id));
    for (int id : members) place_operands(id);
    for (std::size_t i = members.size(); i-- > 0;) append(members[i]);
    for (const fused_value& v : values) value_at[static_cast<std::size_t>(v.id)] = -1;
  }
  /// Writes the result contiguously into a buffer of the expression's shape without the reduced axes.
  constexpr void write_whole(int buffer) { finish(contiguous(buffer, step.reduced)); }
  /// Writes into a window of a larger buffer: its element strides and an offset, by axis of the expression.
  constexpr void write_window(int buffer, const dims& strides, dim offset) {
    access out{buffer, offset, dims(step.extents.size(), 0)};
    for (int axis = 0; axis < strides.size(); ++axis)
      if (expression_map[axis].dimension >= 0) out.strides[expression_map[axis].dimension] = strides[axis];
    finish(out);
  }

 private:
  struct fused_value {
    int id = 0;
    index_map map;
    int statement = -1;
  };

  context& trace;
  const fusion& fused;
  const graph& g;
  const std::vector<int>& buffer_of;
  const section* mesh;
  std::vector<fused_value> values;
  std::vector<int>& value_at;   ///< by node: its place among the values
  std::vector<int> load_of;     ///< the statements that load
  std::vector<int> constant_of; ///< by constant: the statement that gives it
  index_map expression_map;
  int result_statement = -1;

  /// Where the loop's positions lie in a contiguous array without the dimensions in `reduced`.
  constexpr access contiguous(int buffer, unsigned reduced) {
    access result{buffer, 0, dims(step.extents.size(), 0)};
    dim stride = 1;
    for (int i = step.extents.size(); i-- > 0;) {
      if (reduced >> i & 1U) continue;
      result.strides[i] = stride;
      stride = trace.extents.multiply(stride, step.extents[i]);
    }
    return result;
  }
  constexpr fused_value* find(int id) {
    int place = value_at[static_cast<std::size_t>(id)];
    return place < 0 ? nullptr : &values[static_cast<std::size_t>(place)];
  }
  constexpr fused_value* insert(int id, const index_map& map) {
    value_at[static_cast<std::size_t>(id)] = static_cast<int>(values.size());
    values.push_back({id, map, -1});
    return &values.back();
  }

  constexpr bool is_row_loop() const { return structure.result == kernel_result::rows; }
  /// Whether a node of this loop is a further result.
  constexpr bool keeps(int id) const {
    return (id != root || is_row_loop()) && fused.has_buffer[static_cast<std::size_t>(id)];
  }
  /// A member's axes in order; one that has a single element for each row has none along the row.
  constexpr index_map row_map(int id) const {
    index_map map;
    int next = 0;
    for (dim extent : g.shape(id)) map.push_back(extent == 1 ? axis_map{-1, 0, 0} : axis_map{next++, 1, 0});
    return map;
  }

  /// Gives every fused node its index map, consumers first.
  constexpr void place(int expression, const index_map& map, int loop) {
    root = loop;
    note(expression, map, true);
    for (int id : fused.members[static_cast<std::size_t>(loop)]) {
      if (!find(id) && keeps(id)) insert(id, map);
      place_operands(id);
    }
  }
  constexpr void place_operands(int id) {
    fused_value* v = find(id);
    if (!v) return;
    index_map own = operand_map(id, v->map);
    for (int operand : g.operands(id))
      if (fused.rows.inner_member(id, operand) < 0) note(operand, g.at(operand).rank == 0 ? index_map{} : own, false);
  }
  /// How a node's operands follow the loop: a row reduction's are whole rows.
  constexpr index_map operand_map(int id, const index_map& map) const {
    return rules_of(g.at(id).operation).kind == primitive_kind::reduction ? row_map(g.operand(id, 0)) : map;
  }
  constexpr void note(int id, index_map map, bool is_expression) {
    // a root that is a view or a source copies what it stands for
    bool through = is_expression;
    while ((through || !fused.has_array(id)) && is_affine_view(g, id)) {
      map = through_view(trace.extents, g, id, map);
      id = g.operand(id, 0);
      through = false;
    }
    if (fused.loop_of[static_cast<std::size_t>(id)] != root) return;
    if (fused_value* known = find(id)) {
      if (!(known->map == map))
        trace.fail(message() << "internal error: " << rules_of(g.at(id).operation).name
                             << " is fused under two index maps");
      return;
    }
    insert(id, map);
  }

  constexpr void append(int id) {
    fused_value* v = find(id);
    if (!v) return;
    index_map map = operand_map(id, v->map);
    int operation = g.at(id).operation;
    kernel_statement s{operation, g.at(id).type, g.at(id).parameter_count > 0 ? g.parameter(id, 0) : 0, {}};
    if (rules_of(operation).kind == primitive_kind::reduction) {
      s.operation = reduce_row;
      s.parameter = operation;
    }
    if (operation == primitives::number_of<primitives::convert> ||
        operation == primitives::number_of<primitives::bitcast>)
      s.parameter = 0;
    for (int operand : g.operands(id)) {
      int inner = fused.rows.inner_member(id, operand);
      s.operands.push_back(inner >= 0 ? find(inner)->statement
                                      : value_of(operand, g.at(operand).rank == 0 ? index_map{} : map));
    }
    int statement = add(s);
    find(id)->statement = statement;
    if (keeps(id)) store(id, statement);
  }
  constexpr void store(int id, int statement) {
    bool of_rows = is_row_loop() && fused.row_group(id) >= 0 && fused.rows.is_uniform(id);
    access out = contiguous(buffer_of[static_cast<std::size_t>(id)], of_rows || !is_row_loop() ? step.reduced : 0);
    step.accesses.push_back(out);
    add({of_rows ? store_row : store_vector,
         g.at(id).type,
         0,
         {statement, static_cast<int>(step.accesses.size()) - 1}});
  }

  /// The statement that has the value of a node, read through views.
  constexpr int value_of(int id, index_map map) {
    bool through = id == root && is_affine_view(g, id);
    while (true) {
      if (fused_value* v = find(id); v && v->statement >= 0) return v->statement;
      if (!through && fused.has_array(id) && !(id == root)) break;
      if (!is_affine_view(g, id)) break;
      map = through_view(trace.extents, g, id, map);
      id = g.operand(id, 0);
      through = false;
    }
    int operation = g.at(id).operation;
    bool source = operation >= 0 && rules_of(operation).kind == primitive_kind::source;
    if (source && (id == root || !fused.has_buffer[static_cast<std::size_t>(id)])) return source_value(id, map);
    return load(locate(trace.extents, g.shape(id), map, step.extents.size(), buffer_of[static_cast<std::size_t>(id)]),
                g.at(id).type);
  }

  constexpr int source_value(int id, const index_map& map) {
    int operation = g.at(id).operation;
    element_type type = g.at(id).type;
    if (operation == primitives::number_of<primitives::literal>)
      return constant({constant_kind::literal, type, g.parameter(id, 2)});
    if (operation == primitives::number_of<primitives::extent_value>)
      return constant({constant_kind::extent, type, g.parameter(id, 1)});
    if (operation == primitives::number_of<primitives::axis_index>)
      return constant({constant_kind::axis_index, type,
                       mesh ? mesh->mesh_axis_of[static_cast<std::size_t>(g.parameter(id, 0))] : -1});
    // iota: the index is an affine function of the position, as an address is
    access index;
    if (std::int64_t axis = g.parameter(id, 1); axis >= 0) {
      index = {-1, map[static_cast<int>(axis)].offset, dims(step.extents.size(), 0)};
      if (map[static_cast<int>(axis)].dimension >= 0)
        index.strides[map[static_cast<int>(axis)].dimension] = map[static_cast<int>(axis)].multiplier;
    } else {
      index = locate(trace.extents, g.shape(id), map, step.extents.size(), -1);
    }
    return load_once(load_index, index, type);
  }

  constexpr int load(const access& from, element_type type) {
    dim innermost = step.extents.empty() ? 0 : from.strides[step.extents.size() - 1];
    int operation = innermost == 0 ? load_scalar : innermost == 1 ? load_vector : load_strided;
    return load_once(operation, from, type);
  }
  constexpr int load_once(int operation, const access& a, element_type type) {
    for (int statement : load_of) {
      const kernel_statement& known = structure.statements[static_cast<std::size_t>(statement)];
      if (known.type == type && step.accesses[static_cast<std::size_t>(known.operands[0])] == a) return statement;
    }
    step.accesses.push_back(a);
    load_of.push_back(add({operation, type, 0, {static_cast<int>(step.accesses.size()) - 1}}));
    return load_of.back();
  }
  constexpr int constant(const kernel_constant& c) {
    for (std::size_t i = 0; i < step.constants.size(); ++i)
      if (step.constants[i] == c) return constant_of[i];
    step.constants.push_back(c);
    constant_of.push_back(add({load_constant, c.type, 0, {static_cast<int>(step.constants.size()) - 1}}));
    return constant_of.back();
  }
  constexpr int add(const kernel_statement& s) {
    structure.statements.push_back(s);
    return static_cast<int>(structure.statements.size()) - 1;
  }
  constexpr void finish(const access& out) {
    // the result is the last statement
    if (result_statement != static_cast<int>(structure.statements.size()) - 1) {
      kernel_statement same = structure.statements[static_cast<std::size_t>(result_statement)];
      structure.statements.push_back(
          {primitives::number_of<primitives::stop_gradient>, same.type, 0, {result_statement}});
    }
    step.accesses[0] = out;
    int rank = step.extents.size();
    structure.result = structure.reduction >= 0                  ? kernel_result::reduction
                       : rank == 0 || out.strides[rank - 1] == 1 ? kernel_result::vector
                                                                 : kernel_result::strided;
  }

  int root = -1;
};

} // namespace parallax::detail
