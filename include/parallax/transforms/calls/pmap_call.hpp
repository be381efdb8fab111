// pmap inside a program: a call whose body runs once for each element of a mapped axis.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct pmap_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "pmap";

  struct parameters {
    axis_id axis = axis_id::none;
    dim size{};                                ///< of the axis
    growing_vector<int> in_axes{}, out_axes{}; ///< of operands and results: the mapped axis, or `unmapped`
    growing_vector<int> devices{};             ///< those that the user named; empty otherwise
    graph_id body = graph_id::none;            ///< of one instance
    bool is_of_whole_mesh = false;             ///< an axis of a mesh that all devices of all processes make up

    static constexpr void describe(auto& p, auto& member) {
      member("axis", p.axis);
      member("size", p.size);
      member("in_axes", p.in_axes);
      member("out_axes", p.out_axes);
      member("devices", p.devices);
      member("body", p.body);
      member("is_of_whole_mesh", p.is_of_whole_mesh);
    }
  };

  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value>,
                                                          const parameters& p) {
    growing_vector<abstract_value> values = parallax::detail::results_of(trace, p.body);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (p.out_axes[k] != unmapped) values[k].shape.insert(p.out_axes[k], p.size);
    for (abstract_value& value : values) value.varies = value.varies.without(trace.axes[p.axis].bit);
    return values;
  }

  /// The body is batched, and the axes that the call maps move past the new one.
  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const graph_id body = trace.open_graph();
    growing_vector<batched> inputs;
    growing_vector<tracer> operands;
    for (std::size_t k = 0; k < a.operands.size(); ++k) {
      operands.push_back(a.operands[k].value);
      inputs.push_back(batched_input(a, p, k));
    }
    const growing_vector<batched> outputs = batch_graph(trace, p.body, inputs, a.size, a.axis);
    for_each(outputs, [&](const batched& y) { add_output(trace, y.value); });
    trace.close_graph();
    for_each(captures_to_inputs(trace, body), [&](tracer closed_over) {
      operands.push_back(closed_over);
      p.in_axes.push_back(unmapped);
    });
    p.body = body;
    growing_vector<int> axes;
    for (std::size_t k = 0; k < outputs.size(); ++k) axes.push_back(outer_axis(outputs[k].axis, p.out_axes[k]));
    const growing_vector<tracer> results = emit_call<pmap_call>(trace, operands, p);
    growing_vector<batched> all;
    for (std::size_t k = 0; k < results.size(); ++k) all.push_back({results[k], axes[k]});
    return all;
  }

  /// The forward call also returns the values that the backward call reads, and keeps them on its devices. The backward
  /// call runs as a pmap over the same axis. An unmapped operand's cotangent is summed over the axis.
  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    using parallax::detail::for_each;
    context& trace = a.trace;
    const axis_bits bit = trace.axes[p.axis].bit;
    const cotangents_inside cotangent_of{trace, p, bit};
    auto gradient_of = [&](std::size_t k, tracer computed) {
      const bool is_whole = p.in_axes[k] != unmapped || cotangent_of.is_shared(computed.varies());
      return is_whole ? computed : emit<psum>({computed}, {{{p.axis}, {}}});
    };
    trace.bound_axes.push_back(p.axis);
    parallax::detail::joint_program joint(trace, p.body, a.wanted, cotangent_of, gradient_of);
    trace.unbind_axis();
    if (trace.failed) return {};
    joint.compute_cheap_values_again([](std::size_t) { return parallax::detail::input_place::elsewhere; });
    parameters forward = p, backward = p;
    forward.body = joint.forward_half();
    backward.body = joint.backward_half();
    const graph& kept = trace.at(forward.body);
    for (std::size_t r = kept.outputs.size() - index_of(joint.residual_count()); r < kept.outputs.size(); ++r) {
      const bool is_one = cotangent_of.is_shared(kept.varies(kept.outputs[r]));
      forward.out_axes.push_back(is_one ? unmapped : 0);
      backward.in_axes.push_back(is_one ? unmapped : 0);
    }
    for_each(joint.differentiated_results, [&](int k) { backward.in_axes.push_back(p.out_axes[index_of(k)]); });
    check_collectives(trace, forward);
    check_collectives(trace, backward);
    backward.out_axes.clear();
    for_each(joint.differentiated_inputs, [&](int k) { backward.out_axes.push_back(p.in_axes[index_of(k)]); });

    linearized_call linear{.backward = id_of<pmap_call>,
                           .parameters = encode(backward),
                           .operands = {a.operands.begin(), a.operands.end()},
                           .differentiated_results = joint.differentiated_results,
                           .differentiated_operands = joint.differentiated_inputs};
    const growing_vector<tracer> values = emit_call<pmap_call>(trace, a.operands, forward);
    for (std::size_t k = 0; k < values.size(); ++k)
      (k < p.out_axes.size() ? linear.results : linear.operands).push_back(values[k]);
    return linear;
  }

  /// Tangents are mapped along the same axes as their values.
  static constexpr results_with_tangents jvp(const jvp_application& a, parameters p) {
    const operand_flags moving = a.moving();
    a.trace.bound_axes.push_back(p.axis);
    const parallax::detail::body_with_tangents both(a.trace, p.body, moving);
    a.trace.unbind_axis();
    if (a.trace.failed) return {};
    p.body = both.body;
    for (std::size_t k = 0; k < moving.size(); ++k)
      if (moving[k] != 0) p.in_axes.push_back(p.in_axes[k]);
    check_collectives(a.trace, p);
    for (std::size_t k = 0; k < both.moving.size(); ++k)
      if (both.moving[k] != 0) p.out_axes.push_back(p.out_axes[k]);
    return results_with_tangents::of(emit_call<pmap_call>(a.trace, a.operands_with_tangents(), p), both.moving);
  }

  static constexpr result_flags varies(const variation& v, const operand_flags& operands, const parameters& p) {
    return parallax::detail::varies_along(v, p.body, operands);
  }

  // Defined where graphs are prepared, and where they are lowered.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr void lower(parallax::detail::section_planner&, node_id call, const parameters&);

 private:
  /// Derivatives along a mesh have collectives that nobody wrote: all instances have to come to them.
  static constexpr void check_collectives(context& trace, const parameters& p) {
    if (trace.axes[p.axis].bit.empty()) return;
    operand_flags differ;
    for (int axis : p.in_axes) differ.push_back(axis != unmapped);
    static_cast<void>(parallax::detail::varies_along({trace, p.axis}, p.body, differ));
  }
  /// The cotangents of the call's results as an instance sees them.
  struct cotangents_inside {
    context& trace;
    const parameters& p;
    axis_bits bit; ///< of a mesh's axis

    /// Whether a value that varies along these axes is the same for all instances along a mesh's axis.
    constexpr bool is_shared(axis_bits varies) const { return !bit.empty() && !varies.contains(bit); }
    /// The axes of meshes along which a result's cotangent differs: the call's own, if the result is mapped along it.
    constexpr axis_bits differs_along(std::size_t k) const { return p.out_axes[k] == unmapped ? axis_bits{} : bit; }
    constexpr tracer operator()(std::size_t k, tracer given) const {
      if (p.out_axes[k] != unmapped || is_shared(given.varies())) return given;
      // the unmapped result is instance 0's
      tracer index = emit<axis_index>(trace, {p.axis});
      return build::select(index == 0, given, build::like(given, 0));
    }
  };
  /// An input of the batched body. If both the batch and the call map an operand, the call's axis changes its number.
  static constexpr batched batched_input(const batch_application& a, parameters& p, std::size_t k) {
    const batched& x = a.operands[k];
    const graph& of_one = a.trace.at(p.body);
    abstract_value value = of_one.value(of_one.inputs[k]);
    int inner = x.axis;
    if (x.is_mapped()) {
      int& mapped = p.in_axes[k];
      if (mapped != unmapped && x.axis <= mapped) ++mapped;
      else if (mapped != unmapped) --inner;
      value.shape.insert(inner, a.size);
    }
    return {parallax::detail::new_input(a.trace, value), inner};
  }
  /// The number of the batched axis of a body's result in the call's result. The call's own axis, `mapped`, is moved
  /// past it.
  static constexpr int outer_axis(int inner, int& mapped) {
    if (inner == unmapped || mapped == unmapped) return inner;
    if (inner >= mapped) return inner + 1;
    ++mapped;
    return inner;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
