// jvp: the derivative of a function along a direction, by forward mode.
#pragma once

#include <parallax/core/growing_vector.hpp>
#include <parallax/ops/axes.hpp>
#include <parallax/transforms/differentiated_arguments.hpp>
#include <parallax/transforms/forward.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax {
namespace detail {

/// The leaves of a function's arguments, and their tangents.
struct moved_arguments {
  context& owner;
  growing_vector<tracer> leaves{};
  growing_vector<tracer> tangents{}; ///< by leaf; without an owner where they are zeros

  constexpr explicit moved_arguments(context& trace) : owner(trace) {}

  template <class Primal, class Tangent>
  constexpr void take(int argument, const Primal& primal, const Tangent& tangent) {
    const growing_vector<tracer> values = leaves_to_tracers(owner, primal);
    growing_vector<tracer> directions(values.size());
    if constexpr (!std::is_same_v<Tangent, none_t>) directions = leaves_to_tracers(owner, tangent);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const bool moves = !std::is_same_v<Tangent, none_t> && values[k].owner;
      leaves.push_back(values[k]);
      tangents.push_back(
          moves ? fitting_direction(owner, "jvp", "argument", argument, "tangent", values[k].value(), directions[k])
                : tracer{});
    }
  }
};

template <class Primals, class Tangents> struct fitting_tangents : std::false_type {};
template <class... Primals, class... Tangents>
  requires(sizeof...(Primals) == sizeof...(Tangents))
struct fitting_tangents<std::tuple<Primals...>, std::tuple<Tangents...>>
    : std::bool_constant<((std::is_same_v<Tangents, none_t> || same_structure<Primals, Tangents>()) && ...)> {};

} // namespace detail

/// What `jvp` calls: a function of the arguments and of their tangents.
template <class Function> struct moved {
  [[no_unique_address]] Function function;

  template <class... Primals, class... Tangents>
  constexpr auto operator()(const std::tuple<Primals...>& primals, const std::tuple<Tangents...>& tangents) const {
    constexpr bool fits = detail::fitting_tangents<std::tuple<Primals...>, std::tuple<Tangents...>>::value;
    static_assert(fits, "parallax: jvp: give a tangent for each argument, a tree like it, or none");
    if constexpr (!fits) return detail::no_result<Function>{};
    else if constexpr (!detail::any_traced<Primals..., Tangents...>()) return execute(*this, primals, tangents);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Primals>...>())
      return detail::refuse_call<Function, Primals...>(detail::trace_of_trees(primals, tangents), "jvp");
    else return trace(std::index_sequence_for<Primals...>{}, primals, tangents);
  }

 private:
  template <std::size_t... I, class... Primals, class... Tangents>
  constexpr auto trace(std::index_sequence<I...>, const std::tuple<Primals...>& primals,
                       const std::tuple<Tangents...>& tangents) const {
    context& owner = detail::trace_of_trees(primals, tangents);
    detail::moved_arguments arguments(owner);
    (arguments.take(static_cast<int>(I), std::get<I>(primals), std::get<I>(tangents)), ...);
    const graph_id body = owner.open_graph();
    growing_vector<tracer> inputs, operands, directions;
    for (std::size_t k = 0; k < arguments.leaves.size(); ++k) {
      const tracer leaf = arguments.leaves[k];
      inputs.push_back(leaf.owner ? detail::new_input(owner, leaf.value()) : leaf);
      if (!leaf.owner) continue;
      operands.push_back(leaf);
      directions.push_back(arguments.tangents[k]);
    }
    auto result =
        detail::call_on(owner, function, inputs, std::index_sequence<I...>{}, std::type_identity<Primals>{}...);
    growing_vector<tracer> values = detail::tracers_of(result);
    detail::set_outputs(owner, values);
    owner.close_graph();
    growing_vector<tracer> moving = values;
    if (!owner.failed) {
      const detail::forward_pass pass(owner, body, operands, directions);
      values = pass.outputs;
      for (std::size_t k = 0; k < values.size(); ++k)
        moving[k] = pass.tangents[k].owner ? pass.tangents[k] : build::zeros_like(values[k]);
    }
    return std::pair{detail::with_leaves(result, values), detail::with_leaves(result, moving)};
  }
};

template <class Function> inline constexpr bool detail::is_transformed<moved<Function>> = true;

/// The pair of `function(primals...)` and its derivative along `tangents`, by forward mode: both in one pass, which
/// keeps nothing. Tangents are like the arguments; `none` stands for zeros, and for those of arguments that are
/// integers. Results that are integers have zeros. JAX: jvp
template <class Function, class... Primals, class... Tangents>
constexpr auto jvp(Function function, const std::tuple<Primals...>& primals, const std::tuple<Tangents...>& tangents) {
  // what `moved` does too, one step nearer to the user's line
  constexpr bool fits = detail::fitting_tangents<std::tuple<Primals...>, std::tuple<Tangents...>>::value;
  if constexpr (fits && !detail::any_traced<Primals..., Tangents...>())
    return execute(moved<Function>{function}, primals, tangents);
  else return moved<Function>{function}(primals, tangents);
}

} // namespace parallax
