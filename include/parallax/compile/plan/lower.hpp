// Lowering: a prepared program becomes records.
#pragma once

#include <parallax/compile/plan/lower_calls.hpp>
#include <parallax/compile/prepare/equal_extents.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

constexpr section_record add_section(plan_builder& plan, const planned_section& section, const mapped_section* mapped) {
  const growing_vector<buffer_record> buffers =
      vector_of(section.buffers, [](const planned_buffer& b) { return b.record; });
  return {.mesh = mapped ? plan.add_list(mapped->mesh) : record_list<dim>{},
          .axis_size = mapped ? mapped->axis_size : dim{},
          .is_whole_mesh = mapped && mapped->is_whole_mesh,
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

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
