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
  /// Writes the result contiguously into a buffer of the expression's shape without the reduced axes.
  constexpr void write_whole(int buffer) { finish(contiguous(buffer)); }
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

  /// Where the loop's positions lie in a contiguous array without the reduced dimensions.
  constexpr access contiguous(int buffer) {
    access result{buffer, 0, dims(step.extents.size(), 0)};
    dim stride = 1;
    for (int i = step.extents.size(); i-- > 0;) {
      if (step.reduced >> i & 1U) continue;
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

  /// Whether a node of this loop is a further result.
  constexpr bool keeps(int id) const { return id != root && fused.has_buffer[static_cast<std::size_t>(id)]; }

  /// Gives every fused node its index map, consumers first.
  constexpr void place(int expression, const index_map& map, int loop) {
    root = loop;
    note(expression, map, true);
    for (int id : fused.members[static_cast<std::size_t>(loop)]) {
      fused_value* v = find(id);
      if (!v && keeps(id)) v = insert(id, map);
      if (!v) continue;
      index_map own = v->map;
      for (int operand : g.operands(id)) note(operand, g.at(operand).rank == 0 ? index_map{} : own, false);
    }
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
    index_map map = v->map;
    int operation = g.at(id).operation;
    kernel_statement s{operation, g.at(id).type, g.at(id).parameter_count > 0 ? g.parameter(id, 0) : 0, {}};
    if (operation == primitives::number_of<primitives::convert> ||
        operation == primitives::number_of<primitives::bitcast>)
      s.parameter = 0;
    for (int operand : g.operands(id))
      s.operands.push_back(value_of(operand, g.at(operand).rank == 0 ? index_map{} : map));
    int statement = add(s);
    find(id)->statement = statement;
    if (keeps(id)) store(id, statement);
  }
  constexpr void store(int id, int statement) {
    step.accesses.push_back(contiguous(buffer_of[static_cast<std::size_t>(id)]));
    add({store_vector, g.at(id).type, 0, {statement, static_cast<int>(step.accesses.size()) - 1}});
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
