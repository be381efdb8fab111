// Collectives as steps that exchange values between devices.
#pragma once

#include <parallax/compile/plan/plan.hpp>
#include <parallax/compile/prepare/mapped_section.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/exchange.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The axes of the mesh that a collective goes over.
constexpr bit_set mesh_axes_of(const graph& g, node_id id, const mapped_section& section) {
  bit_set axes;
  for (axis_id axis : mapped_axes_of(g, id).axes) axes.insert(static_cast<int>(section.mesh_axis_of[axis]));
  return axes;
}
/// Sets `outer` to the number of elements before a dimension of a shape, and `inner` to that of the dimension and those
/// behind it.
template <class Step> constexpr void set_around(dim_table& t, Step& step, const dims& shape, int dimension) {
  for (int i = 0; i < shape.size(); ++i) {
    dim& around = i < dimension ? step.outer : step.inner;
    around = t.multiply(around, shape[i]);
  }
}

constexpr axis_slice_step plan_axis_slice(dim_table& t, const graph& g, node_id id, const mapped_section& section,
                                          buffer_id source, buffer_id result) {
  axis_slice_step step{result, source, mesh_axes_of(g, id, section), dim{1}, dim{1}};
  set_around(t, step, g.shape(id), parameters_of<primitives::axis_slice>(g, id).dimension);
  return step;
}

constexpr exchange_step plan_exchange(context& trace, plan_builder& plan, const graph& g, node_id id,
                                      const mapped_section& section, buffer_id source, buffer_id result) {
  const primitive_rules& rules = rules_of(trace, g, id);
  dim_table& t = trace.extents;
  exchange_step step{.kind = rules.exchange,
                     .result = result,
                     .source = source,
                     .axes = mesh_axes_of(g, id, section),
                     .reduction = rules.reduction};
  step.is_of_process = is<primitives::axis_stack>(g, id);
  growing_vector<group_record> groups;
  for (const growing_vector<int>& group : mapped_axes_of(g, id).groups) groups.push_back({plan.add_list(group)});
  step.groups = plan.add_list(groups);
  const dims shape = g.shape(id), before = g.shape(g.operand(id, 0));
  switch (rules.exchange) {
  case exchange_kind::all_reduce: break;
  case exchange_kind::all_gather:
    set_around(t, step, before,
               step.is_of_process ? parameters_of<primitives::axis_stack>(g, id).dimension
                                  : parameters_of<primitives::all_gather>(g, id).dimension);
    break;
  case exchange_kind::reduce_scatter:
    set_around(t, step, shape, parameters_of<primitives::psum_scatter>(g, id).dimension);
    break;
  case exchange_kind::all_to_all: {
    dims slice = before;
    slice.erase(0);
    set_around(t, step, slice, 0);
    break;
  }
  case exchange_kind::broadcast: step.source_index = parameters_of<primitives::pbroadcast>(g, id).source; break;
  case exchange_kind::permute: {
    const auto p = parameters_of<primitives::ppermute>(g, id);
    step.how = p.how;
    step.distance = p.distance;
    step.sources = plan.add_list(p.sources);
    step.destinations = plan.add_list(p.destinations);
    break;
  }
  }
  return step;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
