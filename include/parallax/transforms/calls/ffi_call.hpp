// A function of a user's own inside a program: a call without a body, whose shapes alone are known.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/ffi_function.hpp>
#include <parallax/transforms/calls/scan_call.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct ffi_call {
  static constexpr primitive_kind kind = primitive_kind::call;
  static constexpr std::string_view name = "custom_call";

  /// The function's number in the trace, and the types, ranks and extents of its results.
  struct parameters {
    int function = -1;
    growing_vector<element_type> types{};
    growing_vector<int> ranks{};
    growing_vector<dim> extents{};

    static constexpr void describe(auto& p, auto& member) {
      member("function", p.function);
      member("types", p.types);
      member("ranks", p.ranks);
      member("extents", p.extents);
    }
    constexpr void add_result(const abstract_value& value) {
      types.push_back(value.type);
      ranks.push_back(value.rank());
      for (dim extent : value.shape) extents.push_back(extent);
    }
  };

  /// The results, which may differ along axes of a mesh if the operands do.
  static constexpr growing_vector<abstract_value> results(context&, plain_span<const abstract_value> operands,
                                                          const parameters& p) {
    axis_bits varies;
    for (const abstract_value& x : operands) varies = varies | x.varies;
    growing_vector<abstract_value> values;
    std::size_t next = 0;
    for (std::size_t k = 0; k < p.types.size(); ++k) {
      abstract_value value{p.types[k], false, {}, varies};
      for (int axis = 0; axis < p.ranks[k]; ++axis) value.shape.push_back(p.extents[next++]);
      values.push_back(value);
    }
    return values;
  }

  /// A batch by the user's own rule, otherwise a loop of calls.
  static constexpr growing_vector<batched> batch(const batch_application& a, const parameters& p) {
    using namespace parallax::detail;
    context& trace = a.trace;
    const operand_flags mapped = mapped_operands(a);
    const growing_vector<tracer> operands = operands_at_front(a, mapped);
    const ffi_function& function = *trace.ffi_functions[index_of(p.function)];
    if (function.batch) {
      const growing_vector<tracer> made = function.batch(trace, operands, mapped);
      if (!check_batch(a, made, results(trace, {}, p))) return growing_vector<batched>(p.types.size());
      return at_front(made);
    }
    scan_parameters loop; // nvcc 13.0 forgets the lists of one that constants in braces initialise
    loop.length = a.size;
    for (char each : mapped) loop.roles.push_back(each != 0 ? scan_role::stacked : scan_role::constant);
    loop.body = trace.open_graph();
    growing_vector<tracer> inputs;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      abstract_value value = strong(operands[k].value());
      if (mapped[k] != 0) value.shape.erase(0);
      inputs.push_back(new_input(trace, value));
    }
    for_each(emit_call<ffi_call>(trace, inputs, p), [&](const tracer& y) { add_output(trace, y); });
    trace.close_graph();
    return at_front(emit_call<scan_call>(trace, operands, loop));
  }

  static constexpr linearized_call linearize(const linearize_application& a, const parameters&) {
    a.trace.fail(message() << "grad: nothing is known of the derivative of a custom_call; give its rules vjp, or jvp");
    return {};
  }
  static constexpr results_with_tangents jvp(const jvp_application& a, const parameters&) {
    a.trace.fail(message() << "jvp: nothing is known of the derivative of a custom_call; give its rules jvp");
    return {};
  }

  static constexpr result_flags varies(const variation&, const operand_flags& operands, const parameters& p) {
    return result_flags(p.types.size(), char{operands.any()});
  }

  // Defined where graphs are prepared, and where they are lowered.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);
  static constexpr void lower(parallax::detail::section_planner&, node_id call, const parameters&);

 private:
  static constexpr bool check_batch(const batch_application& a, const growing_vector<tracer>& made,
                                    growing_vector<abstract_value> expected) {
    if (made.size() != expected.size()) {
      a.trace.fail(message() << "custom_call: batch returns " << static_cast<std::int64_t>(made.size())
                             << " arrays, but a call " << static_cast<std::int64_t>(expected.size())
                             << "; let it return one for each result");
      return false;
    }
    for (abstract_value& each : expected) each.shape.insert(0, a.size);
    return parallax::detail::check_alike(a.trace, "custom_call", "batched result", made, expected);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
