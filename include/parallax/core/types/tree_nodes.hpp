// The nodes of pytrees: tuples, pairs, std::arrays and users' aggregates templated on their leaf types, nested at will.
#pragma once

#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Specialise as true for an aggregate template that is itself a leaf.
template <class T> inline constexpr bool is_tree_leaf = false;

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

/// A pytree node: a tuple, a pair, a std::array, or an aggregate whose class template is parameterised by leaf types.
template <class T>
concept tree_node = is_tuple_like<std::remove_cvref_t<T>> || is_aggregate_tree<std::remove_cvref_t<T>>;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
