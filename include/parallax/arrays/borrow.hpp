// Arrays in memory that others own: nothing is copied.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory_of_others.hpp>
#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/shapes/strided.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The owner of borrowed memory: an object that is destroyed with the last array that uses the memory.
template <class T>
concept memory_owner = std::is_class_v<T> && std::move_constructible<T>;

} // namespace detail

namespace runtime {

template <class Array, class T, class... Owner>
Array borrowed(const elements_of_others<T>& memory, const typename Array::shape_type& shape, Owner... owner) {
  const std::int64_t size = checked_size(shape, sizeof(T));
  if (memory.count && *memory.count != size)
    throw shape_error("borrow: " + std::to_string(*memory.count) + " elements of memory for the shape " +
                      shape_text(shape));
  if (memory.first == nullptr && size > 0)
    throw shape_error("borrow: a null pointer for the shape " + shape_text(shape));
  return Array::adopt(
      buffer::borrow(reinterpret_cast<const std::byte*>(memory.first), index_of(size) * sizeof(T), std::move(owner)...),
      shape);
}

template <std::size_t Rank> std::array<std::int64_t, Rank> numbers_of(const extent (&extents)[Rank]) {
  std::array<std::int64_t, Rank> shape{};
  for (std::size_t i = 0; i < Rank; ++i) shape[i] = extents[i].number();
  return shape;
}

template <std::size_t Rank> extent_list<Rank> list_of(const std::array<std::int64_t, Rank>& numbers) {
  extent_list<Rank> list;
  for (std::size_t i = 0; i < Rank; ++i) list.values[i] = numbers[i];
  return list;
}

/// The number of elements of memory from the first to the last one that extents and strides reach. Throws `shape_error`
/// if a stride is negative or no memory could be so large.
template <std::size_t Rank>
std::int64_t reach_of(const std::array<std::int64_t, Rank>& shape, const std::array<std::int64_t, Rank>& strides,
                      std::size_t element_bytes) {
  const std::int64_t size = checked_size(shape, element_bytes);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < Rank; ++i) {
    if (strides[i] < 0) throw shape_error("borrow: negative stride in " + shape_text(strides));
    std::int64_t distance = size == 0 ? 0 : shape[i] - 1;
    if (!checked_multiply(distance, strides[i]) || !checked_add(last, distance) ||
        last > std::numeric_limits<std::int64_t>::max() / 16)
      throw shape_error("borrow: the shape " + shape_text(shape) + " with strides " + shape_text(strides) +
                        " is beyond any memory");
  }
  return size == 0 ? 0 : last + 1;
}

/// The strided elements of memory as an expression. `count` is the memory's number of elements, if that is known;
/// `array_of(reach)` makes an array of its first `reach` elements.
template <class Extents, class Strides, class ArrayOf, std::size_t Rank>
auto strided_elements(std::optional<std::int64_t> count, const std::array<std::int64_t, Rank>& shape,
                      const std::array<std::int64_t, Rank>& strides, std::size_t element_bytes,
                      const ArrayOf& array_of) {
  static_assert(Strides::rank == int{Rank}, "parallax: borrow takes a stride for each axis");
  check_static_extents<Extents>(shape);
  if (!plain::equal(strides, Strides::values, extent_agrees))
    throw shape_error("borrow: the strides " + shape_text(strides) + " contradict the static ones " +
                      shape_text(Strides::values));
  const std::int64_t reach = reach_of(shape, strides, element_bytes);
  if (count && *count < reach)
    throw shape_error("borrow: " + std::to_string(*count) + " elements of memory, and the shape " + shape_text(shape) +
                      " with strides " + shape_text(strides) + " reaches over " + std::to_string(reach));
  auto whole = array_of(reach);
  using operation = parallax::detail::as_strided_operation<Extents, Strides>;
  return lazy<operation, decltype(whole), extent_list<Rank>, extent_list<Rank>>{
      {std::move(whole), list_of(shape), list_of(strides)}};
}
template <class Extents, class Strides, class T, std::size_t Rank, class... Owner>
auto borrowed_strided(const elements_of_others<T>& memory, const std::array<std::int64_t, Rank>& shape,
                      const std::array<std::int64_t, Rank>& strides, Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  return strided_elements<Extents, Strides>(memory.count, shape, strides, sizeof(T), [&](std::int64_t reach) {
    return borrowed<array<std::remove_const_t<T>, 1>>(elements_of_others<T>{memory.first, {}}, {reach},
                                                      std::move(owner)...);
  });
}
template <class Strides, class Memory, std::size_t Rank>
auto lent_strided(const Memory& memory, const std::array<std::int64_t, Rank>& shape,
                  const std::array<std::int64_t, Rank>& strides) {
  using T = std::remove_const_t<typename Memory::value_type>;
  return strided_elements<extents_of<int{Rank}>, Strides>(
      memory.size(), shape, strides, sizeof(T),
      [&](std::int64_t reach) { return array<T, 1>::adopt(memory.lend(), {reach}); });
}

