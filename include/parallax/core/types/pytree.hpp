// Pytrees: their leaves from left to right, and trees that are made of others leaf by leaf.
#pragma once

#include <parallax/core/types/rebuilt_nodes.hpp>
#include <parallax/core/types/tree_nodes.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <class T> constexpr int leaf_count_of();
template <class Children> struct leaf_sum;
template <class... T> struct leaf_sum<std::tuple<T...>> {
  static constexpr int value = (0 + ... + leaf_count_of<T>());
};
template <class T> constexpr int leaf_count_of() {
  if constexpr (is_std_array<T>)
    return static_cast<int>(std::tuple_size_v<T>) * leaf_count_of<typename T::value_type>();
  else if constexpr (tree_node<T>) return leaf_sum<children_t<T>>::value;
  else return 1;
}

/// The number of leaves of a tree type.
template <class T> inline constexpr int leaf_count = leaf_count_of<std::remove_cvref_t<T>>();

} // namespace detail

/// Calls `function(leaf)` on every leaf from left to right.
template <class Function, class T> constexpr void tree_for_each(Function&& function, T&& tree) {
  if constexpr (detail::is_std_array<std::remove_cvref_t<T>>) {
    for (auto& child : tree) tree_for_each(function, child);
  } else if constexpr (detail::tree_node<T>) {
    std::apply([&](auto&... child) { (tree_for_each(function, child), ...); }, detail::fields(tree));
  } else {
    function(tree);
  }
}

