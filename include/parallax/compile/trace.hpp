// From a function and its argument types to the graph of the whole program.
#pragma once

#include <parallax/transforms/call.hpp>
#include <parallax/transforms/grad.hpp>
#include <parallax/transforms/jit.hpp>
#include <parallax/transforms/pmap.hpp>
#include <parallax/transforms/vmap.hpp>

namespace parallax::detail {

/// The inputs of a program: one per leaf of its arguments' types; none for leaves that are known while compiling.
template <class... Trees> constexpr std::vector<tracer> program_inputs(context& trace) {
  std::vector<tracer> inputs;
  auto leaf = [&]<class L, int>() {
    if constexpr (is_abstract_array<L>) {
      abstract_value value{L::type, L::weak, {}};
      for (int i = 0; i < L::extents_type::rank; ++i) {
        std::int64_t size = L::extents_type::values[static_cast<std::size_t>(i)];
        value.shape.push_back(size == dyn ? trace.extents.symbol(static_cast<int>(inputs.size()), i) : size);
      }
      inputs.push_back(new_input(trace, value));
    } else {
      inputs.push_back({});
    }
    return 0;
  };
  (static_cast<void>(tree_build<Trees>(leaf)), ...);
  return inputs;
}

/// Traces `Function` on arguments of these types into the outermost graph; returns the tree of results.
template <class Function, class... Trees> constexpr auto trace_program(context& trace) {
  trace.append = &append_operation;
  auto result = call_on(trace, Function{}, program_inputs<Trees...>(trace), std::type_identity<Trees>{}...);
  set_outputs(trace, tracers_of(result));
  return result;
}

/// The tree of results of a program, with tracers at its leaves.
template <class Function, class... Trees>
using program_result = decltype(trace_program<Function, Trees...>(std::declval<context&>()));

/// The error of a trace; empty if there is none.
template <class Function, class... Trees> constexpr message trace_error(bool strict) {
  context trace;
  trace.strict = strict;
  static_cast<void>(trace_program<Function, Trees...>(trace));
  return trace.failed ? trace.error : message{};
}

} // namespace parallax::detail
