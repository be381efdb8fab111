// Lowering: a prepared graph becomes a list of steps over buffers.
#pragma once

#include <parallax/compile/plan/assign_slots.hpp>
#include <parallax/compile/plan/find_epilogues.hpp>
#include <parallax/compile/plan/plan_exchange.hpp>
#include <parallax/compile/plan/plan_product.hpp>
#include <parallax/compile/prepare/equal_extents.hpp>
#include <parallax/compile/prepare/flatten.hpp>
#include <parallax/compile/prepare/prepare_scan.hpp>
#include <parallax/core/growing_vector.hpp>
#include <parallax/core/ids.hpp>

#include <utility>

namespace parallax::detail {

/// A graph that becomes a section: the program's, the body of a pmap, or that of a loop.
struct section_graph {
  graph_id graph = graph_id::none;
  const mapped_section* inside = nullptr; ///< what devices it runs on; null where it is none of a pmap
  bool is_scan_body = false;
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
        fused(owner, sections[number].graph),
        inside(sections[number].inside),
        is_scan_body(sections[number].is_scan_body),
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
    early_starter(plan, section).run();
    slot_assigner(plan, section).run();
  }

  /// The section that a mapped call's body is.
  constexpr section_id section_of(graph_id body) const {
    std::size_t k = 0;
    while (all[k].graph != body) ++k;
    return section_id{static_cast<int>(k)};
  }

  /// A step that calls a mapped section. Its results get numbers of their own.
  constexpr void add_call(node_id call, section_id which, const growing_vector<int>& devices);
  /// A step that runs the body of a loop.
  constexpr void add_scan(node_id call, const scan_parameters& p);

 private:
  context& trace;
  plan_builder& plan;
  growing_vector<section_graph>& all;
  const graph& g;
  fusion fused;
  const mapped_section* inside;
  bool is_scan_body;
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
  /// The number of elements before a dimension.
  constexpr dim extent_before(node_id id, int dimension) const {
    dim before{1};
    for (int axis = 0; axis < dimension; ++axis) before = trace.extents.multiply(before, g.extent(id, axis));
    return before;
  }

  /// Emits the steps that a node's operands come from, where they do not stand earlier.
  constexpr void require_operands(node_id id) {
    for (node_id operand : g.operands(id)) {
      if (fused.rows.inner_member(id, operand) != node_id::none) continue;
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
    require_operands(id);
    for_each(fused.members[loop], [&](node_id member) { require_operands(member); });
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
    case primitive_kind::elementwise: return emit_loop(id);
    case primitive_kind::reduction: return emit_reduction(id);
    case primitive_kind::product: return emit_product(id);
    case primitive_kind::assembly: return emit_assembly(id);
    case primitive_kind::collective: return emit_collective(id);
    case primitive_kind::call: return rules.call.lower(*this, id, g.parameters(id));
    }
  }

  /// The members of a loop that have a buffer get theirs.
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
      for (node_id member : fused.members[piece(id, k)]) require_operands(member);
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
  /// The value everywhere, then the operand into its window.
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
  /// Of an argument, or a second output of one value.
  constexpr void copy_output(node_id id, int number) {
    const buffer_id copy = new_buffer(g.value(id), buffer_kind::output, number);
    planned_loop loop{.statements = {{.kind = statement_kind::load_vector, .type = g.type(id), .argument = 1}},
                      .extents = {section.buffers[copy].record.count},
                      .accesses = {{copy, dim{}, {dim{1}}}, {buffer_of[id], dim{}, {dim{1}}}}};
    section.steps.push_back(add_loop(plan, loop));
  }
};

