// The value of an expression as an array, or what is wrong with the expression.
#pragma once

#include <parallax/arrays/static_extents.hpp>
#include <parallax/core/support/diagnostics.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>

#include <concepts>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The type of an expression's value. Defined with the means to evaluate one.
template <class E> struct evaluated_type;

/// The value of an expression, computed in one program, as an array of a given type. An expression that has no value,
/// or one of another type, stops compilation.
template <class Array, class E> constexpr Array value_of_expression(const E& expression) {
  using value = evaluated_type<E>;
  constexpr bool same_type = std::same_as<typename Array::value_type, typename value::value_type>;
  constexpr bool same_shape = runtime::extents_agree<typename Array::extents_type, extents_of<value::shape>>();
  if constexpr (is_for_traces<E>) {
    return Array();
  } else if constexpr (!value::valid) {
    print_error<typename value::error_source>();
    value::show_line();
    return Array();
  } else if constexpr (!same_type) {
    static_assert(same_type, "an expression has elements of one type, and the array of another: convert it with "
                             "plx::astype<T>(...), or let the array take its type: plx::array y = ... "
                             "(a double beside whole numbers makes float64: write 0.5f, not 0.5)");
    return Array();
  } else if constexpr (!same_shape) {
    static_assert(same_shape, "an expression has another number of dimensions, or other static extents, than the "
                              "array: change them with plx::reshape, or let the array take them: plx::array y = ...");
    return Array();
  } else {
    return Array(evaluate(expression));
  }
}

template <class Tracer> constexpr bool refuse_memory() {
  static_assert(std::is_void_v<Tracer>,
                "a traced array is no plx::array: inside traced functions write auto, or assign it to a variable. "
                "Outside of them the outermost function must not capture: make captured functions static constexpr, "
                "and pass captured values as arguments");
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
