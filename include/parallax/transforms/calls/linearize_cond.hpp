// The derivative of a branch: two branches.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/cond_parameters.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Each branch of the forward half also returns the values that its backward half reads, and zeros for those that the
/// other branches' backward halves read. Branches of the backward half return the cotangents of all operands that any
/// branch depends on.
class cond_linearization {
 public:
  constexpr cond_linearization(const linearize_application& application, const cond_parameters& parameters)
      : trace(application.trace),
        operands(application.operands),
        wanted(behind_index(application.wanted)),
        p(parameters) {}

  constexpr linearized_call run() {
    linear.backward = primitives::id_of<primitives::cond_call>;
    auto same = [](std::size_t, tracer x) { return x; };
    for_each(p.branches, [&](graph_id branch) {
      if (trace.failed) return;
      joint_program joint(trace, branch, wanted, same, same);
      if (trace.failed) return;
      joint.compute_cheap_values_again([](std::size_t) { return input_place::elsewhere; });
      halves.push_back(
          {joint.forward_half(), joint.backward_half(), joint.residual_count(), joint.differentiated_inputs});
      linear.differentiated_results = joint.differentiated_results;
    });
    if (trace.failed) return {};
    find_differentiated();
    run_forward();
    make_backward();
    return linear;
  }

 private:
  /// The halves of a branch.
  struct two_halves {
    graph_id forward = graph_id::none, backward = graph_id::none;
    int residuals = 0;
    growing_vector<int> differentiated{}; ///< inputs
  };

  context& trace;
  plain_span<const tracer> operands; ///< the index, and then the inputs of the branches
  operand_flags wanted;              ///< inputs of the branches
  const cond_parameters& p;
  growing_vector<two_halves> halves;
  growing_vector<int> differentiated; ///< inputs of any branch
  linearized_call linear;

  constexpr std::size_t result_count() const { return trace.at(p.branches[0]).outputs.size(); }
  constexpr tracer zeros_of(const abstract_value& value) const {
    return vary_along(build::broadcast_to(build::integer_literal(trace, value.type, 0), value.shape), value.varies);
  }
  constexpr abstract_value residual_value(const two_halves& of, int number) const {
    const graph& g = trace.at(of.forward);
    return g.value(g.outputs[result_count() + index_of(number)]);
  }

  constexpr void find_differentiated() {
    for (int k = 0; k < count_of(operands) - 1; ++k) {
      const bool any =
          plain::any_of(halves, [&](const two_halves& of) { return plain::contains(of.differentiated, k); });
      if (!any) continue;
      differentiated.push_back(k);
      linear.differentiated_operands.push_back(k + 1);
    }
  }

  /// New inputs of the innermost graph, like the branches' own.
  constexpr growing_vector<tracer> new_inputs() {
    growing_vector<tracer> inputs;
    for (std::size_t k = 0; k + 1 < operands.size(); ++k) {
      const graph& branch = trace.at(p.branches[0]);
      inputs.push_back(new_input(trace, branch.value(branch.inputs[k])));
    }
    return inputs;
  }

  constexpr void run_forward() {
    cond_parameters forward;
    for (std::size_t b = 0; b < halves.size(); ++b) {
      forward.branches.push_back(trace.open_graph());
      const growing_vector<tracer> outputs = replay_graph(trace, halves[b].forward, new_inputs());
      for (std::size_t k = 0; k < result_count(); ++k) add_output(trace, outputs[k]);
      for (std::size_t other = 0; other < halves.size(); ++other)
        for (int r = 0; r < halves[other].residuals; ++r)
          add_output(trace,
                     other == b ? outputs[result_count() + index_of(r)] : zeros_of(residual_value(halves[other], r)));
      trace.close_graph();
    }
    const growing_vector<tracer> values =
        emit_call(trace, primitives::id_of<primitives::cond_call>, operands, encode(forward));
    for (const tracer& x : operands) linear.operands.push_back(x);
    for (std::size_t k = 0; k < values.size(); ++k)
      (k < result_count() ? linear.results : linear.operands).push_back(values[k]);
  }

  constexpr void make_backward() {
    cond_parameters backward;
    for (std::size_t b = 0; b < halves.size(); ++b) {
      backward.branches.push_back(trace.open_graph());
      growing_vector<tracer> inputs = new_inputs(), seeds;
      for (std::size_t other = 0; other < halves.size(); ++other)
        for (int r = 0; r < halves[other].residuals; ++r) {
          const tracer residual = new_input(trace, residual_value(halves[other], r));
          if (other == b) inputs.push_back(residual);
        }
      for_each(linear.differentiated_results, [&](int k) {
        const graph& branch = trace.at(p.branches[b]);
        inputs.push_back(new_input(trace, branch.value(branch.outputs[index_of(k)])));
      });
      const growing_vector<tracer> gradients = replay_graph(trace, halves[b].backward, inputs);
      for_each(differentiated, [&](int k) {
        const auto& own = halves[b].differentiated;
        std::size_t place = 0;
        while (place < own.size() && own[place] != k) ++place;
        const tracer gradient = place < own.size() ? gradients[place] : build::zeros_like(inputs[index_of(k)]);
        add_output(trace, vary_along(gradient, inputs[index_of(k)].varies()));
      });
      trace.close_graph();
    }
    linear.parameters = encode(backward);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
