// The loops of a section as steps, and the buffers that its nodes lie in.
#pragma once

#include <parallax/compile/fuse/build_kernel.hpp>
#include <parallax/compile/plan/plan.hpp>
#include <parallax/compile/plan/plan_order.hpp>
#include <parallax/compile/prepare/mapped_section.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A graph that becomes a section: the program's, the body of a pmap, or that of a loop.
struct section_graph {
  graph_id graph = graph_id::none;
  const mapped_section* inside = nullptr; ///< the pmap's section around it; null if there is none
  bool is_scan_body = false;
  growing_vector<node_id> staying{}; ///< inputs that are changed in place
  growing_vector<node_id> kept{};    ///< nodes whose results lie in memory
  growing_vector<int> handed_on{};   ///< outputs that lie in an input's buffer
};

/// The loops of one graph as steps. Whatever a loop reads has its buffer before the loop is emitted.
class section_loops {
 public:
  planned_section section;

 protected:
  context& trace;
  plan_builder& plan;
  const graph& g;
  fusion fused;
  const mapped_section* inside;
  growing_vector<node_id> staying;
  buffer_table buffer_of;
  table<node_id, int> scratch; ///< of the kernel builders

  constexpr section_loops(context& owner, plan_builder& whole, const section_graph& from)
      : trace(owner),
        plan(whole),
        g(owner.at(from.graph)),
        fused(owner, from.graph, from.kept),
        inside(from.inside),
        staying(from.staying),
        buffer_of(g.size(), buffer_id::none),
        scratch(g.size(), kernel_builder::no_value) {}

  constexpr buffer_id new_buffer(const abstract_value& value, buffer_kind kind, int number) {
    return section.buffers.add({{kind, number, value.type, trace.extents.product(value.shape)}});
  }
  constexpr buffer_id own_buffer(node_id id) { return buffer_of[id] = new_buffer(g.value(id), buffer_kind::slot, -1); }
  template <class Step> constexpr void add(step_kind kind, const Step& step) {
    section.steps.push_back({kind, plan.add(step)});
  }
  constexpr void add(const kernel_builder& kernel) { section.steps.push_back(add_loop(plan, kernel.loop)); }
  constexpr kernel_builder kernel() { return kernel_builder(trace, fused, buffer_of, inside, scratch); }

  /// Makes the buffers of a loop's members that lie in memory.
  constexpr void own_members(node_id id) {
    for_each(fused.members[loop_of_node(id)], [&](node_id member) {
      if (fused.has_buffer.contains(member)) own_buffer(member);
    });
  }
  constexpr void emit_loop(node_id id) {
    own_members(id);
    if (buffer_of[id] == buffer_id::none) own_buffer(id); // of a view or a source
    kernel_builder loop = kernel();
    loop.run(id, loop_of_node(id));
    loop.write_whole(buffer_of[id]);
    add(loop);
  }
  constexpr void emit_reduction(node_id id) {
    const bool positions = is<primitives::argmax>(g, id) || is<primitives::argmin>(g, id);
    kernel_builder loop = kernel();
    loop.run(g.operand(id, 0), loop_of_node(id), parameters_of<primitives::reduction>(g, id).axes, g.primitive(id),
             positions);
    loop.write_whole(own_buffer(id));
    add(loop);
  }
  constexpr void emit_cumulative(node_id id) {
    if (is<primitives::linear_recurrence>(g, id)) {
      const buffer_id factor = buffer_of[g.operand(id, 0)], term = buffer_of[g.operand(id, 1)];
      section.steps.push_back(add_loop(plan, plan_recurrence(trace.extents, g, id, factor, term, own_buffer(id))));
      return;
    }
    const auto p = parameters_of<primitives::cumulative>(g, id);
    kernel_builder loop = kernel();
    loop.run(g.operand(id, 0), loop_of_node(id), {p.axis}, g.primitive(id));
    loop.write_cumulated(own_buffer(id), p.reverse);
    add(loop);
  }
  constexpr void emit_sorting(node_id id) {
    const node_id keys = g.operand(id, 0), values = g.operand(id, 1);
    sort_buffers used{.keys = buffer_of[keys], .values = buffer_of[values], .result = own_buffer(id)};
    used.other_values = new_buffer(g.value(values), buffer_kind::slot, -1);
    if (keys != values)
      for (buffer_id& each : used.moved_keys) each = new_buffer(g.value(keys), buffer_kind::slot, -1);
    section.steps.push_back(add_loop(plan, plan_sort(trace.extents, g, id, used)));
  }
  constexpr void emit_rows(node_id id) {
    own_members(id);
    kernel_builder loop = kernel();
    loop.run_rows(loop_of_node(id));
    add(loop);
  }

