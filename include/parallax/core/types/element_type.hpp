// The element types an array can hold, and how they mix.
#pragma once

#include <parallax/core/types/float16.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

// facts_of has a row for each
/// The type of an array's elements. JAX: dtype
enum class element_type : std::uint8_t {
  boolean,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

namespace detail {

inline constexpr int element_type_count = 10;

} // namespace detail

/// IEEE 754's binary16: 11 significant bits, up to 65504. NumPy: float16
using float16 = detail::small_float<detail::binary16_format>;
/// The range of float32 with 8 significant bits. JAX: bfloat16
using bfloat16 = detail::small_float<detail::bfloat16_format>;

static_assert(sizeof(float16) == 2 && std::is_trivially_copyable_v<float16> &&
              std::is_trivially_default_constructible_v<float16>);

/// A C++ type that can be the element of an array.
template <class T>
concept element =
    std::same_as<T, bool> || std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, float16> || std::same_as<T, bfloat16> || std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

template <element_type> struct element_of;
template <> struct element_of<element_type::boolean> {
  using type = bool;
};
template <> struct element_of<element_type::uint8> {
  using type = std::uint8_t;
};
template <> struct element_of<element_type::int32> {
  using type = std::int32_t;
};
template <> struct element_of<element_type::uint32> {
  using type = std::uint32_t;
};
template <> struct element_of<element_type::int64> {
  using type = std::int64_t;
};
template <> struct element_of<element_type::uint64> {
  using type = std::uint64_t;
};
template <> struct element_of<element_type::float16> {
  using type = float16;
};
template <> struct element_of<element_type::bfloat16> {
  using type = bfloat16;
};
template <> struct element_of<element_type::float32> {
  using type = float;
};
template <> struct element_of<element_type::float64> {
  using type = double;
};

} // namespace detail

/// The C++ type of elements of `Type`.
template <element_type Type> using element_t = typename detail::element_of<Type>::type;

namespace detail {

/// No constant: what is computed while compiling does not compile if a `switch` over all element types ends here.
[[noreturn]] inline element_type not_said_of_this_element_type() { std::abort(); }

} // namespace detail

/// The `element_type` of a C++ type.
template <element T>
inline constexpr element_type element_type_of = std::same_as<T, bool>            ? element_type::boolean
                                                : std::same_as<T, std::uint8_t>  ? element_type::uint8
                                                : std::same_as<T, std::int32_t>  ? element_type::int32
                                                : std::same_as<T, std::uint32_t> ? element_type::uint32
                                                : std::same_as<T, std::int64_t>  ? element_type::int64
                                                : std::same_as<T, std::uint64_t> ? element_type::uint64
                                                : std::same_as<T, float16>       ? element_type::float16
                                                : std::same_as<T, bfloat16>      ? element_type::bfloat16
                                                : std::same_as<T, float>         ? element_type::float32
                                                : std::same_as<T, double>        ? element_type::float64
                                                                          : detail::not_said_of_this_element_type();

