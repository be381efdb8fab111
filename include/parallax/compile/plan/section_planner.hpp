// A prepared graph becomes a section: a list of steps over buffers.
#pragma once

#include <parallax/compile/plan/assign_slots.hpp>
#include <parallax/compile/plan/find_accumulations.hpp>
#include <parallax/compile/plan/find_epilogues.hpp>
#include <parallax/compile/plan/group_loops.hpp>
#include <parallax/compile/plan/plan_exchange.hpp>
#include <parallax/compile/plan/plan_product.hpp>
#include <parallax/compile/plan/section_loops.hpp>
#include <parallax/compile/prepare/flatten.hpp>
#include <parallax/compile/prepare/prepare_loops.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Lowers one graph to one section. The rule `lower` of a call is given this, to append its steps.
class section_planner : public section_loops {
 public:
  /// Lowers graph number `number` of `sections`, behind which the bodies of its loops are put.
  constexpr section_planner(context& owner, plan_builder& whole, growing_vector<section_graph>& sections,
                            std::size_t number)
      : section_loops(owner, whole, sections[number]),
        all(sections),
        is_scan_body(sections[number].is_scan_body),
        handed_on(sections[number].handed_on),
        emitted(g.size()) {}

  constexpr void run() {
    section.argument_count = section.value_count = count_of(g.inputs);
    for (int k = 0; k < section.argument_count; ++k) {
      const node_id input = g.inputs[index_of(k)];
      buffer_of[input] = new_buffer(g.value(input), buffer_kind::bound, k);
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
  growing_vector<section_graph>& all;
  bool is_scan_body;
  growing_vector<int> handed_on;
  id_set<node_id> emitted;

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

  /// Emits the steps that compute what the loops of an assembly or a scatter read.
  constexpr void require_pieces(node_id id, int count) {
    for (int k = 0; k < count; ++k)
      for (node_id member : fused.members[piece(id, k)]) require_operands(member, piece(id, k));
  }

  constexpr void emit(node_id id) {
    const loop_id loop = loop_of_node(id);
    const bool computed_elsewhere = fused.loop_of[id] != loop_id::none && fused.loop_of[id] != loop;
    if (computed_elsewhere || emitted.contains(id)) return;
    emitted.insert(id);
    require_operands(id, loop);
    for_each(fused.members[loop], [&](node_id member) { require_operands(member, loop); });
    if (fused.row_sweep(loop) != row_sweep_id::none) return emit_rows(id);
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
    case primitive_kind::assembly:
      require_pieces(id, count_of(g.operands(id)));
      return is<primitives::concatenate>(g, id) ? emit_concatenate(id) : emit_pad(id);
    case primitive_kind::scatter: require_pieces(id, 2); return emit_scatter(id);
    case primitive_kind::collective: return emit_collective(id);
    case primitive_kind::call: return rules.call.lower(*this, id, g.parameters(id));
    }
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

  constexpr void place_outputs() {
    for (std::size_t k = 0; k < g.outputs.size(); ++k) {
      const node_id id = g.outputs[k];
      output_record output{.described = plan.add_value(g.value(id))};
      if (inside && !is_scan_body) output.spread = plan.add_list(inside->results[k]);
      buffer_record& buffer = section.buffers[buffer_of[id]].record;
      if (g.is_result(id) && buffer.kind == buffer_kind::bound) {
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
