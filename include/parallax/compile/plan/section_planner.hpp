// A prepared graph becomes a section: a list of steps over buffers.
#pragma once

#include <parallax/compile/plan/assign_slots.hpp>
#include <parallax/compile/plan/find_accumulations.hpp>
#include <parallax/compile/plan/find_epilogues.hpp>
#include <parallax/compile/plan/group_loops.hpp>
#include <parallax/compile/plan/plan_exchange.hpp>
#include <parallax/compile/plan/plan_order.hpp>
#include <parallax/compile/plan/plan_product.hpp>
#include <parallax/compile/prepare/flatten.hpp>
#include <parallax/compile/prepare/prepare_loops.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

#include <utility>

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

/// Lowers one graph to one section. The rule `lower` of a call is given this, to append its steps.
class section_planner {
 public:
  planned_section section;

  /// Lowers graph number `number` of `sections`, behind which the bodies of its loops are put.
  constexpr section_planner(context& owner, plan_builder& whole, growing_vector<section_graph>& sections,
                            std::size_t number)
      : trace(owner),
        plan(whole),
        all(sections),
        g(owner.at(sections[number].graph)),
        fused(owner, sections[number].graph, sections[number].kept),
        inside(sections[number].inside),
        is_scan_body(sections[number].is_scan_body),
        staying(sections[number].staying),
        handed_on(sections[number].handed_on),
        buffer_of(g.size(), buffer_id::none),
        emitted(g.size()),
        scratch(g.size(), kernel_builder::no_value) {}

  constexpr void run() {
    section.argument_count = section.value_count = count_of(g.inputs);
    for (int k = 0; k < section.argument_count; ++k) {
      const node_id input = g.inputs[index_of(k)];
      buffer_of[input] = new_buffer(g.value(input), buffer_kind::value, k);
    }
    for_each(g.ids(), [&](node_id id) {
      if (!trace.failed && fused.live.contains(id) && g.is_operation(id)) emit(id);
    });
    if (trace.failed) return;
    place_outputs();
    epilogue_finder(trace.extents, plan, section).run();
    accumulation_finder(trace.extents, plan, section).run();
    early_starter(plan, section).run();
    loop_grouper(trace.extents, plan, section).run();
    slot_assigner(plan, section).run();
  }

  /// The section of a mapped call's body.
  constexpr section_id section_of(graph_id body) const {
    std::size_t k = 0;
    while (all[k].graph != body) ++k;
    return section_id{static_cast<int>(k)};
  }

  /// A step that calls a mapped section. Its results get numbers of their own.
  constexpr void add_call(node_id call, section_id which, const growing_vector<int>& devices);
  /// Steps that run the bodies of loops.
  constexpr void add_scan(node_id call, const scan_parameters& p);
  constexpr void add_while(node_id call, const primitives::while_call::parameters& p);
  constexpr void add_cond(node_id call, const cond_parameters& p);
  constexpr void add_ffi(node_id call, const primitives::ffi_call::parameters& p);

 private:
  context& trace;
  plan_builder& plan;
  growing_vector<section_graph>& all;
  const graph& g;
  fusion fused;
  const mapped_section* inside;
  bool is_scan_body;
  growing_vector<node_id> staying;
  growing_vector<int> handed_on;
  buffer_table buffer_of;
  id_set<node_id> emitted;
  table<node_id, int> scratch; ///< of the kernel builders

  constexpr buffer_id new_buffer(const abstract_value& value, buffer_kind kind, int number) {
    return section.buffers.add({{kind, number, value.type, trace.extents.product(value.shape)}});
  }
  constexpr buffer_id own_buffer(node_id id) { return buffer_of[id] = new_buffer(g.value(id), buffer_kind::slot, -1); }
  template <class Step> constexpr void add(step_kind kind, const Step& step) {
    section.steps.push_back({kind, plan.add(step)});
  }
  constexpr void add(const kernel_builder& kernel) { section.steps.push_back(add_loop(plan, kernel.loop)); }
  constexpr kernel_builder kernel() { return kernel_builder(trace, fused, buffer_of, inside, scratch); }
  /// The section that a body of a loop becomes.
  constexpr section_id add_body(graph_id body) {
    all.push_back({body, inside, true});
    return section_id{count_of(all) - 1};
  }
  constexpr growing_vector<scan_result> carried_results(node_id call, const growing_vector<scan_role>& roles,
                                                        section_id body, bool may_hand_on);
  constexpr void hand_on(growing_vector<scan_result>& results, const growing_vector<node_id>& carries, section_id body);
  constexpr growing_vector<scan_operand> loop_operands(node_id call, const growing_vector<scan_role>& roles,
                                                       graph_id body) const;
  /// The number of elements before a dimension.
  constexpr dim extent_before(node_id id, int dimension) const {
    dim before{1};
    for (int axis = 0; axis < dimension; ++axis) before = trace.extents.multiply(before, g.extent(id, axis));
    return before;
  }

