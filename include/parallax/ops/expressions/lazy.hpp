// Expressions of arrays outside a trace: the results of operations on arrays. They hold their operands by value and are
// computed as one program when they are assigned to an array.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/operators.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Whether a type is a concrete array, on the host or sharded over devices. Specialised beside those types.
template <class T> inline constexpr bool is_array_value = false;

template <class T>
concept array_value = is_array_value<std::remove_cvref_t<T>>;

/// Whether a type is a transformed function, such as grad(f). Specialised beside the transformations.
template <class T> inline constexpr bool is_transformed = false;

template <class Expression> constexpr bool refuse_reassigned() {
  static_assert(std::is_void_v<Expression>, "a variable of type auto that began as an expression of arrays is that "
                                            "expression: one that is assigned others has the type plx::array");
  return true;
}
template <class Expression> constexpr bool refuse_uncomputed() {
  static_assert(std::is_void_v<Expression>, "an expression of arrays is computed where an array is made of it: write "
                                            "plx::array y = ... in place of auto, and use that");
  return true;
}
template <class Expression> constexpr bool refuse_number_of_expression() {
  static_assert(std::is_void_v<Expression>, "an expression of arrays is no number: give its variable the type "
                                            "plx::array<float, 0>, and read that with .item()");
  return true;
}

} // namespace detail

template <class Operation, class... Operands> struct lazy;

namespace detail {

template <class T> inline constexpr bool is_lazy = false;
template <class Operation, class... Operands> inline constexpr bool is_lazy<lazy<Operation, Operands...>> = true;

/// Whether an operand holds no array, so that it can stand in a traced function: a number, an extent, or an empty
/// object that selects a variant, such as an axis.
template <class T> inline constexpr bool is_constant = number_like<T> || std::is_empty_v<T>;
template <class Operation, class... Operands>
inline constexpr bool is_constant<lazy<Operation, Operands...>> = (is_constant<Operands> && ...);
template <std::size_t Rank> inline constexpr bool is_constant<extent_list<Rank>> = true;

/// An argument that an expression of constants keeps, and passes to its operation when it is computed.
template <class T> struct kept_argument {
  T value;
};
template <class T> inline constexpr bool is_constant<kept_argument<T>> = true;
template <class T> inline constexpr bool is_kept_argument = false;
template <class T> inline constexpr bool is_kept_argument<kept_argument<T>> = true;

/// Whether an expression has a meaning only in traced functions: it keeps an argument that no program can be given.
template <class T> inline constexpr bool is_for_traces = is_kept_argument<T> || std::same_as<T, extent>;
template <class Operation, class... Operands>
inline constexpr bool is_for_traces<lazy<Operation, Operands...>> = (is_for_traces<Operands> || ...);

/// The `assigned` of an expression with arrays, which never names a value of a trace.
struct never_assigned {};

template <class T>
concept lazy_expression = is_lazy<std::remove_cvref_t<T>>;

/// An expression of constants, such as `zeros({3})` or `2 * arange(n)`. Inside a traced function it acts as a traced
/// array; outside of one it is computed when an array is made of it.
template <class T>
concept constant_expression = lazy_expression<T> && is_constant<std::remove_cvref_t<T>>;

/// Called if a constant is assigned to a variable that began as a constant, and neither says which trace it is part of.
/// For an array that is no error: `plx::array s = plx::zeros({3});`.
[[noreturn, gnu::error("parallax: give a variable that is assigned constants the type plx::array")]]
void give_a_variable_of_constants_the_type_plx_array();
/// The value of a variable that began as a constant after `x` is assigned to it.
template <class Variable, class Constant> constexpr tracer assigned_value(const Variable& variable, const Constant& x);

} // namespace detail

