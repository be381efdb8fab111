// The operators of C++ on tracers.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A type that may stand beside a tracer: a number, an extent, or `count(n)`'s argument.
template <class T>
concept number_like = scalar<T> || std::same_as<std::remove_cvref_t<T>, extent> || a_count<T>;

/// Two operands, one a tracer and the other a tracer or a number.
template <class A, class B>
concept traced_operands = (traced<A> && (traced<B> || number_like<B>)) || (number_like<A> && traced<B>);

/// The operand `a` as a tracer; `a` or `other` is one.
template <class A, class B> constexpr tracer as_tracer(A a, B other) {
  if constexpr (traced<A>) return a;
  else return build::operand(*other.owner, a);
}
template <class Primitive, class A, class B> constexpr tracer traced_binary(std::string_view name, A a, B b) {
  return build::binary<Primitive>(name, as_tracer(a, b), as_tracer(b, a));
}
constexpr tracer to_inexact(tracer x) { return is_inexact(x.type()) ? x : build::convert(x, element_type::float32); }
/// Converts two whole numbers to float32. If one operand is a float, `promote_types` finds the type of both.
constexpr void to_inexact(tracer& a, tracer& b) {
  if (is_inexact(a.type()) || is_inexact(b.type())) return;
  a = to_inexact(a);
  b = to_inexact(b);
}
constexpr tracer true_divide(tracer a, tracer b) {
  to_inexact(a, b);
  return build::binary<primitives::divide>("divide", a, b);
}

} // namespace detail

template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator+(A a, B b) {
  return detail::traced_binary<primitives::add>("add", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator-(A a, B b) {
  return detail::traced_binary<primitives::subtract>("subtract", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator*(A a, B b) {
  return detail::traced_binary<primitives::multiply>("multiply", a, b);
}
/// True division: two whole numbers are divided in float32, as in NumPy with 32-bit defaults.
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator/(A a, B b) {
  return detail::true_divide(detail::as_tracer(a, b), detail::as_tracer(b, a));
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator%(A a, B b) {
  return detail::traced_binary<primitives::remainder>("remainder", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator&(A a, B b) {
  return detail::traced_binary<primitives::bitwise_and>("bitwise_and", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator|(A a, B b) {
  return detail::traced_binary<primitives::bitwise_or>("bitwise_or", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator^(A a, B b) {
  return detail::traced_binary<primitives::bitwise_xor>("bitwise_xor", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator<<(A a, B b) {
  return detail::traced_binary<primitives::shift_left>("shift_left", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator>>(A a, B b) {
  return detail::traced_binary<primitives::shift_right>("shift_right", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator==(A a, B b) {
  return detail::traced_binary<primitives::equal>("equal", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator!=(A a, B b) {
  return detail::traced_binary<primitives::not_equal>("not_equal", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator<(A a, B b) {
  return detail::traced_binary<primitives::less>("less", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator<=(A a, B b) {
  return detail::traced_binary<primitives::less_equal>("less_equal", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator>(A a, B b) {
  return detail::traced_binary<primitives::greater>("greater", a, b);
}
template <class A, class B>
  requires detail::traced_operands<A, B>
constexpr tracer operator>=(A a, B b) {
  return detail::traced_binary<primitives::greater_equal>("greater_equal", a, b);
}
constexpr tracer operator-(tracer x) { return detail::emit<primitives::negative>({x}); }
constexpr tracer operator+(tracer x) { return x; }
constexpr tracer operator~(tracer x) { return detail::emit<primitives::bitwise_not>({x}); }

} // namespace parallax::PARALLAX_INLINE_VERSION
