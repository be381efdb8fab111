// The type that a node of a pytree becomes when its children become other types.
#pragma once

#include <parallax/core/types/tree_nodes.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

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

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