/// Operation `Operation` applied to operands: arrays, scalars, other expressions, or empty objects that select a
/// variant.
template <class Operation, class... Operands> struct lazy {
  static constexpr bool of_constants = (detail::is_constant<Operands> && ...);

  std::tuple<Operands...> operands;
  /// The traced array that was assigned to this variable, which began as a constant.
  [[no_unique_address]] std::conditional_t<of_constants, tracer, detail::never_assigned> assigned{};

  /// Assigns a traced array to a variable that began as a constant, inside a traced function.
  constexpr lazy& operator=(const tracer& x) &
    requires of_constants
  {
    assigned = x;
    return *this;
  }
  /// Assigns another expression of constants, if it or this variable has a traced array or an extent of a trace.
  template <detail::constant_expression Other>
    requires of_constants
  constexpr lazy& operator=(const Other& x) & {
    return *this = detail::assigned_value(*this, x);
  }

  template <class Other>
    requires(!of_constants && !std::same_as<Other, lazy> && (detail::lazy_expression<Other> || detail::traced<Other>))
  constexpr lazy& operator=(const Other&) & noexcept(detail::refuse_reassigned<lazy>()) {
    return *this;
  }

  /// Elements of the expression's value, as of an array.
  template <class Index> constexpr auto operator[](const Index& index) const;
  template <class... Index> constexpr auto at(const Index&... index) const;
  /// The extent of an axis, and the number of axes, of an expression of constants.
  constexpr extent shape(int axis) const
    requires of_constants;
  constexpr int rank() const
    requires of_constants;

  // members that arrays and numbers have and an expression lacks
  constexpr operator double() const noexcept(detail::refuse_number_of_expression<lazy>())
    requires(!of_constants)
  {
    return 0;
  }
  template <class... Index> constexpr int operator()(Index...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... Axis> constexpr int shape(Axis...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int size(None...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int item(None...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int values(None...) const noexcept(detail::refuse_uncomputed<lazy>());
};

namespace detail {

template <class Operation, class... Operands> inline constexpr bool is_tree_leaf<lazy<Operation, Operands...>> = true;
template <class Operation, class... Operands>
inline constexpr bool is_assigned_to_tracers<lazy<Operation, Operands...>> = lazy<Operation, Operands...>::of_constants;

/// An operand of an eager operation: an array, or an expression of arrays.
template <class T>
concept eager_operand = array_value<T> || lazy_expression<T>;
/// An eager operand that is an array, or an expression that contains one.
template <class T>
concept array_operand = eager_operand<T> && !constant_expression<T>;

/// The trace that values of `a` and `b` belong to. A null pointer stands for no trace; a probe gives way to the other
/// trace.
constexpr context* common_owner(context* a, context* b) { return a == nullptr || (a->is_probe && b) ? b : a; }
/// The trace that an operand is part of; null if none is known.
template <class T> constexpr context* owner_of(const T& x);
template <class... T> constexpr context* owner_among(const T&... operands) {
  context* found = nullptr;
  ((found = common_owner(found, owner_of(operands))), ...);
  return found;
}
template <class T> constexpr context* owner_of(const T& x) {
  if constexpr (traced<T>) return x.owner;
  else if constexpr (std::same_as<T, extent>) return x.trace();
  else if constexpr (is_extent_list<T>) return owner_of_extents(x.view());
  else if constexpr (constant_expression<T>)
    return x.assigned.owner ? x.assigned.owner
                            : std::apply([](const auto&... operand) { return owner_among(operand...); }, x.operands);
  else return nullptr;
}
template <class... T> constexpr context& trace_of(const T&... operands) { return *owner_among(operands...); }

/// Turns an array into a value of a trace: a table of the numbers that it was written with. Specialised beside arrays.
template <class T> struct constant_array;
template <class T>
concept array_in_a_trace = requires(context& trace, const T& x) { constant_array<T>::in(trace, x); };

/// Refuses operands that a traced operation cannot take, at the line of the call.
template <class T> constexpr bool check_operand();
template <class Operation, class... O> constexpr bool check_operands(std::type_identity<lazy<Operation, O...>>) {
  return (check_operand<O>() && ...);
}
template <class T> constexpr bool check_operand() {
  static_assert(!array_value<T> || array_in_a_trace<T>,
                "an array on devices has its values at the call only, and cannot be closed over: pass it to the "
                "traced function as an argument");
  static_assert(!std::same_as<T, no_member_T_write_plx_transpose>, "arrays have no member T: write plx::transpose(x)");
  if constexpr (lazy_expression<T>) return check_operands(std::type_identity<T>{});
  else return true;
}

template <class T> constexpr auto materialize(context& trace, const T& x);
template <class Operation, class... O>
constexpr auto materialize_operation(context& trace, const lazy<Operation, O...>& x) {
  return std::apply([&](const auto&... operand) { return Operation::apply(trace, materialize(trace, operand)...); },
                    x.operands);
}

/// An operand in the form that a traced operation takes.
template <class T> constexpr auto materialize(context& trace, const T& x) {
  if constexpr (scalar<T>) {
    return build::weak_literal(trace, x);
  } else if constexpr (traced<T>) {
    return trace.own(x);
  } else if constexpr (constant_expression<T>) {
    return x.assigned.owner ? trace.own(x.assigned) : materialize_operation(trace, x);
  } else if constexpr (lazy_expression<T>) {
    return materialize_operation(trace, x);
  } else if constexpr (is_kept_argument<T>) {
    if constexpr (constant_expression<decltype(x.value)>) return materialize(trace, x.value);
    else return x.value;
  } else if constexpr (std::same_as<T, extent>) {
    return build::extent_number(trace, x);
  } else if constexpr (array_in_a_trace<T>) {
    return constant_array<T>::in(trace, x);
  } else if constexpr (array_value<T> || std::same_as<T, no_member_T_write_plx_transpose>) {
    return build::weak_literal(trace, check_operand<T>() ? 1 : 0);
  } else {
    return x;
  }
}

template <class Variable, class Constant> constexpr tracer assigned_value(const Variable& variable, const Constant& x) {
  context* const trace = owner_among(x, variable);
  if (trace == nullptr) give_a_variable_of_constants_the_type_plx_array();
  return materialize(*trace, x);
}

} // namespace detail

template <class Constant>
  requires detail::is_assigned_to_tracers<Constant>
constexpr tracer& tracer::operator=(const Constant& x) & {
  return *this = detail::materialize(*owner, x);
}

namespace detail {

/// A user's operand in the form that an expression keeps: a count becomes the extent that it holds.
template <class T> constexpr const T& as_operand(const T& x) { return x; }
constexpr extent as_operand(const extent_list<1>& count) { return count; }
template <class T> using operand_t = std::remove_cvref_t<decltype(as_operand(std::declval<const T&>()))>;

/// Operands of which none is traced and that make an expression: an eager operand is among them, or all are constants
/// and one is a number.
template <class... T>
concept untraced_operands =
    !(traced<T> || ...) && ((eager_operand<T> || ...) || ((number_like<T> || ...) && (is_constant<T> && ...)));

/// An operation users call: on tracers it appends to their graph, on arrays it makes an expression.
/// `Operation::apply(context&, operands...)` is its meaning on tracers.
template <class Operation> struct operation {
  template <class... T>
    requires(traced<T> || ...)
  constexpr tracer operator()(const T&... operands) const noexcept((check_operand<T>() && ...)) {
    context& trace = trace_of(operands...);
    return Operation::apply(trace, materialize(trace, as_operand(operands))...);
  }
  template <class... T>
    requires untraced_operands<T...>
  constexpr lazy<Operation, operand_t<T>...> operator()(const T&... operands) const {
    return {{as_operand(operands)...}};
  }
  // Like the call operator, but lists of extents are shapes of results, not counts.
  template <class... T>
    requires(traced<T> || ...)
  static constexpr tracer with_shape(const T&... operands) noexcept((check_operand<T>() && ...)) {
    context& trace = trace_of(operands...);
    return Operation::apply(trace, materialize(trace, operands)...);
  }
  template <class... T>
    requires(!(traced<T> || ...))
  static constexpr lazy<Operation, T...> with_shape(const T&... operands) {
    return {{operands...}};
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION

/// Asked for by `auto [a, b] = x`.
template <class Operation, class... Operands>
struct std::tuple_size<parallax::lazy<Operation, Operands...>>
    : std::integral_constant<std::size_t,
                             parallax::detail::refuse_binding<parallax::lazy<Operation, Operands...>>() ? 2 : 0> {};