namespace detail {

/// Whether `holds(std::type_identity<Leaf>())` is true for any leaf of a tree of this type.
template <class T, class Predicate> constexpr bool any_leaf(const Predicate& holds) {
  if constexpr (is_std_array<T>) {
    return std::tuple_size_v<T> != 0 && any_leaf<typename T::value_type>(holds);
  } else if constexpr (tree_node<T>) {
    return [&]<class... C>(std::type_identity<std::tuple<C...>>) {
      return (any_leaf<C>(holds) || ...);
    }(std::type_identity<children_t<T>>{});
  } else {
    return holds(std::type_identity<T>{});
  }
}

/// A std::array of values of one type; a tuple if the types differ.
template <class... T> struct joined {
  using type = std::tuple<T...>;
};
template <class First, class... Rest>
  requires(std::is_same_v<First, Rest> && ...)
struct joined<First, Rest...> {
  using type = std::array<First, 1 + sizeof...(Rest)>;
};

/// A tree like `T` whose leaf number `Index` is `function.template operator()<Leaf, Index>()`.
template <class T, int Index = 0, class Function> constexpr auto tree_build(Function& function) {
  if constexpr (is_std_array<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using child = typename T::value_type;
      constexpr int width = leaf_count_of<child>();
      using built = joined<decltype(tree_build<child, Index + static_cast<int>(I) * width>(function))...>;
      return typename built::type{tree_build<child, Index + static_cast<int>(I) * width>(function)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (tree_node<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using parts = children_t<T>;
      [[maybe_unused]] constexpr auto offset = [](std::size_t child) {
        int counts[] = {leaf_count<std::tuple_element_t<I, parts>>..., 0};
        int sum = Index;
        for (std::size_t k = 0; k < child; ++k) sum += counts[k];
        return sum;
      };
      using built = std::tuple<decltype(tree_build<std::tuple_element_t<I, parts>, offset(I)>(function))...>;
      using result = typename rebuild<T, built>::type;
      return result{tree_build<std::tuple_element_t<I, parts>, offset(I)>(function)...};
    }(std::make_index_sequence<std::tuple_size_v<children_t<T>>>{});
  } else {
    return function.template operator()<T, Index>();
  }
}

template <class T, class U> constexpr bool same_structure();
template <class A, class B> struct same_children : std::false_type {};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct same_children<std::tuple<A...>, std::tuple<B...>> : std::bool_constant<(same_structure<A, B>() && ...)> {};
template <class T, class U> constexpr bool same_structure() {
  if constexpr (is_std_array<T> && is_std_array<U>)
    return std::tuple_size_v<T> == std::tuple_size_v<U> &&
           same_structure<typename T::value_type, typename U::value_type>();
  else if constexpr (tree_node<T> && tree_node<U>) return same_children<children_t<T>, children_t<U>>::value;
  else return !tree_node<T> && !tree_node<U>;
}

} // namespace detail

template <class Function, class T, class... Others>
constexpr auto tree_map(Function&& function, const T& tree, const Others&... others);

namespace detail {

/// A function of its own, because nvcc 12 loses `others` in a lambda of a lambda.
template <std::size_t K, class Function, class T, class... Others>
constexpr auto mapped_child(Function& function, const T& tree, const Others&... others) {
  return tree_map(function, std::get<K>(fields(tree)), std::get<K>(fields(others))...);
}

} // namespace detail

/// A tree like `tree` (and the others, which have the same structure) whose leaves are `function(leaf, other_leaf...)`.
/// JAX: tree_util.tree_map.
template <class Function, class T, class... Others>
constexpr auto tree_map(Function&& function, const T& tree, const Others&... others) {
  static_assert(
      (detail::same_structure<T, Others>() && ...),
      "parallax: tree_map: the trees differ in structure: give trees with the same nodes and numbers of children");
  if constexpr ((detail::is_std_array<T> && ... && detail::is_std_array<Others>)) {
    auto mapped = [&](std::size_t k) { return tree_map(function, tree[k], others[k]...); };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<decltype(mapped(0)), sizeof...(I)>{mapped(I)...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (detail::tree_node<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using built = std::tuple<decltype(detail::mapped_child<I>(function, tree, others...))...>;
      using result = typename detail::rebuild<T, built>::type;
      return result{detail::mapped_child<I>(function, tree, others...)...};
    }(std::make_index_sequence<std::tuple_size_v<detail::children_t<T>>>{});
  } else {
    return function(tree, others...);
  }
}

namespace detail {

template <class T> constexpr auto leaves_as_tuple(const T& tree) {
  if constexpr (is_std_array<T>)
    return std::apply([](const auto&... child) { return std::tuple_cat(leaves_as_tuple(child)...); }, tree);
  else if constexpr (tree_node<T>)
    return std::apply([](const auto&... child) { return std::tuple_cat(leaves_as_tuple(child)...); }, fields(tree));
  else return std::make_tuple(tree);
}

} // namespace detail

/// The leaves of a tree from left to right: a std::array if they are of one type, a std::tuple otherwise. JAX:
/// tree_util.tree_leaves
template <class T> constexpr auto tree_leaves(const T& tree) {
  return std::apply(
      [](const auto&... leaf) {
        return typename detail::joined<std::remove_cvref_t<decltype(leaf)>...>::type{leaf...};
      },
      detail::leaves_as_tuple(tree));
}

namespace detail {

template <class Function, class Total, class T>
constexpr auto reduce_from(Function& function, const Total& total, const T& tree);
template <class Function, class Total> constexpr auto reduce_children(Function&, const Total& total) { return total; }
template <class Function, class Total, class First, class... Rest>
constexpr auto reduce_children(Function& function, const Total& total, const First& first, const Rest&... rest) {
  return reduce_children(function, reduce_from(function, total, first), rest...);
}
template <class Function, class Total, class T>
constexpr auto reduce_from(Function& function, const Total& total, const T& tree) {
  if constexpr (is_std_array<T>) {
    if constexpr (std::tuple_size_v<T> == 0) {
      return total;
    } else {
      auto sum = reduce_from(function, total, tree[0]);
      for (std::size_t k = 1; k < tree.size(); ++k) sum = reduce_from(function, sum, tree[k]);
      return sum;
    }
  } else if constexpr (tree_node<T>) {
    return std::apply([&](const auto&... child) { return reduce_children(function, total, child...); }, fields(tree));
  } else {
    return function(total, tree);
  }
}

} // namespace detail

/// `function(...function(function(initial, leaf), leaf)..., leaf)` of the leaves from left to right.
/// JAX: tree_util.tree_reduce
template <class Function, class T, class Total>
constexpr auto tree_reduce(Function&& function, const T& tree, const Total& initial) {
  return detail::reduce_from(function, initial, tree);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
