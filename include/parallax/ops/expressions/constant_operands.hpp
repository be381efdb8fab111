// Constants in place of traced arrays, for operations whose other arguments are numbers, lists or traced arrays.
#pragma once

#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>

#include <concepts>
#include <initializer_list>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Makes `Operation` an expression's operation: it is called with a traced array and the arguments that were kept.
template <class Operation> struct called_in_a_trace {
  template <class... T> static constexpr tracer apply(context&, const T&... operands) {
    return Operation{}(operands...);
  }
};

template <class Operation, class X, class... Arguments>
constexpr auto call_with_constant(const X& x, const Arguments&... arguments) {
  if constexpr ((traced<Arguments> || ...)) return Operation{}(materialize(trace_of(x, arguments...), x), arguments...);
  else
    return lazy<called_in_a_trace<Operation>, X, kept_argument<Arguments>...>{
        {x, kept_argument<Arguments>{arguments}...}};
}

/// Whether an argument has a meaning only inside traced functions, such as an axis that is a number.
template <class T>
concept argument_of_traces = std::integral<T> || is_small_list<T> || traced<T>;

/// The base of operations `Derived` on a traced array and further arguments. It lets a constant or a table stand for
/// the array: the result is another expression or, if an argument is traced, a traced array.
template <class Derived> struct takes_constants {
  template <eager_operand X, class... Arguments>
  constexpr auto operator()(const X& x, const Arguments&... arguments) const {
    return call_with_constant<Derived>(x, arguments...);
  }
};
/// Like `takes_constants`, for a `Derived` that is an `operation<Derived>` as well: it only takes calls with arguments
/// that have a meaning inside traced functions alone. `operation` makes the other expressions.
template <class Derived> struct takes_constants_and_numbers {
  template <eager_operand X, class... Arguments>
    requires(argument_of_traces<Arguments> || ...) && (!traced<Arguments> || ...)
  constexpr auto operator()(const X& x, const Arguments&... arguments) const {
    return call_with_constant<Derived>(x, arguments...);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
