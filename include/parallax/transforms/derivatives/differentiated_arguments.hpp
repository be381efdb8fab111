// Code that differentiating transformations share: the choice of arguments, and the traced function.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/transforms/passes/callable.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The arguments to differentiate with respect to: `grad(f, argnums<0, 2>)`; the first one by default. Negative numbers
/// count from the end. JAX: argnums=(0, 2)
template <int... Numbers> struct argnums_t {};
template <int... Numbers> inline constexpr argnums_t<Numbers...> argnums{};

namespace detail {
template <class Argnums> struct chosen_arguments;
template <int... Numbers> struct chosen_arguments<argnums_t<Numbers...>> {
  /// The index of argument `number`, of `count` arguments.
  static constexpr int place(int number, int count) { return number < 0 ? count + number : number; }
  static constexpr bool contains(int argument, int count) { return ((argument == place(Numbers, count)) || ...); }
  /// The number of the last argument that is named.
  static constexpr int largest() {
    int result = 0;
    ((result = std::max(result, Numbers < 0 ? -(Numbers + 1) : Numbers)), ...);
    return result;
  }
  /// The tree of argument `Number`, given the trees of all arguments.
  template <int Number, class... Trees> static constexpr auto tree(const std::tuple<Trees...>& trees) {
    constexpr int at = place(Number, static_cast<int>(sizeof...(Trees)));
    return std::get<std::size_t{at}>(trees);
  }
  /// The trees of the chosen arguments, given those of all: one by itself, several as a tuple.
  template <class Trees> static constexpr auto pick(const Trees& trees) {
    if constexpr (sizeof...(Numbers) == 1) return tree<Numbers...>(trees);
    else return std::tuple{tree<Numbers>(trees)...};
  }
};

template <class Argnums> constexpr void check_argnums() {
  static_assert(
      requires { chosen_arguments<Argnums>::largest(); },
      "jacfwd, jacrev and hessian return a function: call it with the arguments, plx::jacfwd(f)(x); those to "
      "differentiate with respect to are named by plx::argnums<0, 1>");
}

/// The leaves of a differentiated function's arguments, and the inputs of its graph that stand for them.
struct differentiated_inputs {
  context& owner;
  std::string_view name; ///< of the transformation
  growing_vector<tracer> leaves;
  growing_vector<tracer> inputs{};   ///< by leaf; without an owner if the leaf is no array
  growing_vector<tracer> operands{}; ///< the leaves that are arrays
  operand_flags wanted{};

  constexpr differentiated_inputs(context& trace, std::string_view transformation, growing_vector<tracer> given)
      : owner(trace), name(transformation), leaves(std::move(given)) {}

