// Pytrees: tuples, pairs, std::arrays and users' aggregates templated on their leaf types, nested at will.
#pragma once

#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Specialise as true for an aggregate template that is itself a leaf.
template <class T> inline constexpr bool is_tree_leaf = false;

namespace detail {

struct any_field {
  template <class T> constexpr operator T() const;
};

template <class T, std::size_t... I> constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), any_field{})...}; };
}
template <class T, std::size_t N = 16> constexpr std::size_t field_count() {
  if constexpr (takes_fields<T>(std::make_index_sequence<N>{})) return N;
  else return field_count<T, N - 1>();
}

template <class T> inline constexpr bool is_tuple_like = false;
template <class... T> inline constexpr bool is_tuple_like<std::tuple<T...>> = true;
template <class A, class B> inline constexpr bool is_tuple_like<std::pair<A, B>> = true;
template <class T, std::size_t N> inline constexpr bool is_tuple_like<std::array<T, N>> = true;

// A std::array's elements have one type: it is walked by index, because the tuple of a long array is too deep for
// compilers.
template <class T> inline constexpr bool is_std_array = false;
template <class T, std::size_t N> inline constexpr bool is_std_array<std::array<T, N>> = true;

template <class T> inline constexpr bool is_class_template = false;
template <template <class...> class C, class... T> inline constexpr bool is_class_template<C<T...>> = true;

template <class T>
inline constexpr bool is_aggregate_tree =
    std::is_aggregate_v<T> && is_class_template<T> && !is_tuple_like<T> && !is_tree_leaf<T> && !std::is_empty_v<T>;

