// C++ numbers that stand for elements.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A number of C++, or one of 16 bits.
template <class T>
concept scalar = std::is_arithmetic_v<std::remove_cvref_t<T>> || std::same_as<std::remove_cvref_t<T>, float16> ||
                 std::same_as<std::remove_cvref_t<T>, bfloat16>;

/// The element type that a C++ scalar stands for. Beside arrays it is weakly typed: it takes their type.
template <scalar T>
inline constexpr element_type scalar_type_of =
    std::same_as<T, bool>       ? element_type::boolean
    : std::same_as<T, float16>  ? element_type::float16
    : std::same_as<T, bfloat16> ? element_type::bfloat16
    : std::same_as<T, float>    ? element_type::float32
    : std::floating_point<T>    ? element_type::float64
    : std::signed_integral<T>   ? (sizeof(T) > 4 ? element_type::int64 : element_type::int32)
    : sizeof(T) > 4             ? element_type::uint64
                                : element_type::uint32;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