namespace detail {

/// The properties of an element type.
struct element_facts {
  std::string_view name;   ///< NumPy's
  std::size_t size;        ///< in bytes
  int category;            ///< 0 for booleans, 1 for integers, 2 for floating types
  bool is_signed;          ///< it has negative values
  bool has_order;          ///< of two elements one may be less
  bool is_inexact;         ///< results are rounded to it
  bool has_derivatives;    ///< functions to and from it have them
  bool has_double_literal; ///< constants of it are kept as a double
  bool is_half_precision;  ///< sums and products of it are computed in float32 and rounded once
};
constexpr element_facts facts_of(element_type type) {
  constexpr bool yes = true, no = false;
  switch (type) { // size, category, signed, order, inexact, derivatives, literal in a double, half
  case element_type::boolean: return {"bool", 1, 0, no, yes, no, no, no, no};
  case element_type::uint8: return {"uint8", 1, 1, no, yes, no, no, no, no};
  case element_type::int32: return {"int32", 4, 1, yes, yes, no, no, no, no};
  case element_type::uint32: return {"uint32", 4, 1, no, yes, no, no, no, no};
  case element_type::int64: return {"int64", 8, 1, yes, yes, no, no, no, no};
  case element_type::uint64: return {"uint64", 8, 1, no, yes, no, no, no, no};
  case element_type::float16: return {"float16", 2, 2, yes, yes, yes, yes, yes, yes};
  case element_type::bfloat16: return {"bfloat16", 2, 2, yes, yes, yes, yes, yes, yes};
  case element_type::float32: return {"float32", 4, 2, yes, yes, yes, yes, yes, no};
  case element_type::float64: return {"float64", 8, 2, yes, yes, yes, yes, yes, no};
  }
  return facts_of(not_said_of_this_element_type());
}

/// The facts of all element types, for look-ups while compiling and at run time.
struct element_table {
  element_facts rows[element_type_count]{};
  constexpr element_table() {
    for (int k = 0; k < element_type_count; ++k) rows[k] = facts_of(static_cast<element_type>(k));
  }
  constexpr const element_facts& operator[](element_type type) const { return rows[static_cast<int>(type)]; }
};
inline constexpr element_table element_types;

} // namespace detail

/// The size of one element in bytes.
constexpr std::size_t size_of(element_type type) { return detail::element_types[type].size; }
/// NumPy's name of the type.
constexpr std::string_view name_of(element_type type) { return detail::element_types[type].name; }

namespace detail {
/// Whether functions to and from elements of this type have derivatives.
constexpr bool has_derivatives(element_type type) { return element_types[type].has_derivatives; }
/// Whether results are rounded to this type, as those of divisions are. NumPy: inexact
constexpr bool is_inexact(element_type type) { return element_types[type].is_inexact; }
/// Whether one of two elements may be less than the other.
constexpr bool has_order(element_type type) { return element_types[type].has_order; }
/// Whether a program keeps constants of this type as a double of the same value. Constants of other types are whole
/// numbers.
constexpr bool has_double_literal(element_type type) { return element_types[type].has_double_literal; }
constexpr bool is_integer(element_type type) { return element_types[type].category == 1; }
/// Whether it is a floating type of 16 bits. Sums and products of such elements are computed in float32 and rounded
/// once.
constexpr bool is_half_precision(element_type type) { return element_types[type].is_half_precision; }
constexpr bool is_signed(element_type type) { return element_types[type].is_signed; }

/// 0 for booleans, 1 for integers, 2 for floating types: a weakly typed scalar changes an array's type only if the
/// scalar's category is higher.
constexpr int category_of(element_type type) { return element_types[type].category; }

/// The type of an operation on two different inexact types.
constexpr element_type promote_inexact(element_type a, element_type b) {
  switch (a) {
  case element_type::float16:
  case element_type::bfloat16:
  case element_type::float32: return b == element_type::float64 ? b : element_type::float32;
  case element_type::float64: return a;
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return not_said_of_this_element_type();
}

} // namespace detail

/// The type of an operation on two strongly typed operands: JAX's type promotion lattice with 64-bit types enabled,
/// restricted to these types.
constexpr element_type promote(element_type a, element_type b) {
  if (a == b) return a;
  if (detail::category_of(a) != detail::category_of(b)) return detail::category_of(a) > detail::category_of(b) ? a : b;
  if (detail::is_inexact(a)) return detail::promote_inexact(a, b);
  if (detail::is_signed(a) == detail::is_signed(b)) return size_of(a) > size_of(b) ? a : b;
  element_type with_sign = detail::is_signed(a) ? a : b;
  element_type without = detail::is_signed(a) ? b : a;
  if (size_of(without) < size_of(with_sign)) return with_sign;
  return without == element_type::uint64 ? element_type::float64 : element_type::int64;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
