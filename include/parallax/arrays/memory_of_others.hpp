// The forms in which callers give memory that they own: pointers, contiguous ranges and mdspans.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A pointer to elements.
template <class M>
concept element_pointer = std::is_pointer_v<std::remove_cvref_t<M>> &&
                          element<std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<M>>>>;

/// A contiguous range of elements, such as a span or a vector.
template <class M>
concept element_range = requires(M& range) {
  { std::data(range) } -> element_pointer;
  { std::size(range) } -> std::integral;
};

/// A view of elements with extents and strides, such as std::mdspan.
template <class M>
concept element_mdspan = requires(const std::remove_cvref_t<M>& view) {
  { view.data_handle() } -> element_pointer;
  { view.rank() } -> std::integral;
  { view.extent(0) } -> std::integral;
  { view.stride(0) } -> std::integral;
  { std::remove_cvref_t<M>::static_extent(0) } -> std::convertible_to<std::size_t>;
};

/// Whether an mdspan's type says that its elements lie in row-major order without gaps. To be specialised for mdspans
/// of other libraries.
template <class M>
inline constexpr bool is_row_major = requires { requires std::remove_cvref_t<M>::is_always_row_major; };

/// Memory that others own: a pointer to elements, a contiguous range of them, or an mdspan whose elements lie in
/// row-major order without gaps.
template <class M>
concept element_memory = element_pointer<M> || element_range<M> || element_mdspan<M>;

#if defined(__cpp_lib_mdspan)
template <class T, class Extents, class Accessor>
inline constexpr bool is_row_major<std::mdspan<T, Extents, std::layout_right, Accessor>> = true;
#endif

} // namespace detail

namespace runtime {

/// Elements that others own. Their number is `none` if only the caller knows it.
template <class T> struct elements_of_others {
  T* first = nullptr;
  std::optional<std::int64_t> count;
};

/// Throws `shape_error` unless an mdspan's elements lie in row-major order without gaps.
template <element_mdspan M> void check_contiguous(const M& view) {
  std::int64_t stride = 1;
  for (std::size_t r = view.rank(); r-- > 0;) {
    const auto extent = static_cast<std::int64_t>(view.extent(r));
    if (extent > 1 && static_cast<std::int64_t>(view.stride(r)) != stride)
      throw shape_error("an mdspan whose elements are not in row-major order, or have gaps, along axis " +
                        std::to_string(r) + ": copy it into an array");
    stride *= extent;
  }
}

template <element_memory M> auto elements_in(M&& memory) {
  constexpr bool outlives_the_call =
      !element_range<M> || std::is_lvalue_reference_v<M> || std::ranges::enable_borrowed_range<std::remove_cvref_t<M>>;
  static_assert(outlives_the_call,
                "parallax: this memory ends with the statement: name the container, or move a std::vector into an "
                "array, array<T, N>(shape, std::move(vector))");
  if constexpr (element_pointer<M>) {
    return elements_of_others<std::remove_pointer_t<std::remove_cvref_t<M>>>{memory, {}};
  } else if constexpr (element_range<M>) {
    using T = std::remove_pointer_t<decltype(std::data(memory))>;
    return elements_of_others<T>{std::data(memory), static_cast<std::int64_t>(std::size(memory))};
  } else {
    check_contiguous(memory);
    std::int64_t count = 1;
    for (std::size_t r = 0; r < memory.rank(); ++r) count *= static_cast<std::int64_t>(memory.extent(r));
    using T = std::remove_pointer_t<std::remove_cvref_t<decltype(memory.data_handle())>>;
    return elements_of_others<T>{memory.data_handle(), count};
  }
}
/// The type of the elements, without const.
template <class M>
using element_of = std::remove_const_t<std::remove_pointer_t<decltype(elements_in(std::declval<M>()).first)>>;

/// The extents type of an mdspan.
template <element_mdspan M, std::size_t... R> auto extents_of_mdspan(std::index_sequence<R...>) {
  constexpr auto extent_at = [](std::size_t r) {
    const std::size_t extent = M::static_extent(r);
    return extent == std::numeric_limits<std::size_t>::max() ? dyn : static_cast<std::int64_t>(extent);
  };
  return extents_t<extent_at(R)...>{};
}

} // namespace runtime
} // namespace parallax::PARALLAX_INLINE_VERSION
