// Optimisers as trees: what becomes of gradients before they are added to parameters. Names are optax's.
//
// A transformation has a state, a tree. `init(params)` makes the first one, of arrays or in a traced function;
// `update(gradients, state, params)` returns the pair of the updates and the next state, in a traced function; only
// weights that decay need the parameters.
//
//   constexpr auto optimiser = plx::optim::chain(plx::optim::clip_by_global_norm(1.), plx::optim::adam(1e-3));
//   auto [updates, next] = optimiser.update(gradients, state, params);
//   params = plx::optim::apply_updates(params, updates);
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/all.hpp> // before operations, which name them

#include <parallax/ops/math/elementwise.hpp>
#include <parallax/ops/math/operators.hpp>
#include <parallax/ops/math/reductions.hpp>
#include <parallax/ops/shapes/creation.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::optim {

namespace detail {

/// A number converted to the type of a leaf. Numbers of the program are computed in that type as long as they are
/// scalars.
constexpr tracer in_type_of(const tracer& number, const tracer& leaf) { return build::convert(number, leaf.type()); }

/// A leaf in the type that updates are computed in before the result has a type: float32 for 16-bit leaves, in whose
/// own type small factors would be 0, numbers close to 1 would be 1, and squares would overflow.
constexpr tracer wide(const tracer& leaf) { return parallax::detail::to_wide(leaf); }

/// The sum of the squares of all elements; in float32 for 16-bit types.
struct square_sum_operation : operation<square_sum_operation> {
  static constexpr tracer apply(context&, tracer x) {
    x = wide(x);
    return parallax::sum(x * x);
  }
};
inline constexpr square_sum_operation square_sum{};

/// A tree of zeros, of the shapes and types of another tree.
struct zeros_like_tree {
  template <class Tree> constexpr auto operator()(const Tree& tree) const {
    return tree_map([](const auto& leaf) { return zeros_like(leaf); }, tree);
  }
};

/// The number of steps before the first one: 0.
constexpr tracer no_steps(context& trace) { return build::integer_literal(trace, element_type::int32, 0); }

/// `Transformation::state_of(trace, params)` as a function of the parameters.
template <class Transformation> struct first_state {
  template <class Params> constexpr auto operator()(const Params& params) const {
    return Transformation::state_of(parallax::detail::trace_of_trees(params), params);
  }
};

/// Whether all leaves of trees are tracers.
template <class... Trees> constexpr bool all_traced() {
  bool all = true;
  auto leaf = [&]<class L, int>() {
    all = all && traced<L>;
    return 0;
  };
  ((std::ignore = parallax::detail::tree_build<Trees>(leaf)), ...);
  return all;
}
template <class Transformation, class State, class Params> constexpr bool is_state_of() {
  using own = decltype(Transformation::state_of(std::declval<context&>(), std::declval<const Params&>()));
  return parallax::detail::same_structure<own, State>();
}
template <class Updates, class Params> constexpr bool fits_params() {
  return all_traced<Params>() && parallax::detail::same_structure<Updates, Params>();
}

} // namespace detail

/// The base of all transformations. `Derived` has a static `state_of(trace, params)`, and `step(updates, state,
/// params)`, which computes the result of `update`.
template <class Derived> struct transformation {
  static constexpr bool needs_params = false;

  /// The state before the first step, for parameters like these.
  template <class Params> constexpr auto init(const Params& params) const {
    if constexpr (!parallax::detail::any_traced<Params>()) return execute(detail::first_state<Derived>{}, params);
    else return detail::first_state<Derived>{}(params);
  }
  /// The updates made of gradients, and the next state. optax: update
  template <class Updates, class State, class Params = none_t>
  constexpr auto update(const Updates& updates, const State& state, const Params& params = {}) const {
    constexpr bool inside = detail::all_traced<Updates, State>();
    static_assert(inside, "parallax: optim: update is given arrays; call it inside a traced function, such as one that "
                          "jit is given");
    if constexpr (inside) {
      constexpr bool own_state = detail::is_state_of<Derived, State, Updates>();
      static_assert(own_state,
                    "parallax: optim: update is given the state of another optimiser, or of other parameters "
                    "than the gradients are of; begin with init(params)");
      constexpr bool has_params = !Derived::needs_params || detail::fits_params<Updates, Params>();
      static_assert(has_params, "parallax: optim: update needs the parameters, a tree like the gradients, for weights "
                                "that decay; call update(gradients, state, params)");
      if constexpr (own_state && has_params) return static_cast<const Derived&>(*this).step(updates, state, params);
      else return std::pair{updates, state};
    } else {
      return parallax::detail::no_result<Derived>{};
    }
  }
};

