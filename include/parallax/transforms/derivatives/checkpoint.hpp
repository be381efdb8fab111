// checkpoint: less memory for the way back, and more work.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/checkpoint_call.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// A function that keeps little for its way back.
template <class Function, checkpoint_policy Policy> struct checkpointed {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "checkpoint");
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    using namespace detail;
    detail::context& owner = trace_of_trees(args...);
    const detail::growing_vector<tracer> leaves = leaves_to_tracers(owner, args...);
    detail::growing_vector<tracer> operands, inputs;
    primitives::checkpoint_call::parameters call{owner.open_graph(), Policy};
    for_each(leaves, [&](const tracer& leaf) {
      inputs.push_back(leaf.owner ? new_input(owner, leaf.value()) : leaf);
      if (leaf.owner) operands.push_back(leaf);
    });
    auto result = call_on(owner, function, inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
    detail::growing_vector<tracer> values = tracers_of(result);
    set_outputs(owner, values);
    owner.close_graph();
    if (owner.failed) return result;
    for_each(captures_to_inputs(owner, call.body), [&](const tracer& closed_over) { operands.push_back(closed_over); });
    values = detail::emit_call<primitives::checkpoint_call>(owner, operands, call);
    return with_leaves(result, values);
  }
};

template <class Function, checkpoint_policy Policy>
inline constexpr bool detail::is_transformed<checkpointed<Function, Policy>> = true;

/// `function`, whose derivative in reverse mode keeps its arguments and the values that `Policy` names, and computes
/// the rest again: `checkpoint(f)`, `checkpoint<checkpoint_policy::products>(f)`. In the body of a `scan`, it does so
/// for each round. JAX: checkpoint, also called remat
template <checkpoint_policy Policy = checkpoint_policy::nothing, class Function>
constexpr auto checkpoint(Function function) {
  return checkpointed<Function, Policy>{function};
}

/// Returns `x`, a value or a tree of values, marked for `checkpoint_policy::named_values`. Outside of traced functions
/// there is nothing to mark. JAX: ad_checkpoint.checkpoint_name
template <class X> constexpr auto checkpoint_name(const X& x) {
  if constexpr (!detail::any_traced<X>()) return x;
  else
    return tree_map(
        [&](const auto& leaf) {
          return detail::emit<primitives::named>({detail::leaf_to_tracer(detail::trace_of_trees(x), leaf)});
        },
        x);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
