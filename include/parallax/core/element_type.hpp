// The element types an array can hold, and how they mix.
#pragma once

#include <parallax/core/float16.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The type of an array's elements. The order is by category (boolean, unsigned, signed, floating) within which the
/// promotion rules of `promote` hold.
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

inline constexpr int element_type_count = 10;

/// IEEE 754's binary16: 11 significant bits, up to 65504. NumPy: float16
using float16 = detail::small_float<detail::binary16_format>;
/// The range of float with 8 significant bits. JAX: bfloat16
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
                                                                                 : element_type::float64;

/// The size of one element in bytes.
constexpr std::size_t size_of(element_type type) {
  switch (type) {
  case element_type::boolean:
  case element_type::uint8: return 1;
  case element_type::float16:
  case element_type::bfloat16: return 2;
  case element_type::int32:
  case element_type::uint32:
  case element_type::float32: return 4;
  case element_type::int64:
  case element_type::uint64:
  case element_type::float64: break;
  }
  return 8;
}

/// NumPy's name of the type.
constexpr std::string_view name_of(element_type type) {
  constexpr std::string_view names[] = {"bool",   "uint8",   "int32",    "uint32",  "int64",
                                        "uint64", "float16", "bfloat16", "float32", "float64"};
  return names[static_cast<int>(type)];
}

constexpr bool is_floating(element_type type) { return type >= element_type::float16; }
constexpr bool is_integer(element_type type) { return type > element_type::boolean && type < element_type::float16; }
/// Whether it is a floating type of 16 bits. Sums and products of those are made in float32 and rounded once.
constexpr bool is_floating16(element_type type) {
  return type == element_type::float16 || type == element_type::bfloat16;
}
constexpr bool is_signed(element_type type) {
  return type == element_type::int32 || type == element_type::int64 || is_floating(type);
}

/// 0 for booleans, 1 for integers, 2 for floating types: a weakly typed scalar promotes an array only to a higher one.
constexpr int category_of(element_type type) { return is_floating(type) ? 2 : is_integer(type) ? 1 : 0; }

/// The type two strongly typed operands meet at: JAX's type promotion lattice with 64-bit types enabled, restricted to
/// these types.
constexpr element_type promote(element_type a, element_type b) {
  if (a == b) return a;
  if (category_of(a) != category_of(b)) return category_of(a) > category_of(b) ? a : b;
  if (is_floating(a))
    return a == element_type::float64 || b == element_type::float64 ? element_type::float64 : element_type::float32;
  if (is_signed(a) == is_signed(b)) return size_of(a) > size_of(b) ? a : b;
  element_type with_sign = is_signed(a) ? a : b;
  element_type without = is_signed(a) ? b : a;
  if (size_of(without) < size_of(with_sign)) return with_sign;
  return without == element_type::uint64 ? element_type::float64 : element_type::int64;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