/// The root of the sum of the squares of all elements of a tree; float32 if all leaves have 16-bit types, whose range a
/// norm may leave. optax: global_norm, which has the leaves' type
template <class Tree> constexpr auto global_norm(const Tree& tree) {
  return sqrt(tree_reduce([](const auto& sum, const auto& leaf) { return sum + detail::square_sum(leaf); }, tree, 0));
}

/// Parameters with the updates added, in the parameters' types. optax: apply_updates
template <class Params, class Updates> constexpr auto apply_updates(const Params& params, const Updates& updates) {
  constexpr bool inside = detail::all_traced<Params>();
  static_assert(inside,
                "parallax: apply_updates: it is given arrays; call it inside a traced function, such as one that "
                "jit is given");
  if constexpr (inside) {
    constexpr bool fits = detail::fits_params<Params, Updates>();
    static_assert(fits,
                  "parallax: apply_updates: the updates are another tree than the parameters; give the first of the "
                  "two that update returns");
    const auto add = [](const tracer& p, const tracer& u) { return build::convert(p + u, p.type()); };
    if constexpr (fits) return tree_map(add, params, updates);
    else return params;
  } else {
    return parallax::detail::no_result<Params>{};
  }
}

/// Transformations one after another. optax: chain
template <class... Transformations> struct chained : transformation<chained<Transformations...>> {
  static constexpr bool needs_params = (Transformations::needs_params || ...);
  std::tuple<Transformations...> parts;

  constexpr explicit chained(const Transformations&... each) : parts(each...) {}

  template <class Params> static constexpr auto state_of(context& trace, const Params& params) {
    return std::tuple<decltype(Transformations::state_of(trace, params))...>{
        Transformations::state_of(trace, params)...};
  }
  template <class Updates, class State, class Params>
  constexpr auto step(const Updates& updates, const State& state, const Params& params) const {
    return step_from<0>(updates, std::tuple<>{}, state, params);
  }

 private:
  template <std::size_t I, class Updates, class Done, class State, class Params>
  constexpr auto step_from(const Updates& updates, const Done& done, const State& state, const Params& params) const {
    if constexpr (I == sizeof...(Transformations)) {
      return std::pair{updates, done};
    } else {
      const auto made = std::get<I>(parts).update(updates, std::get<I>(state), params);
      return step_from<I + 1>(made.first, std::tuple_cat(done, std::make_tuple(made.second)), state, params);
    }
  }
};
/// The transformations one after another: `chain(clip_by_global_norm(1.), adam(1e-3))`. optax: chain
template <class... Transformations> constexpr auto chain(const Transformations&... parts) {
  return chained<Transformations...>(parts...);
}

/// Updates multiplied by a number. optax: scale
struct scale : transformation<scale> {
  double factor;

  constexpr explicit scale(double by) : factor(by) {}
  template <class Params> static constexpr auto state_of(context&, const Params&) { return std::tuple<>{}; }
  template <class Updates, class Params>
  constexpr auto step(const Updates& updates, std::tuple<>, const Params&) const {
    return std::pair{
        tree_map([this](const tracer& u) { return detail::in_type_of(detail::wide(u) * factor, u); }, updates),
        std::tuple<>{}};
  }
};

/// Updates, scaled down if their norm as one vector exceeds `most`. optax: clip_by_global_norm
struct clip_by_global_norm : transformation<clip_by_global_norm> {
  double most;

  constexpr explicit clip_by_global_norm(double max_norm) : most(max_norm) {}
  template <class Params> static constexpr auto state_of(context&, const Params&) { return std::tuple<>{}; }
  template <class Updates, class Params>
  constexpr auto step(const Updates& updates, std::tuple<>, const Params&) const {
    const tracer norm = global_norm(updates);
    const auto shorter = [this, norm](const tracer& u) {
      const tracer long_one = detail::wide(u);
      const tracer cut = long_one / detail::in_type_of(norm, long_one) * most;
      return where(norm <= most, u, detail::in_type_of(cut, u)); // not 0 / 0 if all are 0 and `most` is 0
    };
    return std::pair{tree_map(shorter, updates), std::tuple<>{}};
  }
};

/// Updates plus `rate` times the parameters. optax: add_decayed_weights
struct add_decayed_weights : transformation<add_decayed_weights> {
  static constexpr bool needs_params = true;
  double rate;

  constexpr explicit add_decayed_weights(double weight_decay) : rate(weight_decay) {}
  template <class Params> static constexpr auto state_of(context&, const Params&) { return std::tuple<>{}; }
  template <class Updates, class Params>
  constexpr auto step(const Updates& updates, std::tuple<>, const Params& params) const {
    const auto decayed = [this](const tracer& u, const tracer& p) {
      return build::convert(detail::wide(u) + detail::wide(p) * rate, promote(u.type(), p.type()));
    };
    return std::pair{tree_map(decayed, updates, params), std::tuple<>{}};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::optim
