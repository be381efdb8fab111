// Expressions of arrays become programs: their structure is the function, their leaves are the arguments.
#pragma once

#include <parallax/compile/program_error.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/into.hpp>
#include <parallax/runtime/value.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The leaves of an expression in order: arrays, numbers, lists of extents. Empty operands are part of its type.
template <class T> constexpr auto expression_leaves(const T& x) {
  if constexpr (lazy_expression<T>)
    return std::apply([](const auto&... operand) { return std::tuple_cat(expression_leaves(operand)...); }, x.operands);
  else if constexpr (is_static_leaf<T>) return std::tuple<>{};
  else return std::tuple<const T&>(x);
}

template <class T>
inline constexpr int expression_leaf_count = [] {
  if constexpr (is_static_leaf<T>) return 0;
  else return 1;
}();
template <class Operation, class... O>
inline constexpr int expression_leaf_count<lazy<Operation, O...>> = (0 + ... + expression_leaf_count<O>);

/// Stands for a leaf in the type of an expression's function, so that equal structures are one function.
struct expression_leaf {};
template <class T> struct structure_of {
  using type = std::conditional_t<is_static_leaf<T>, T, expression_leaf>;
};
template <class Operation, class... O> struct structure_of<lazy<Operation, O...>> {
  using type = lazy<Operation, typename structure_of<O>::type...>;
};

template <class T> constexpr context* trace_behind(const T& leaf) {
  if constexpr (traced<T>) return leaf.owner;
  else return leaf.values[0].trace();
}

template <class Structure> struct expression_function;
/// The function an expression computes, of its leaves.
template <class Operation, class... O> struct expression_function<lazy<Operation, O...>> {
  template <class... Leaves> constexpr tracer operator()(const Leaves&... leaves) const {
    context* trace = nullptr;
    ((trace = trace ? trace : trace_behind(leaves)), ...);
    return rebuild<0, lazy<Operation, O...>>(*trace, std::tie(leaves...));
  }

 private:
  template <class T> static constexpr int leaves_in() {
    if constexpr (std::same_as<T, expression_leaf>) return 1;
    else return expression_leaf_count_of<T>::value;
  }
  template <class T> struct expression_leaf_count_of {
    static constexpr int value = 0;
  };
  template <class Inner, class... P> struct expression_leaf_count_of<lazy<Inner, P...>> {
    static constexpr int value = (0 + ... + leaves_in<P>());
  };

  template <int First, class T, class Leaves> static constexpr auto rebuild(context& trace, const Leaves& leaves) {
    if constexpr (std::same_as<T, expression_leaf>) return std::get<First>(leaves);
    else if constexpr (lazy_expression<T>) return rebuild_operation<First>(trace, leaves, std::type_identity<T>{});
    else return T{};
  }
  template <int First, class Leaves, class Inner, class... P>
  static constexpr tracer rebuild_operation(context& trace, const Leaves& leaves,
                                            std::type_identity<lazy<Inner, P...>> operation) {
    return rebuild_operands<First>(trace, leaves, operation, std::index_sequence_for<P...>{});
  }
  template <int First, class Leaves, class Inner, class... P, std::size_t... I>
  static constexpr tracer rebuild_operands(context& trace, const Leaves& leaves, std::type_identity<lazy<Inner, P...>>,
                                           std::index_sequence<I...>) {
    return Inner::apply(trace, rebuild<First + offset<P...>(I), P>(trace, leaves)...);
  }
  template <class... P> static constexpr int offset(std::size_t operand) {
    int counts[] = {leaves_in<P>()..., 0}, sum = 0;
    for (std::size_t i = 0; i < operand; ++i) sum += counts[i];
    return sum;
  }
};

template <class T> constexpr bool has_expressions() {
  return any_leaf<T>([]<class L>(std::type_identity<L>) { return lazy_expression<L>; });
}

} // namespace detail

/// Computes an expression of arrays, as one program.
template <detail::lazy_expression E> constexpr auto evaluate(const E& expression) {
  auto leaves = detail::expression_leaves(expression);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return execute(detail::expression_function<typename detail::structure_of<E>::type>{}, std::get<I>(leaves)...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(leaves)>>{});
}

/// Computes an expression of arrays into the memory that `into` was given.
template <detail::lazy_expression E, class Memory>
void evaluate(const E& expression, const results_in<Memory>& result) {
  std::apply(
      [&](const auto&... leaf) {
        execute(detail::expression_function<typename detail::structure_of<E>::type>{}, leaf..., result);
      },
      detail::expression_leaves(expression));
}

namespace detail {

/// The program of an expression with these leaves.
template <class E, class Leaves> struct expression_program;
template <class E, class... Leaves> struct expression_program<E, std::tuple<Leaves...>> {
  using function = expression_function<typename structure_of<E>::type>;
  using type = program<function, abstract_t<Leaves>...>;
  static constexpr void show_line() {
    if constexpr (prints_texts<E>()) detail::show_line<function, abstract_t<Leaves>...>();
  }
};

/// The type of a computed expression. An error is reported where the expression is computed; here, where the type is
/// deduced, any type will do.
template <bool Valid, lazy_expression E> constexpr auto result_of(const E& expression) {
  if constexpr (Valid) return std::type_identity<decltype(parallax::evaluate(expression))>{};
  else return std::type_identity<array<float, 0>>{};
}

/// An expression without a meaning outside of traced functions.
template <lazy_expression E>
  requires is_for_traces<E>
struct evaluated_type<E> {
  static_assert(!is_for_traces<E>, "this expression is one for traced functions: outside of them axes are part of its "
                                   "type, sum(x, plx::axis<0>), and parts are taken of an array: plx::array x = ...");
  static constexpr bool valid = false;
  using array_type = array<float, 0>;
  using value_type = float;
  static constexpr int shape = 0;
};

template <lazy_expression E> struct evaluated_type<E> {
  using compiled = expression_program<E, decltype(expression_leaves(std::declval<const E&>()))>;
  using error_source = error_of<typename compiled::type>;
  static constexpr bool valid = compiled::type::valid;
  static constexpr void show_line() { compiled::show_line(); }

  using array_type = typename decltype(result_of<valid>(std::declval<const E&>()))::type;
  using value_type = typename array_type::value_type;
  static constexpr auto shape = shape_for<typename array_type::extents_type>;
};

/// An argument whose expressions have been computed.
template <class T> decltype(auto) evaluated(const T& argument) {
  if constexpr (has_expressions<T>()) {
    return tree_map(
        []<class L>(const L& leaf) {
          if constexpr (lazy_expression<L>) return parallax::evaluate(leaf);
          else return leaf;
        },
        argument);
  } else {
    return (argument);
  }
}

/// An argument's type as a program knows it, once its expressions have been computed.
template <class T> using argument_t = abstract_t<decltype(evaluated(std::declval<const T&>()))>;

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
