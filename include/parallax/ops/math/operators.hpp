// The operators of C++ on arrays and on expressions of arrays, and the assigning operators, which take tracers too.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Two operands of which at least one is an array or an expression of arrays, none traced.
template <class A, class B>
concept eager_operands =
    (eager_operand<A> && (eager_operand<B> || number_like<B>)) || (number_like<A> && eager_operand<B>);
/// A tracer and an expression without operands of its own, such as axis_index<"i">().
template <class A, class B>
concept mixed_operands = (traced<A> && eager_operand<B>) || (eager_operand<A> && traced<B>);
template <class A, class B>
concept array_operands = eager_operands<A, B> || mixed_operands<A, B>;

} // namespace detail

/// The operators of C++ on arrays, on expressions of arrays, on traced arrays, and on one of these and a number: `+` is
/// `add`, `-` `subtract` and `negative`, `*` `multiply`, `/` `divide`, `%` `rem`; `&`, `|`, `^` and `~` go bit by bit,
/// `<<` and `>>` shift, comparisons give truth values, and `&&`, `||` and `!`, which compute both sides, are
/// `logical_and`, `logical_or` and `logical_not`. `x += y` assigns `x + y`. Shapes: those of the operands, broadcast.
/// Errors: extents that differ, of which none is 1; floating numbers for operators on bits; truth values for `-`, `%`
/// and shifts. JAX: the operators of its arrays
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator+(const A& a, const B& b) {
  return add(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator-(const A& a, const B& b) {
  return subtract(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator*(const A& a, const B& b) {
  return multiply(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator/(const A& a, const B& b) {
  return divide(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator%(const A& a, const B& b) {
  return rem(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator&(const A& a, const B& b) {
  return bitwise_and(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator|(const A& a, const B& b) {
  return bitwise_or(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator^(const A& a, const B& b) {
  return bitwise_xor(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator<<(const A& a, const B& b) {
  return left_shift(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator>>(const A& a, const B& b) {
  return right_shift(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator==(const A& a, const B& b) {
  return equal(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator!=(const A& a, const B& b) {
  return not_equal(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator<(const A& a, const B& b) {
  return less(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator<=(const A& a, const B& b) {
  return less_equal(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator>(const A& a, const B& b) {
  return greater(a, b);
}
template <class A, class B>
  requires detail::array_operands<A, B>
constexpr auto operator>=(const A& a, const B& b) {
  return greater_equal(a, b);
}

namespace detail {
/// The left side of `x += y`: an array, a tracer, or a variable that began as a constant, to which a traced result is
/// assigned. The last two may have another shape and type afterwards, as in Python.
template <class A, class B>
concept assignable_operands =
    (traced<A> && (traced_operands<A, B> || mixed_operands<A, B>)) || (array_value<A> && eager_operands<A, B>) ||
    (constant_expression<A> && (traced<B> || eager_operands<A, B>));

} // namespace detail

template <class A, class B>
  requires detail::assignable_operands<A, B>
constexpr A& operator+=(A& a, const B& b) {
  return a = a + b;
}
template <class A, class B>
  requires detail::assignable_operands<A, B>
constexpr A& operator-=(A& a, const B& b) {
  return a = a - b;
}
template <class A, class B>
  requires detail::assignable_operands<A, B>
constexpr A& operator*=(A& a, const B& b) {
  return a = a * b;
}
template <class A, class B>
  requires detail::assignable_operands<A, B>
constexpr A& operator/=(A& a, const B& b) {
  return a = a / b;
}

namespace detail {
/// A floating number or a bool, and an extent: C++ has no operator for the two.
template <class A, class B>
concept number_and_extent = (scalar<A> && !std::integral<A> && std::same_as<B, extent>) ||
                            (std::same_as<A, extent> && scalar<B> && !std::integral<B>);

} // namespace detail

template <class A, class B>
  requires detail::number_and_extent<A, B>
constexpr auto operator+(const A& a, const B& b) {
  return add(a, b);
}
template <class A, class B>
  requires detail::number_and_extent<A, B>
constexpr auto operator-(const A& a, const B& b) {
  return subtract(a, b);
}
template <class A, class B>
  requires detail::number_and_extent<A, B>
constexpr auto operator*(const A& a, const B& b) {
  return multiply(a, b);
}
template <class A, class B>
  requires detail::number_and_extent<A, B>
constexpr auto operator/(const A& a, const B& b) {
  return divide(a, b);
}
template <detail::eager_operand A> constexpr auto operator-(const A& a) { return negative(a); }
template <detail::eager_operand A> constexpr auto operator+(const A& a) { return a; }
template <detail::eager_operand A> constexpr auto operator~(const A& a) { return bitwise_not(a); }
template <class A>
  requires(detail::traced<A> || detail::eager_operand<A>)
constexpr auto operator!(const A& a) {
  return logical_not(a);
}
template <class A, class B>
  requires(detail::array_operands<A, B> || detail::traced_operands<A, B>)
constexpr auto operator&&(const A& a, const B& b) {
  return logical_and(a, b);
}
template <class A, class B>
  requires(detail::array_operands<A, B> || detail::traced_operands<A, B>)
constexpr auto operator||(const A& a, const B& b) {
  return logical_or(a, b);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