  /// Makes inputs of the next `count` leaves, which belong to one argument.
  constexpr void take(int count, int argument, bool chosen) {
    for (int i = 0; i < count; ++i) {
      tracer leaf = leaves[inputs.size()];
      if (!leaf.owner) {
        if (chosen && leaf.id != node_id::none)
          owner.fail(message() << name << " requires real-valued inputs (float32 or float64), but argument " << argument
                               << " is an extent; leave it out of argnums");
        inputs.push_back(leaf);
        continue;
      }
      if (chosen && !has_derivatives(leaf.type())) {
        message text;
        text << name << " requires real-valued inputs (float32 or float64), but argument " << argument << " has type ";
        print_value(text, owner.extents, leaf.value());
        owner.fail(text << "; convert it with astype<float>, or leave it out of argnums");
      }
      inputs.push_back(new_input(owner, leaf.value()));
      operands.push_back(leaf);
      wanted.push_back(chosen);
    }
  }
  /// Makes inputs of all leaves, and chooses those of floating types.
  constexpr void take_floating() {
    while (inputs.size() < leaves.size()) {
      const tracer& leaf = leaves[inputs.size()];
      take(1, 0, leaf.owner && has_derivatives(leaf.type()));
    }
  }
  /// By leaf: the gradient of its operand, or zeros.
  constexpr growing_vector<tracer> gradients(const growing_vector<tracer>& given) const {
    growing_vector<tracer> result = leaves;
    std::size_t operand = 0;
    for_each(result, [&](tracer& leaf) {
      if (!leaf.owner) return;
      const tracer& gradient = given[operand++];
      if (gradient.owner) leaf = build::broadcast_to(gradient, leaf.extents());
      else if (has_derivatives(leaf.type())) leaf = build::zeros_like(leaf);
    });
    return result;
  }
};

/// Whether the second tuple has, for each tree of the first one, a tree like it or `none`.
template <class Trees, class Given> inline constexpr bool one_tree_each = false;
template <class... Trees, class... Given>
  requires(sizeof...(Trees) == sizeof...(Given))
inline constexpr bool one_tree_each<std::tuple<Trees...>, std::tuple<Given...>> =
    ((std::is_same_v<Given, none_t> || same_structure<Trees, Given>()) && ...);

/// Reports a user's rule that cannot be called with the arguments that it gets.
template <class Rule, class... Given>
constexpr void refuse_rule(context& trace, std::string_view rule, std::string_view remedy) {
  constexpr int given = static_cast<int>(sizeof...(Given)), taken = argument_count<Rule>();
  // otherwise the rule's body does not compile, and the compiler has said so
  if constexpr (!std::is_invocable_v<const Rule&, Given&...> && (taken != given || has_one_signature<Rule>)) {
    message text;
    text << rule;
    if (taken == 0 || taken == given) text << " cannot be called with its " << given << " arguments; ";
    else text << " takes " << taken << (taken == 1 ? " argument" : " arguments") << ", but is given " << given << "; ";
    trace.fail(text << remedy);
  }
}

/// A tangent or cotangent, checked to have the type and shape of the value that it belongs to.
constexpr tracer fitting_direction(context& trace, std::string_view name, std::string_view owner, int number,
                                   std::string_view what, const abstract_value& value, const tracer& given) {
  const bool fits = given.owner && (given.type() == value.type || (given.weak() && value.rank() == 0)) &&
                    given.rank() == value.rank() && has_derivatives(value.type);
  if (fits) {
    for (int i = 0; i < value.rank(); ++i)
      unify(trace, name, value.shape[i], given.dimension(i), value, given.value(),
            "give tangents and cotangents the shapes of what they belong to");
    return build::convert(given, value.type);
  }
  message text;
  text << name << ": " << owner << ' ' << number << " is ";
  print_value(text, trace.extents, value);
  if (!has_derivatives(value.type)) {
    trace.fail(text << ", which has no " << what << "; give none for it");
    return {};
  }
  text << ", but its " << what << " is ";
  if (given.owner) print_value(text, trace.extents, given.value());
  else text << "no array";
  trace.fail(text << "; give one of the same type and shape");
  return {};
}

/// A function's graph, no node of which is in use yet, with the tree of its results.
template <class Tree> struct differentiated_body {
  graph_id body;
  Tree result;
  growing_vector<tracer> results;
};

/// Traces a function that is to be differentiated.
template <class Argnums, class Function, class... Args>
constexpr auto trace_body(differentiated_inputs& arguments, const Function& function, const Args&...) {
  context& owner = arguments.owner;
  const graph_id body = owner.open_graph();
  int argument = 0;
  auto take_argument = [&](int leaves) {
    arguments.take(leaves, argument, chosen_arguments<Argnums>::contains(argument, static_cast<int>(sizeof...(Args))));
    ++argument;
  };
  (take_argument(leaf_count<Args>), ...);
  auto result =
      call_on(owner, function, arguments.inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
  const growing_vector<tracer> results = tracers_of(result);
  set_outputs(owner, results);
  owner.close_graph();
  return differentiated_body<decltype(result)>{body, result, results};
}

/// Trees like the chosen arguments, with other leaves.
template <class Argnums, class... Args>
constexpr auto chosen_with_leaves(const growing_vector<tracer>& leaves, const Args&... args) {
  std::size_t next = 0;
  auto leaf = [&](const auto&) { return leaves[next++]; };
  return chosen_arguments<Argnums>::pick(std::tuple{tree_map(leaf, args)...});
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
