// grad and value_and_grad: reverse-mode derivatives of functions with a scalar result.
#pragma once

#include <parallax/core/growing_vector.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/transforms/callable.hpp>
#include <parallax/transforms/reverse.hpp>

namespace parallax {

/// The arguments to differentiate with respect to: `grad(f, argnums<0, 2>)`; the first one by default.
template <int... Numbers> struct argnums_t {};
template <int... Numbers> inline constexpr argnums_t<Numbers...> argnums{};

namespace detail {
template <class Argnums> struct chosen_arguments;
template <int... Numbers> struct chosen_arguments<argnums_t<Numbers...>> {
  static constexpr bool contains(int number) { return ((number == Numbers) || ...); }
  static constexpr int largest() {
    int result = 0;
    ((result = Numbers > result ? Numbers : result), ...);
    return result;
  }
  /// Of trees of all arguments, those chosen: one by itself, several as a tuple.
  template <class Trees> static constexpr auto pick(const Trees& trees) {
    if constexpr (sizeof...(Numbers) == 1) return std::get<Numbers...>(trees);
    else return std::tuple{std::get<Numbers>(trees)...};
  }
};

template <class Argnums> constexpr void check_argnums() {
  static_assert(
      requires { chosen_arguments<Argnums>::largest(); },
      "grad returns a function: call it with the arguments, plx::grad(f)(x); those to differentiate with "
      "respect to are named by plx::argnums<0, 1>");
}

/// The leaves of a differentiated function's arguments, and the inputs of its graph that stand for them.
struct differentiated_inputs {
  context& owner;
  growing_vector<tracer> leaves;
  growing_vector<tracer> inputs{};   ///< by leaf; without an owner where that is no array
  growing_vector<tracer> operands{}; ///< those that are arrays
  growing_vector<char> wanted{};     ///< by operand

  /// The next `count` leaves are those of an argument.
  constexpr void take(int count, int argument, bool chosen) {
    for (int i = 0; i < count; ++i) {
      tracer leaf = leaves[inputs.size()];
      if (!leaf.owner) {
        if (chosen && leaf.id != node_id::none)
          owner.fail(message() << "grad requires real-valued inputs (float32 or float64), but argument " << argument
                               << " is an extent; leave it out of argnums");
        inputs.push_back(leaf);
        continue;
      }
      if (chosen && !is_floating(leaf.type())) {
        message text;
        text << "grad requires real-valued inputs (float32 or float64), but argument " << argument << " has type ";
        print_value(text, owner.extents, leaf.value());
        owner.fail(text << "; convert it with astype<float>, or leave it out of argnums");
      }
      inputs.push_back(new_input(owner, leaf.value()));
      operands.push_back(leaf);
      wanted.push_back(chosen);
    }
  }
  /// By leaf: what was given to its operand, or zeros.
  constexpr growing_vector<tracer> gradients(const growing_vector<tracer>& given) const {
    growing_vector<tracer> result = leaves;
    std::size_t operand = 0;
    for_each(result, [&](tracer& leaf) {
      if (!leaf.owner) return;
      const tracer& gradient = given[operand++];
      if (gradient.owner) leaf = build::broadcast_to(gradient, leaf.extents());
      else if (is_floating(leaf.type())) leaf = build::zeros_like(leaf);
    });
    return result;
  }
};

/// Fails unless a function has one result, a floating number.
constexpr void check_scalar_result(context& trace, const growing_vector<tracer>& results) {
  const tracer& value = results[0];
  if (trace.failed || (results.size() == 1 && value.rank() == 0 && is_floating(value.type()))) return;
  message text;
  text << "grad requires a function with one real scalar result (float32[] or float64[]), but it returns ";
  if (results.size() != 1) text << count_of(results) << " arrays";
  else print_value(text, trace.extents, value.value());
  trace.fail(text << "; reduce it with sum or mean, or return the loss alone");
}
} // namespace detail

/// A function that computes a gradient, or the value and the gradient.
template <class Function, class Argnums, bool WithValue> struct differentiated {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    static_assert(detail::chosen_arguments<Argnums>::largest() < static_cast<int>(sizeof...(Args)),
                  "parallax: grad: argnums names an argument that is not there; count arguments from 0");
    if constexpr (detail::chosen_arguments<Argnums>::largest() >= static_cast<int>(sizeof...(Args)))
      return detail::no_result<Function>{};
    else if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "grad");
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    context& owner = detail::trace_of_trees(args...);
    detail::differentiated_inputs arguments{owner, detail::leaves_to_tracers(owner, args...)};
    const graph_id body = owner.open_graph();
    int argument = 0;
    auto take_argument = [&](int leaves) {
      arguments.take(leaves, argument, detail::chosen_arguments<Argnums>::contains(argument));
      ++argument;
    };
    (take_argument(leaf_count<Args>), ...);
    auto result = detail::call_on(owner, function, arguments.inputs, std::index_sequence_for<Args...>{},
                                  std::type_identity<Args>{}...);
    const growing_vector<tracer> results = detail::tracers_of(result);
    detail::set_outputs(owner, results);
    owner.close_graph();

    tracer value = results[0];
    detail::check_scalar_result(owner, results);
    if (owner.failed) return finish(value, gradients_like(arguments.leaves, args...));
    detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
    if (owner.failed) return finish(value, gradients_like(arguments.leaves, args...));
    value = pass.outputs[0];
    const growing_vector<tracer> given = pass.backward({build::literal(owner, value.type(), 1)});
    return finish(value, gradients_like(arguments.gradients(given), args...));
  }

  template <class... Args>
  static constexpr auto gradients_like(const growing_vector<tracer>& leaves, const Args&... args) {
    std::size_t next = 0;
    auto leaf = [&](const auto&) { return leaves[next++]; };
    return detail::chosen_arguments<Argnums>::pick(std::tuple{tree_map(leaf, args)...});
  }
  template <class Gradients> static constexpr auto finish(tracer value, const Gradients& gradients) {
    if constexpr (WithValue) return std::pair{value, gradients};
    else return gradients;
  }
};

template <class Function, class Argnums, bool WithValue>
inline constexpr bool detail::is_transformed<differentiated<Function, Argnums, WithValue>> = true;

/// The gradient of `function`, whose result is a scalar, with respect to its first argument or those in `argnums<...>`;
/// a tree like the argument. JAX: grad
template <class Function, class Argnums = argnums_t<0>> constexpr auto grad(Function function, Argnums = {}) {
  detail::check_argnums<Argnums>();
  return differentiated<Function, Argnums, false>{function};
}
/// The pair of the function's value and its gradient. JAX: value_and_grad
template <class Function, class Argnums = argnums_t<0>> constexpr auto value_and_grad(Function function, Argnums = {}) {
  detail::check_argnums<Argnums>();
  return differentiated<Function, Argnums, true>{function};
}

} // namespace parallax
