// The types that stand for arguments while a program is compiled: element type, extents, weak typing, nothing else.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// An argument that is an array (or, weakly typed and without extents, a number).
template <element T, class Extents, bool Weak = false> struct abstract_array {
  static constexpr element_type type = element_type_of<T>;
  static constexpr bool weak = Weak;
  using extents_type = Extents;
};

/// An argument that is a list of extents.
template <int Rank> struct abstract_extents {};

} // namespace detail

/// Stands for an array of this type and shape if only its type matters: `expression(f, shaped<float, 3, 4>)`. JAX:
/// ShapeDtypeStruct
template <element T, std::int64_t... Extents>
inline constexpr detail::abstract_array<T, extents_t<Extents...>> shaped{};

namespace detail {

template <class T> inline constexpr bool is_abstract_array = false;
template <class T, class E, bool W> inline constexpr bool is_abstract_array<abstract_array<T, E, W>> = true;
template <class T> inline constexpr int abstract_extents_rank = -1;
template <int Rank> inline constexpr int abstract_extents_rank<abstract_extents<Rank>> = Rank;

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
