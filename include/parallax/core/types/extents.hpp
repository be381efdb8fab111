// The extents part of an array's type: each extent is static or known at the call, as in std::mdspan.
#pragma once

#include <parallax/core/version.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// An extent that is known at the call only.
inline constexpr std::int64_t dyn = -1;

/// The largest number of dimensions an array may have.
inline constexpr int max_rank = 8;

/// The type of `extents<...>`: an empty class that lists the extents.
template <std::int64_t... Extents> struct extents_t {
  static_assert(sizeof...(Extents) <= max_rank, "parallax: an array has at most 8 dimensions");
  static_assert(((Extents >= dyn) && ...), "parallax: an extent is not negative, or it is parallax::dyn");

  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr std::array<std::int64_t, sizeof...(Extents)> values{Extents...};
  static constexpr bool all_dynamic = ((Extents == dyn) && ...);
};

/// Extents as the second argument of `array`: `array<float, extents<dyn, 784>>`.
template <std::int64_t... Extents> inline constexpr extents_t<Extents...> extents{};

namespace detail {

template <int, auto Value> inline constexpr auto always = Value;

template <int... I> constexpr auto dynamic_extents(std::integer_sequence<int, I...>) -> extents_t<always<I, dyn>...>;

template <auto Shape> struct shape_extents {
  using type = std::remove_cvref_t<decltype(Shape)>;
};
template <auto Shape>
  requires std::is_integral_v<decltype(Shape)>
struct shape_extents<Shape> {
  static_assert(Shape >= 0 && Shape <= max_rank, "parallax: an array has 0 to 8 dimensions");
  using type = decltype(dynamic_extents(std::make_integer_sequence<int, static_cast<int>(Shape)>{}));
};

template <class Extents> struct extents_shape {
  static constexpr auto value = Extents{};
};
template <class Extents>
  requires(Extents::all_dynamic)
struct extents_shape<Extents> {
  static constexpr int value = Extents::rank;
};

/// The extents type that `Shape`, a rank or `extents<...>`, stands for.
template <auto Shape> using extents_of = typename shape_extents<Shape>::type;

/// The shape argument that names these extents: the rank if all are dynamic, `extents<...>` otherwise.
template <class Extents> inline constexpr auto shape_for = extents_shape<Extents>::value;

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