/// The strides type of an mdspan: only a layout whose first axis has stride 1 gives a static stride.
template <class View> struct mdspan_strides {
  using type = extents_of<static_cast<int>(View::rank())>;
};
#if defined(__cpp_lib_mdspan)
template <std::size_t... I> auto first_is_one(std::index_sequence<I...>) -> strides_t<(I == 0 ? 1 : dyn)...>;
template <class T, class Extents, class Accessor>
struct mdspan_strides<std::mdspan<T, Extents, std::layout_left, Accessor>> {
  using type = decltype(first_is_one(std::make_index_sequence<Extents::rank()>{}));
};
#endif
template <class View> using strides_of_mdspan = typename mdspan_strides<View>::type;

template <class Array, class Memory> Array lent(const Memory& memory, const typename Array::shape_type& shape) {
  if (memory.size() != checked_size(shape, sizeof(typename Array::value_type)))
    throw shape_error("borrow: " + std::to_string(memory.size()) + " elements of memory for the shape " +
                      shape_text(shape));
  return Array::adopt(memory.lend(), shape);
}

} // namespace runtime

namespace detail {

/// Memory that others own on a device, such as `device_elements`.
template <class M>
concept lends_memory = requires(const M& memory) {
  { memory.lend() } -> std::same_as<buffer>;
  { memory.size() } -> std::same_as<std::int64_t>;
};

} // namespace detail

/// `borrow(memory, {extents}, owner)`: an array of the elements of `memory`, a pointer, a span, or another contiguous
/// range, in row-major order. The array and all that share its elements read them in place, so the elements must stay
/// there unchanged until the last such array ends; `owner`, if given, is destroyed then. A change to the array copies
/// the elements first. Throws `shape_error` if a range has another number of elements.
template <detail::element_memory Memory, std::size_t Rank, detail::memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  return runtime::borrowed<array<runtime::element_of<Memory>, int{Rank}>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), std::move(owner)...);
}
/// `borrow` with some extents static: `borrow<extents<dyn, 784>>(memory, {n, 784})`. Throws `shape_error` if one
/// differs.
template <auto Shape, detail::element_memory Memory, std::size_t Rank, detail::memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  return runtime::borrowed<array<runtime::element_of<Memory>, Shape>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), std::move(owner)...);
}
/// `borrow` with all extents static, so that none is passed: `borrow<extents<3, 4>>(memory)`.
template <auto Shape, detail::element_memory Memory, detail::memory_owner... Owner>
auto borrow(Memory&& memory, Owner... owner) {
  using extents_type = detail::extents_of<Shape>;
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  static_assert(!plain::contains(extents_type::values, dyn),
                "parallax: borrow: an extent is not static: write them all behind the memory, in braces");
  return runtime::borrowed<array<runtime::element_of<Memory>, Shape>>(
      runtime::elements_in(std::forward<Memory>(memory)), extents_type::values, std::move(owner)...);
}
/// `borrow` of a range as an array with one dimension.
template <detail::element_range Memory, detail::memory_owner... Owner> auto borrow(Memory&& memory, Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  const auto elements = runtime::elements_in(std::forward<Memory>(memory));
  return runtime::borrowed<array<runtime::element_of<Memory>, 1>>(elements, {*elements.count}, std::move(owner)...);
}

