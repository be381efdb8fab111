// An array's elements in the form that other libraries take: std::mdspan, or a type of that shape.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory_of_others.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The result of `as_mdspan` if the standard library has no std::mdspan: a type with the same members, for row-major
/// elements.
template <class T, class Extents> class array_view {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using extents_type = Extents;
  using index_type = std::int64_t;
  using size_type = std::uint64_t;
  using rank_type = std::size_t;
  using data_handle_type = T*;
  using reference = T&;

  array_view(T* elements, const std::array<std::int64_t, std::size_t{Extents::rank}>& shape)
      : first(elements), lengths(shape) {}

  static constexpr rank_type rank() { return std::size_t{Extents::rank}; }
  /// The largest value of an extent that is known at the call only.
  static constexpr std::size_t static_extent(rank_type r) {
    return Extents::values[r] == dyn ? static_cast<std::size_t>(-1) : detail::index_of(Extents::values[r]);
  }
  index_type extent(rank_type r) const { return lengths[r]; }
  index_type stride(rank_type r) const {
    index_type result = 1;
    while (++r < rank()) result *= lengths[r];
    return result;
  }
  size_type size() const {
    size_type result = 1;
    for (const std::int64_t length : lengths) result *= static_cast<size_type>(length);
    return result;
  }
  bool empty() const { return size() == 0; }
  data_handle_type data_handle() const { return first; }
  static constexpr bool is_exhaustive() { return true; }
  static constexpr bool is_always_row_major = true;

  /// The element at these indices, which have to be within the extents.
  template <std::integral... Index>
    requires(sizeof...(Index) == std::size_t{Extents::rank})
  reference operator()(Index... indices) const {
    return (*this)[std::array<index_type, sizeof...(Index)>{static_cast<index_type>(indices)...}];
  }
#if defined(__cpp_multidimensional_subscript)
  template <std::integral... Index>
    requires(sizeof...(Index) == std::size_t{Extents::rank})
  reference operator[](Index... indices) const {
    return (*this)(indices...);
  }
#endif
  reference operator[](const std::array<index_type, std::size_t{Extents::rank}>& indices) const {
    index_type offset = 0;
    for (rank_type r = 0; r < rank(); ++r) offset = offset * lengths[r] + indices[r];
    return first[offset];
  }

 private:
  T* first;
  std::array<std::int64_t, std::size_t{Extents::rank}> lengths;
};

#if defined(__cpp_lib_mdspan)
namespace detail {
template <class T, std::int64_t... E>
std::mdspan<T, std::extents<std::int64_t, (E == dyn ? std::dynamic_extent : static_cast<std::size_t>(E))...>>
    mdspan_type(extents_t<E...>);
} // namespace detail
#endif

/// The elements of an array as std::mdspan<const T, std::extents<std::int64_t, ...>>, in row-major order, valid as long
/// as the array is neither changed nor destroyed.
template <class T, auto Shape> auto as_mdspan(const array<T, Shape>& x) {
  using extents_type = detail::extents_of<Shape>;
#if defined(__cpp_lib_mdspan)
  using view = decltype(detail::mdspan_type<const T>(extents_type{}));
  return view(x.data(), x.shape());
#else
  return array_view<const T, extents_type>(x.data(), x.shape());
#endif
}
template <class T, auto Shape> void as_mdspan(const array<T, Shape>&&) = delete;

} // namespace parallax::PARALLAX_INLINE_VERSION
