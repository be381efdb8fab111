// Extents as traced functions compute with them.
#pragma once

#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace parallax::PARALLAX_INLINE_VERSION {

/// An extent as users see it: a number, or a symbol that the call resolves. A number below 0 is a bound that counts
/// from the end. Arithmetic on symbols stays symbolic. It is integer arithmetic: division rounds towards zero.
class extent {
 public:
  constexpr extent() = default;
  constexpr extent(std::integral auto number) : value(in_64_bits(number)) {}
  /// An extent of a trace.
  constexpr extent(detail::context& trace, detail::dim given)
      : owner(&trace),
        value(detail::is_static(given) ? given.number() : 0),
        symbol(detail::is_static(given) ? detail::dim{} : given) {}

  /// Whether it is a number.
  constexpr bool known() const { return detail::is_static(symbol); }
  constexpr bool is_negative() const { return known() && value < 0; }
  /// The extent as a number; an error in the program if only the call knows it.
  constexpr std::int64_t number() const {
    if (!known())
      owner->fail(
          detail::message()
          << "number: this extent is known at the call only; give the array a static extent to use it as a number");
    return known() ? value : 1;
  }
  /// The extent inside a program. It must not be negative.
  constexpr detail::dim as_dim() const { return known() ? detail::dim{value} : symbol; }
  /// The trace that the extent belongs to; null for a number that a user wrote.
  constexpr detail::context* trace() const { return owner; }

  friend constexpr extent operator+(extent a, extent b) {
    if (a.known() && b.known()) return a.of_numbers(b, a.value + b.value);
    if (a.is_negative()) return b - a.negated();
    if (b.is_negative()) return a - b.negated();
    return a.of_dims(b, &detail::dim_table::add);
  }
  friend constexpr extent operator-(extent a, extent b) {
    if (a.known() && b.known()) return a.of_numbers(b, a.value - b.value);
    if (b.is_negative()) return a + b.negated();
    return a.of_dims(b, &detail::dim_table::subtract);
  }
  friend constexpr extent operator*(extent a, extent b) {
    if (a.known() && b.known()) return a.of_numbers(b, a.value * b.value);
    return a.of_dims(b, &detail::dim_table::multiply);
  }
  friend constexpr extent operator/(extent a, extent b) {
    if (a.known() && b.known()) return a.of_numbers(b, b.value == 0 ? 0 : a.value / b.value);
    return a.of_dims(b, &detail::dim_table::divide);
  }
  /// min(a, b) of extents that are not negative.
  friend constexpr extent smaller(extent a, extent b) {
    if (a.known() && b.known()) return a.of_numbers(b, a.value < b.value ? a.value : b.value);
    return a.of_dims(b, &detail::dim_table::smaller);
  }
  /// Whether the two are provably the same.
  friend constexpr bool operator==(extent a, extent b) { return a.value == b.value && a.symbol == b.symbol; }
  /// Compares numbers, for loops over an axis and the like.
  friend constexpr std::strong_ordering operator<=>(extent a, extent b) { return a.number() <=> b.number(); }

  friend constexpr detail::message& operator<<(detail::message& out, extent e) {
    if (e.known()) out << e.value;
    else detail::print_extent(out, e.owner->extents, e.symbol);
    return out;
  }

 private:
  detail::context* owner = nullptr;
  std::int64_t value = 0; ///< of a number
  detail::dim symbol;     ///< 0 if it is a number

  /// A number above the largest 64-bit one becomes the largest, which is beyond all extents too.
  template <std::integral T> static constexpr std::int64_t in_64_bits(T number) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) == 8) {
      constexpr auto most = static_cast<T>(std::numeric_limits<std::int64_t>::max());
      if (number > most) number = most;
    }
    return static_cast<std::int64_t>(number);
  }
  constexpr detail::context* owner_with(extent other) const { return owner ? owner : other.owner; }
  constexpr extent of_numbers(extent other, std::int64_t number) const {
    extent result(number);
    result.owner = owner_with(other);
    return result;
  }
  constexpr extent negated() const { return of_numbers(*this, -value); }
  constexpr extent of_dims(extent other, detail::dim (detail::dim_table::*operation)(detail::dim, detail::dim)) const {
    detail::context& trace = *owner_with(other);
    if (is_negative() || other.is_negative()) {
      trace.fail(detail::message() << "extent: " << *this << " and " << other
                                   << " make an extent that is negative, or may be; compute with extents from 0 on");
      return {trace, detail::dim{1}};
    }
    return {trace, (trace.extents.*operation)(as_dim(), other.as_dim())};
  }
};

/// Extents given at run time, `{8, 28, 28}`: symbols in a program, numbers in a trace.
template <std::size_t Rank> struct extent_list {
  extent values[Rank > 0 ? Rank : 1];

  constexpr detail::plain_span<const extent> view() const { return {values, Rank}; }
  /// The only extent of a list of rank 1.
  constexpr operator extent() const
    requires(Rank == 1)
  {
    return values[0];
  }
};

namespace detail {
template <class T> inline constexpr bool is_extent_list = false;
template <std::size_t Rank> inline constexpr bool is_extent_list<extent_list<Rank>> = true;

/// The trace that the extents of a list belong to; null if all are numbers that a user wrote.
constexpr context* owner_of_extents(plain_span<const extent> list) {
  context* found = nullptr;
  for (const extent& e : list)
    if (found == nullptr) found = e.trace();
  return found;
}

template <class T>
concept a_count = std::same_as<std::remove_cvref_t<T>, extent_list<1>>;
/// The operands of an operator below: `count(n)`'s argument, and another one, an extent or a whole number.
template <class A, class B>
concept with_a_count =
    (a_count<A> && (a_count<B> || std::convertible_to<B, extent>)) || (std::convertible_to<A, extent> && a_count<B>);
} // namespace detail

/// Arithmetic on the argument that `count(n)` passes is arithmetic on extents.
template <class A, class B>
  requires detail::with_a_count<A, B>
constexpr extent operator+(const A& a, const B& b) {
  return extent(a) + extent(b);
}
template <class A, class B>
  requires detail::with_a_count<A, B>
constexpr extent operator-(const A& a, const B& b) {
  return extent(a) - extent(b);
}
template <class A, class B>
  requires detail::with_a_count<A, B>
constexpr extent operator*(const A& a, const B& b) {
  return extent(a) * extent(b);
}
template <class A, class B>
  requires detail::with_a_count<A, B>
constexpr extent operator/(const A& a, const B& b) {
  return extent(a) / extent(b);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
