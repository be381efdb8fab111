// From a function and its argument types to the graph of the whole program.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp>
#include <parallax/transforms/calls/checkpoint_call.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/calls/linear_solve_call.hpp>
#include <parallax/transforms/calls/scan_call.hpp>
#include <parallax/transforms/derivatives/grad.hpp>
#include <parallax/transforms/functions/jit.hpp>
#include <parallax/transforms/maps/pmap.hpp>
#include <parallax/transforms/maps/vmap.hpp>
#include <parallax/transforms/passes/call.hpp>

#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The inputs of a program: one per leaf of its arguments' types; none for leaves that are known while compiling.
template <class... Trees> constexpr growing_vector<tracer> program_inputs(context& trace) {
  growing_vector<tracer> inputs;
  [[maybe_unused]] auto leaf = [&]<class L, int>() {
    if constexpr (is_abstract_array<L>) {
      abstract_value value{L::type, L::weak, {}};
      for (int i = 0; i < L::extents_type::rank; ++i) {
        const std::int64_t size = L::extents_type::values[index_of(i)];
        value.shape.push_back(size == dyn ? trace.extents.symbol(count_of(inputs), i) : dim{size});
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

/// The catalogue, looked into where a function is traced and not before: by then every primitive is defined, whichever
/// header of the program does it.
template <class Function> struct when_traced {
  using catalogue = primitives::catalogue;
};

/// Traces `Function` on arguments of these types into the outermost graph; returns the tree of results.
template <class Function, class... Trees> constexpr auto trace_program(context& trace) {
  trace.append = &append_operation;
  trace.rules = rule_table<typename when_traced<Function>::catalogue>::entries;
  auto result = call_on(trace, Function{}, program_inputs<Trees...>(trace), std::index_sequence_for<Trees...>{},
                        std::type_identity<Trees>{}...);
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
  std::ignore = trace_program<Function, Trees...>(trace);
  return trace.failed ? trace.error : message{};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