/// References to the children of a node, as a tuple.
template <class T> constexpr auto fields(T& x) {
  using value = std::remove_cv_t<T>;
  if constexpr (is_tuple_like<value>) {
    return std::apply([](auto&... child) { return std::tie(child...); }, x);
  } else {
    constexpr std::size_t n = field_count<value>();
    static_assert(n <= 12, "parallax: an aggregate that is a pytree has at most 12 members");
    if constexpr (n == 1) {
      auto& [a] = x;
      return std::tie(a);
    } else if constexpr (n == 2) {
      auto& [a, b] = x;
      return std::tie(a, b);
    } else if constexpr (n == 3) {
      auto& [a, b, c] = x;
      return std::tie(a, b, c);
    } else if constexpr (n == 4) {
      auto& [a, b, c, d] = x;
      return std::tie(a, b, c, d);
    } else if constexpr (n == 5) {
      auto& [a, b, c, d, e] = x;
      return std::tie(a, b, c, d, e);
    } else if constexpr (n == 6) {
      auto& [a, b, c, d, e, f] = x;
      return std::tie(a, b, c, d, e, f);
    } else if constexpr (n == 7) {
      auto& [a, b, c, d, e, f, g] = x;
      return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (n == 8) {
      auto& [a, b, c, d, e, f, g, h] = x;
      return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (n == 9) {
      auto& [a, b, c, d, e, f, g, h, i] = x;
      return std::tie(a, b, c, d, e, f, g, h, i);
    } else if constexpr (n == 10) {
      auto& [a, b, c, d, e, f, g, h, i, j] = x;
      return std::tie(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (n == 11) {
      auto& [a, b, c, d, e, f, g, h, i, j, k] = x;
      return std::tie(a, b, c, d, e, f, g, h, i, j, k);
    } else {
      auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
      return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
    }
  }
}

template <class T> struct children_of_references;
template <class... T> struct children_of_references<std::tuple<T&...>> {
  using type = std::tuple<std::remove_cv_t<T>...>;
};

/// The types of a node's children, as a std::tuple.
template <class T> struct children {
  using type = typename children_of_references<decltype(fields(std::declval<T&>()))>::type;
};
template <class... T> struct children<std::tuple<T...>> {
  using type = std::tuple<T...>;
};
template <class T, std::size_t N> struct children<std::array<T, N>> {
  template <std::size_t... I>
  static std::tuple<std::conditional_t<(I < N), T, void>...> repeat(std::index_sequence<I...>);
  using type = decltype(repeat(std::make_index_sequence<N>{}));
};
template <class T> using children_t = typename children<T>::type;

/// The type that `Parameter` became when `Old` became `New`: found by matching `Old` and `New` position by position.
struct not_found {};
template <class Parameter, class Old, class New> struct rebound {
  using type = not_found;
};
template <class First, class Second>
using first_found = std::conditional_t<std::is_same_v<First, not_found>, Second, First>;
template <class Parameter, class New> struct rebound<Parameter, Parameter, New> {
  using type = New;
};

template <class Parameter, class Olds, class News> struct rebound_in {
  using type = not_found;
};
template <class Parameter, class Old, class... Olds, class New, class... News>
struct rebound_in<Parameter, std::tuple<Old, Olds...>, std::tuple<New, News...>> {
  using type = first_found<typename rebound<Parameter, Old, New>::type,
                           typename rebound_in<Parameter, std::tuple<Olds...>, std::tuple<News...>>::type>;
};
template <class Parameter, template <class...> class C, class... Olds, class... News>
  requires(!std::is_same_v<Parameter, C<Olds...>>)
struct rebound<Parameter, C<Olds...>, C<News...>> : rebound_in<Parameter, std::tuple<Olds...>, std::tuple<News...>> {};
template <class Parameter, class Old, class New, std::size_t N>
  requires(!std::is_same_v<Parameter, std::array<Old, N>>)
struct rebound<Parameter, std::array<Old, N>, std::array<New, N>> : rebound<Parameter, Old, New> {};

template <class T, class NewChildren> struct rebuild;
template <class... T, class... New> struct rebuild<std::tuple<T...>, std::tuple<New...>> {
  using type = std::tuple<New...>;
};
template <class A, class B, class NewA, class NewB> struct rebuild<std::pair<A, B>, std::tuple<NewA, NewB>> {
  using type = std::pair<NewA, NewB>;
};
template <class T, std::size_t N, class New, class... Rest> struct rebuild<std::array<T, N>, std::tuple<New, Rest...>> {
  // A std::array holds one type: if its elements became different types, it becomes a tuple.
  using type = std::conditional_t<(std::is_same_v<New, Rest> && ...), std::array<New, N>, std::tuple<New, Rest...>>;
};
/// Takes the place of parameter number `Number` of a class template, to find the members that have this type.
template <int Number> struct parameter_marker {};

template <class Numbers, template <class...> class C, class Old, class New> struct rebuild_aggregate;
template <int... Number, template <class...> class C, class... Old, class... New>
struct rebuild_aggregate<std::integer_sequence<int, Number...>, C, std::tuple<Old...>, std::tuple<New...>> {
  using marked = children_t<C<parameter_marker<Number>...>>;
  using type = C<first_found<typename rebound_in<parameter_marker<Number>, marked, std::tuple<New...>>::type, Old>...>;
};
template <template <class...> class C, class... T, class... New>
  requires is_aggregate_tree<C<T...>>
struct rebuild<C<T...>, std::tuple<New...>>
    : rebuild_aggregate<std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>, C, std::tuple<T...>,
                        std::tuple<New...>> {};

} // namespace detail

/// A pytree node: a tuple, a pair, a std::array, or an aggregate whose class template is parameterised by leaf types.
template <class T>
concept tree_node = detail::is_tuple_like<std::remove_cvref_t<T>> || detail::is_aggregate_tree<std::remove_cvref_t<T>>;

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
} // namespace detail

/// The number of leaves of a tree type.
template <class T> inline constexpr int leaf_count = detail::leaf_count_of<std::remove_cvref_t<T>>();

/// Calls `function(leaf)` on every leaf from left to right.
template <class Function, class T> constexpr void tree_for_each(Function&& function, T&& tree) {
  if constexpr (detail::is_std_array<std::remove_cvref_t<T>>) {
    for (auto& child : tree) tree_for_each(function, child);
  } else if constexpr (tree_node<T>) {
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
  } else if constexpr (tree_node<T>) {
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