/// `borrow(memory, {extents}, {strides}, owner)`: elements that are `strides` apart along the axes; no stride may be
/// negative. The result is an expression. A program that takes it as an argument reads the elements in place.
/// `borrow<strides<dyn, 1>>(...)` says which strides are known while compiling. Throws `shape_error` if a range has
/// fewer elements than extents and strides reach, or if a stride differs from the type's.
template <detail::element_memory Memory, std::size_t Rank, detail::memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], const extent (&strides)[Rank], Owner... owner) {
  return runtime::borrowed_strided<detail::extents_of<int{Rank}>, detail::extents_of<int{Rank}>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), runtime::numbers_of(strides),
      std::move(owner)...);
}
template <auto Strides, detail::element_memory Memory, std::size_t Rank, detail::memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], const extent (&strides)[Rank], Owner... owner) {
  return runtime::borrowed_strided<detail::extents_of<int{Rank}>, std::remove_cvref_t<decltype(Strides)>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), runtime::numbers_of(strides),
      std::move(owner)...);
}
/// The elements of an mdspan, with its extents, and its strides unless they lie in row-major order without gaps.
template <detail::element_mdspan View, detail::memory_owner... Owner> auto borrow(const View& view, Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  using extents_type = decltype(runtime::extents_of_mdspan<View>(std::make_index_sequence<View::rank()>{}));
  using T = std::remove_pointer_t<std::remove_cvref_t<decltype(view.data_handle())>>;
  const runtime::elements_of_others<T> elements{view.data_handle(), {}};
  std::array<std::int64_t, View::rank()> shape{}, strides{};
  for (std::size_t r = 0; r < shape.size(); ++r) {
    shape[r] = static_cast<std::int64_t>(view.extent(r));
    strides[r] = static_cast<std::int64_t>(view.stride(r));
  }
  if constexpr (detail::is_row_major<View>) {
    return runtime::borrowed<array<std::remove_const_t<T>, detail::shape_for<extents_type>>>(elements, shape,
                                                                                             std::move(owner)...);
  } else {
    return runtime::borrowed_strided<extents_type, runtime::strides_of_mdspan<View>>(elements, shape, strides,
                                                                                     std::move(owner)...);
  }
}

/// `borrow` of memory on a device.
template <detail::lends_memory Memory, std::size_t Rank>
auto borrow(const Memory& memory, const extent (&extents)[Rank]) {
  using T = std::remove_const_t<typename Memory::value_type>;
  return runtime::lent<array<T, int{Rank}>>(memory, runtime::numbers_of(extents));
}
template <auto Shape, detail::lends_memory Memory, std::size_t Rank>
auto borrow(const Memory& memory, const extent (&extents)[Rank]) {
  using T = std::remove_const_t<typename Memory::value_type>;
  return runtime::lent<array<T, Shape>>(memory, runtime::numbers_of(extents));
}
template <detail::lends_memory Memory, std::size_t Rank>
auto borrow(const Memory& memory, const extent (&extents)[Rank], const extent (&strides)[Rank]) {
  return runtime::lent_strided<detail::extents_of<int{Rank}>>(memory, runtime::numbers_of(extents),
                                                              runtime::numbers_of(strides));
}
template <auto Strides, detail::lends_memory Memory, std::size_t Rank>
auto borrow(const Memory& memory, const extent (&extents)[Rank], const extent (&strides)[Rank]) {
  return runtime::lent_strided<std::remove_cvref_t<decltype(Strides)>>(memory, runtime::numbers_of(extents),
                                                                       runtime::numbers_of(strides));
}

} // namespace parallax::PARALLAX_INLINE_VERSION