constexpr void section_planner::add_call(node_id call, section_id which, const growing_vector<int>& devices) {
  const mapped_section& called = *all[index_of(which)].inside;
  growing_vector<call_operand> operands;
  for (std::size_t k = 0; k < called.operands.size(); ++k) {
    const node_id operand = g.operand(call, static_cast<int>(k));
    spread_dimensions spread = called.operands[k];
    for (spread_dimension& s : spread) s.before = extent_before(operand, s.dimension);
    operands.push_back({buffer_of[operand], plan.add_list(spread)});
  }
  const growing_vector<value_id> results = vector_of(g.results_of(call), [&](node_id result) {
    buffer_of[result] = new_buffer(g.value(result), buffer_kind::value, section.value_count);
    return value_id{section.value_count++};
  });
  add(step_kind::call, call_step{which, plan.add_list(operands), plan.add_list(results), plan.add_list(devices)});
}

constexpr void section_planner::add_scan(node_id call, const scan_parameters& p) {
  const graph& body = trace.at(p.body);
  auto slice_of = [&](node_id of_one) { return trace.extents.product(body.shape(of_one)); };
  growing_vector<scan_operand> operands;
  for (std::size_t k = 0; k < p.roles.size(); ++k) {
    const bool is_stacked = p.roles[k] == scan_role::stacked;
    operands.push_back(
        {buffer_of[g.operand(call, static_cast<int>(k))], p.roles[k], is_stacked ? slice_of(body.inputs[k]) : dim{}});
  }
  const std::size_t carries = p.operands(scan_role::carry).size();
  growing_vector<scan_result> results;
  for (std::size_t k = 0; k < body.outputs.size(); ++k) {
    const node_id result = g.results_of(call)[static_cast<int>(k)];
    scan_result made{.buffer = own_buffer(result)};
    if (k < carries) made.other = new_buffer(g.value(result), buffer_kind::slot, -1);
    else made.slice = slice_of(body.outputs[k]);
    results.push_back(made);
  }
  const section_id which{count_of(all)};
  all.push_back({p.body, inside, true});
  add(step_kind::scan, scan_step{which, p.length, p.reverse, plan.add_list(operands), plan.add_list(results)});
}

} // namespace parallax::detail

namespace parallax::primitives {
constexpr void pmap_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_call(call, planner.section_of(p.body), p.devices);
}
constexpr void scan_call::lower(parallax::detail::section_planner& planner, node_id call, const parameters& p) {
  planner.add_scan(call, p);
}
} // namespace parallax::primitives

namespace parallax::detail {

constexpr section_record add_section(plan_builder& plan, const planned_section& section, const mapped_section* mapped) {
  const growing_vector<buffer_record> buffers =
      vector_of(section.buffers, [](const planned_buffer& b) { return b.record; });
  return {.mesh = mapped ? plan.add_list(mapped->mesh) : record_list<dim>{},
          .argument_count = section.argument_count,
          .value_count = section.value_count,
          .slot_count = section.slot_count,
          .buffers = plan.add_list(buffers),
          .outputs = plan.add_list(section.outputs),
          .steps = plan.add_list(section.steps)};
}

/// Lowers a traced program to its sections, the main one first.
constexpr void lower(context& trace, plan_builder& plan) {
  preparation prepared(trace);
  prepared.run();
  if (trace.failed) return;
  const prepared_program& program = prepared.result;
  known_equal renamed(trace);
  rename_extents(trace, trace.at(program.root), renamed);
  for (const mapped_section& s : program.sections) rename_extents(trace, trace.at(s.body), renamed);
  for_each(program.bodies, [&](graph_id body) { rename_extents(trace, trace.at(body), renamed); });
  growing_vector<section_graph> graphs;
  graphs.push_back({program.root});
  for (const mapped_section& s : program.sections) graphs.push_back({s.body, &s});
  growing_vector<section_record> sections;
  for (std::size_t k = 0; k < graphs.size(); ++k) { // lowering adds the bodies of loops
    section_planner planner(trace, plan, graphs, k);
    planner.run();
    sections.push_back(add_section(plan, planner.section, graphs[k].is_scan_body ? nullptr : graphs[k].inside));
  }
  plan.add_list(sections);
}

} // namespace parallax::detail
