// cond and switch_ inside a program: a call that runs one of several bodies.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/cond_parameters.hpp>
#include <parallax/transforms/calls/linearize_cond.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct cond_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "cond";
  using parameters = parallax::detail::cond_parameters;

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    return parallax::detail::results_of(trace, p.branches[0]);
  }

  /// A batched index computes all branches and selects.
  static constexpr growing_vector<batched> batch(const batch_application& a, const parameters& p) {
    if (a.operands[0].is_mapped()) return select_among(a, p);
    using namespace parallax::detail;
    context& trace = a.trace;
    const operand_flags mapped = mapped_operands(a), inputs = behind_index(mapped);
    growing_vector<tracer> operands = operands_at_front(a, mapped);
    parameters batched_branches;
    for_each(p.branches,
             [&](graph_id branch) { batched_branches.branches.push_back(batched_body(a, branch, inputs)); });
    add_captures(trace, batched_branches, operands);
    return at_front(emit_call<cond_call>(trace, operands, batched_branches));
  }

  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    return parallax::detail::cond_linearization(a, p).run();
  }

  static constexpr results_with_tangents jvp(const jvp_application& a, const parameters& p) {
    using namespace parallax::detail;
    const operand_flags inputs = behind_index(a.moving());
    result_flags outputs(a.trace.at(p.branches[0]).outputs.size());
    for_each(p.branches, [&](graph_id branch) {
      const result_flags own = active_outputs(a.trace, branch, inputs);
      for (std::size_t k = 0; k < own.size(); ++k) outputs[k] = outputs[k] != 0 || own[k] != 0;
    });
    parameters both;
    for_each(p.branches, [&](graph_id branch) {
      both.branches.push_back(body_with_tangents(a.trace, branch, inputs, outputs).body);
    });
    if (a.trace.failed) return {};
    return results_with_tangents::of(emit_call<cond_call>(a.trace, a.operands_with_tangents(), both), outputs);
  }

  /// If the index differs between instances, no collective may be inside: instances that take another branch would not
  /// come to it.
  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    variation inside = v;
    if (operands[0] != 0) inside.chosen_by = "cond and switch_: what chooses a branch";
    const operand_flags inputs = parallax::detail::behind_index(operands);
    result_flags outputs;
    for (const graph_id branch : p.branches) {
      const result_flags own = parallax::detail::varies_along(inside, branch, inputs);
      outputs.resize(own.size());
      for (std::size_t k = 0; k < own.size(); ++k)
        outputs[k] = outputs[k] != 0 || own[k] != 0 || operands[0] != 0 ? 1 : 0;
    }
    return outputs;
  }

  // Defined where graphs are prepared, and where they are lowered.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr void lower(parallax::detail::section_planner&, node_id call, const parameters&);

  /// Makes the values that any branch closes over operands of all branches.
  static constexpr void add_captures(context& trace, const parameters& p, growing_vector<tracer>& operands) {
    using namespace parallax::detail;
    for_each(p.branches, [&](graph_id branch) {
      for_each(captures_to_inputs(trace, branch), [&](tracer closed_over) {
        operands.push_back(closed_over);
        for_each(p.branches, [&](graph_id other) {
          if (other == branch) return;
          graph& g = trace.at(other);
          abstract_value value = closed_over.value();
          value.varies = value.varies | operands[0].varies();
          const node_id input = g.add_input(value);
          g.inputs.push_back(input);
        });
      });
    });
  }

 private:
  static constexpr growing_vector<batched> select_among(const batch_application& a, const parameters& p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const growing_vector<batched> inputs(a.operands.begin() + 1, a.operands.end());
    const tracer index = build::mapped_at(a.operands[0], 0, a.size);
    growing_vector<batched> chosen;
    for (std::size_t b = 0; b < p.branches.size(); ++b) {
      const tracer is_this = emit<equal>({index, build::like(index, static_cast<double>(b))});
      const growing_vector<batched> own =
          batch_graph(trace, p.branches[b], moving_where(is_this, inputs, a.size), a.size, a.axis);
      if (b == 0) {
        for (const batched& y : own) chosen.push_back({build::mapped_at(y, 0, a.size), 0});
        continue;
      }
      for (std::size_t k = 0; k < own.size(); ++k) {
        const tracer value = build::mapped_at(own[k], 0, a.size);
        chosen[k].value = build::select(build::broadcast_in_dim(is_this, value.extents(), {0}), value, chosen[k].value);
      }
    }
    return chosen;
  }
  /// The inputs of a branch, without derivatives for elements that do not take it: an infinite derivative there would
  /// make NaN of the zeros that come back. As JAX does.
  static constexpr growing_vector<batched> moving_where(const tracer& taken, growing_vector<batched> inputs, dim size) {
    for (batched& x : inputs) {
      if (!has_derivatives(x.value.type())) continue;
      const tracer value = build::mapped_at(x, 0, size);
      x = {build::select(build::broadcast_in_dim(taken, value.extents(), {0}), value, emit<stop_gradient>({value})), 0};
    }
    return inputs;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
