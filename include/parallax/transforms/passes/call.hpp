// Calling a user's function on tracers.
#pragma once

#include <parallax/core/support/diagnostics.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/types/abstract_array.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/expressions/lazy.hpp>
#include <parallax/transforms/passes/replay.hpp>

#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Whether a leaf is an empty object, such as a function, which is passed on unchanged.
template <class T>
inline constexpr bool is_static_leaf = std::is_empty_v<T> && !traced<T> && !lazy_expression<T> && !array_value<T> &&
                                       !is_abstract_array<T> && abstract_extents_rank<T> < 0;

/// Whether any leaf of the arguments is traced.
template <class... T> constexpr bool any_traced() {
  bool found = false;
  auto look = [&]<class A>(std::type_identity<A>) {
    auto leaf = [&]<class L, int>() {
      if constexpr (traced<L>) found = true;
      return 0;
    };
    if constexpr (tree_node<A>) std::ignore = tree_build<A>(leaf);
    else found = found || traced<A>;
  };
  (look(std::type_identity<std::remove_cvref_t<T>>{}), ...);
  return found;
}

template <class... T> constexpr context& trace_of_trees(const T&... trees) {
  context* found = nullptr;
  auto look = [&](const auto& leaf) { found = found ? found : owner_of(leaf); };
  (tree_for_each(look, trees), ...);
  return *found;
}

/// Reports a leaf that is no array; returns a number in its place.
constexpr tracer no_array(context& trace, std::string_view type) {
  trace.fail(message() << "traced function: a value of type " << type
                       << " is no array: take and return arrays, numbers, and trees of them (tuples, pairs, "
                          "std::arrays, aggregate templates of their leaf types)");
  return build::literal(trace, element_type::float32, 0);
}

/// One leaf of an argument or a result as a tracer of the innermost graph.
template <class T> constexpr tracer leaf_to_tracer(context& trace, const T& leaf) {
  if constexpr (traced<T> || scalar<T> || lazy_expression<T> || array_in_a_trace<T> || std::same_as<T, extent>) {
    tracer x = materialize(trace, leaf);
    return {&trace, trace.innermost(), trace.import(x.scope, x.id)};
  } else {
    return no_array(trace, type_name<T>());
  }
}

/// The number of extents of a leaf that is a list of extents; -1 for others. Nested functions get the list itself,
/// since extents belong to the whole trace.
template <class L> inline constexpr int passed_extents_rank = -1;
template <std::size_t Rank> inline constexpr int passed_extents_rank<extent_list<Rank>> = static_cast<int>(Rank);

/// A tracer that stands for extents: it has no owner, and its number says where the context keeps them.
template <std::size_t Rank> constexpr tracer pass_extents(context& trace, const extent_list<Rank>& list) {
  dims values;
  for (const extent& each : list.view()) {
    if (each.is_negative())
      trace.fail(message() << "traced function: an extent of " << each.number()
                           << " is passed to a function; give one of at least 0");
    values.push_back(each.is_negative() ? dim{} : each.as_dim());
  }
  trace.passed.push_back(values);
  return {nullptr, trace.innermost(), node_id{count_of(trace.passed) - 1}};
}

/// The leaves of trees as tracers; static leaves and extents have none.
template <class... T> constexpr growing_vector<tracer> leaves_to_tracers(context& trace, const T&... trees) {
  growing_vector<tracer> leaves;
  auto add = [&]<class L>(const L& leaf) {
    if constexpr (is_static_leaf<L>) leaves.push_back({});
    else if constexpr (passed_extents_rank<L> >= 0) leaves.push_back(pass_extents(trace, leaf));
    else leaves.push_back(leaf_to_tracer(trace, leaf));
  };
  (tree_for_each(add, trees), ...);
  return leaves;
}

struct to_traced {
  template <class L, int> constexpr auto operator()() const {
    if constexpr (is_static_leaf<L> || passed_extents_rank<L> >= 0) return L{};
    else if constexpr (abstract_extents_rank<L> >= 0) return extent_list<abstract_extents_rank<L>>{};
    else return tracer{};
  }
};
template <class T> struct traced_tree {
  static constexpr to_traced convert{};
  using type = decltype(tree_build<std::remove_cvref_t<T>>(convert));
};
/// The type that a traced function gets for an argument of type `T`.
template <class T> using traced_t = typename traced_tree<T>::type;

/// Calls `function` with trees like `T...` whose leaves are the given tracers; returns its result as a tree of tracers.
template <class Function, class... T, std::size_t... I>
constexpr auto call_on(context& trace, const Function& function, const growing_vector<tracer>& leaves,
                       std::index_sequence<I...>, std::type_identity<T>...) {
  std::size_t next = 0;
  [[maybe_unused]] auto leaf = [&]<class L, int>() {
    std::size_t at = next++;
    if constexpr (is_static_leaf<L>) {
      return L{};
    } else if constexpr (abstract_extents_rank<L> >= 0) {
      extent_list<static_cast<std::size_t>(abstract_extents_rank<L>)> list;
      for (int i = 0; i < abstract_extents_rank<L>; ++i)
        list.values[i] = {trace, trace.extents.given(static_cast<int>(at), i)};
      return list;
    } else if constexpr (passed_extents_rank<L> >= 0) {
      L list;
      for (int i = 0; i < passed_extents_rank<L> && !leaves[at].owner; ++i)
        list.values[i] = {trace, trace.passed[index_of(leaves[at].id)][i]};
      return list;
    } else {
      return leaves[at];
    }
  };
  // braces, so that arguments are built from left to right; types, so that a single tuple stays one argument
  std::tuple<traced_t<T>...> arguments{tree_build<T>(leaf)...};
  // called right here, since all calls between the user's line and an error's are shown
  if constexpr (std::is_void_v<decltype(function(std::get<I>(arguments)...))>) {
    function(std::get<I>(arguments)...);
    return no_array(trace, "void");
  } else {
    return tree_map(
        [&]<class Output>(const Output& output) {
          if constexpr (std::is_same_v<Output, none_t>) return std::tuple<>{}; // a tree without leaves
          else return leaf_to_tracer(trace, output);
        },
        function(std::get<I>(arguments)...));
  }
}

/// The tracers at the leaves of a tree of tracers.
template <class T> constexpr growing_vector<tracer> tracers_of(const T& tree) {
  growing_vector<tracer> leaves;
  tree_for_each([&](const tracer& leaf) { leaves.push_back(leaf); }, tree);
  return leaves;
}

/// A tree like `shape` with other tracers at its leaves.
template <class T> constexpr auto with_leaves(const T& shape, const growing_vector<tracer>& leaves) {
  std::size_t next = 0;
  return tree_map([&](const tracer&) { return leaves[next++]; }, shape);
}

/// Marks tracers as the outputs of the innermost graph.
constexpr void set_outputs(context& trace, const growing_vector<tracer>& outputs) {
  for_each(outputs, [&](tracer y) { add_output(trace, y); });
}

/// Whether a function's type determines it: it captures nothing.
template <class F> inline constexpr bool is_stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