  /// Emits the steps that compute a node's operands, unless they are emitted already.
  constexpr void require_operands(node_id id, loop_id loop) {
    for (node_id operand : g.operands(id)) {
      if (fused.inner_member(loop, id, operand) != node_id::none) continue;
      const node_id base = fused.base_of(operand);
      if (base == node_id::none || buffer_of[base] != buffer_id::none) continue;
      if (fused.loop_of[base] != loop_id::none) emit(node_id{static_cast<int>(fused.loop_of[base])});
      else emit(g.is_result(base) ? g.operand(base, 0) : base);
    }
  }

  constexpr void emit(node_id id) {
    const loop_id loop = loop_of_node(id);
    const bool computed_elsewhere = fused.loop_of[id] != loop_id::none && fused.loop_of[id] != loop;
    if (computed_elsewhere || emitted.contains(id)) return;
    emitted.insert(id);
    require_operands(id, loop);
    for_each(fused.members[loop], [&](node_id member) { require_operands(member, loop); });
    if (fused.row_group(loop) != row_group_id::none) return emit_rows(id);
    if (fused.is_alias(id)) {
      buffer_of[id] = buffer_of[g.operand(id, 0)];
      return;
    }
    const primitive_rules& rules = rules_of(trace, g, id);
    if (rules.kind != primitive_kind::call && !fused.has_buffer.contains(id)) return;
    switch (rules.kind) {
    case primitive_kind::source:
    case primitive_kind::view:
    case primitive_kind::gather:
    case primitive_kind::elementwise: return emit_loop(id);
    case primitive_kind::reduction: return emit_reduction(id);
    case primitive_kind::cumulative: return emit_cumulative(id);
    case primitive_kind::sorting: return emit_sorting(id);
    case primitive_kind::product: return emit_product(id);
    case primitive_kind::assembly: return emit_assembly(id);
    case primitive_kind::scatter: return emit_scatter(id);
    case primitive_kind::collective: return emit_collective(id);
    case primitive_kind::call: return rules.call.lower(*this, id, g.parameters(id));
    }
  }

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
  constexpr void emit_product(node_id id) {
    product_step step = plan_product(trace.extents, plan, fused, buffer_of, id);
    step.result = own_buffer(id);
    add(step_kind::product, step);
  }
  constexpr void emit_collective(node_id id) {
    const buffer_id source = buffer_of[g.operand(id, 0)], result = own_buffer(id);
    if (is<primitives::axis_slice>(g, id))
      add(step_kind::axis_slice, plan_axis_slice(trace.extents, g, id, *inside, source, result));
    else add(step_kind::exchange, plan_exchange(trace, plan, g, id, *inside, source, result));
  }

  constexpr loop_id piece(node_id assembly, int number) const {
    return loop_id{static_cast<int>(fused.first_piece[assembly]) + number};
  }
  constexpr void emit_assembly(node_id id) {
    for (int k = 0; k < count_of(g.operands(id)); ++k)
      for (node_id member : fused.members[piece(id, k)]) require_operands(member, piece(id, k));
    if (is<primitives::concatenate>(g, id)) emit_concatenate(id);
    else emit_pad(id);
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
    for (int k = 0; k < 2; ++k)
      for (node_id member : fused.members[piece(id, k)]) require_operands(member, piece(id, k));
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

  constexpr void place_outputs() {
    for (std::size_t k = 0; k < g.outputs.size(); ++k) {
      const node_id id = g.outputs[k];
      output_record output{.described = plan.add_value(g.value(id))};
      if (inside && !is_scan_body) output.spread = plan.add_list(inside->results[k]);
      buffer_record& buffer = section.buffers[buffer_of[id]].record;
      if (g.is_result(id) && buffer.kind == buffer_kind::value) {
        output.value = value_id{buffer.number};
      } else if (buffer.kind == buffer_kind::slot) {
        buffer.kind = buffer_kind::output;
        buffer.number = static_cast<int>(k);
      } else {
        copy_output(id, static_cast<int>(k));
      }
      section.outputs.push_back(output);
    }
  }
  /// Copies an output that is an argument, or a second output of one value. An output that is handed on is not copied.
  constexpr void copy_output(node_id id, int number) {
    const buffer_id copy = new_buffer(g.value(id), buffer_kind::output, number);
    if (plain::contains(handed_on, number)) return;
    planned_loop loop{.statements = {{.kind = statement_kind::load_vector, .type = g.type(id), .argument = 1}},
                      .extents = {section.buffers[copy].record.count},
                      .accesses = {{copy, dim{}, {dim{1}}}, {buffer_of[id], dim{}, {dim{1}}}}};
    section.steps.push_back(add_loop(plan, loop));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