  constexpr loop_id piece(node_id assembly, int number) const {
    return loop_id{static_cast<int>(fused.first_piece[assembly]) + number};
  }
  constexpr void emit_concatenate(node_id id) {
    dim_table& t = trace.extents;
    const buffer_id buffer = own_buffer(id);
    const dims strides = contiguous_strides(t, g.shape(id));
    const int axis = parameters_of<primitives::concatenate>(g, id).dimension;
    dim start;
    for (int k = 0; k < count_of(g.operands(id)); ++k) {
      const node_id operand = g.operand(id, k);
      write_piece(operand, piece(id, k), buffer, strides, t.multiply(start, strides[axis]));
      start = t.add(start, g.extent(operand, axis));
    }
  }
  /// Fills the result with the padding value, then copies the operand into its window.
  constexpr void emit_pad(node_id id) {
    dim_table& t = trace.extents;
    const buffer_id buffer = own_buffer(id);
    const dims shape = g.shape(id), strides = contiguous_strides(t, shape);
    kernel_builder fill = kernel();
    fill.run(g.operand(id, 1), piece(id, 1));
    fill.loop.extents = {t.product(shape)};
    for (std::size_t i = 1; i < fill.loop.accesses.size(); ++i) fill.loop.accesses[i].strides = {dim{}};
    fill.write_whole(buffer);
    add(fill);
    const auto around = parameters_of<primitives::pad>(g, id);
    dim offset;
    dims spread;
    for (int k = 0; k < shape.size(); ++k) {
      offset = t.add(offset, t.multiply(around.low[k], strides[k]));
      spread.push_back(t.multiply(strides[k], dim{around.interior[k] + 1}));
    }
    write_piece(g.operand(id, 0), piece(id, 0), buffer, spread, offset);
  }
  constexpr void write_piece(node_id operand, loop_id which, buffer_id buffer, const dims& strides, dim offset) {
    kernel_builder loop = kernel();
    loop.run(operand, which);
    loop.write_window(buffer, strides, offset);
    add(loop);
  }

  /// Copies the array, unless its buffer can be changed itself, then changes elements of the copy.
  constexpr void emit_scatter(node_id id) {
    const node_id array = g.operand(id, 0);
    if (ends_with(array, id)) {
      buffer_of[id] = buffer_of[array];
    } else if (plain::contains(staying, array)) {
      own_buffer(id); // which is where the carry is
    } else {
      kernel_builder copy = kernel();
      copy.run(array, piece(id, 0));
      copy.write_whole(own_buffer(id));
      add(copy);
    }
    kernel_builder changes = kernel();
    changes.run_scatter(id, piece(id, 1), buffer_of[id]);
    add(changes);
  }
  /// Whether a node lies in a slot, and only `reader` reads it, as one operand.
  constexpr bool ends_with(node_id id, node_id reader) const {
    if (!fused.has_buffer.contains(id) || section.buffers[buffer_of[id]].record.kind != buffer_kind::slot) return false;
    bool alone = !plain::contains(g.outputs, id);
    for_each(g.ids(), [&](node_id other) {
      if (other == reader || !fused.live.contains(other) || !g.is_operation(other)) return;
      for (node_id operand : g.operands(other)) alone = alone && operand != id;
    });
    int times = 0;
    for (node_id operand : g.operands(reader)) times += operand == id ? 1 : 0;
    return alone && times == 1;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
