// Arrays in memory of others: nothing is copied.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory_of_others.hpp>
#include <parallax/core/ids.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace parallax {

/// What keeps borrowed memory alive: an object that is destroyed with the last array that uses it.
template <class T>
concept memory_owner = std::is_class_v<T> && std::move_constructible<T>;

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

template <class Array, class Memory> Array lent(const Memory& memory, const typename Array::shape_type& shape) {
  if (memory.size() != checked_size(shape, sizeof(typename Array::value_type)))
    throw shape_error("borrow: " + std::to_string(memory.size()) + " elements of memory for the shape " +
                      shape_text(shape));
  return Array::adopt(memory.lend(), shape);
}

} // namespace runtime

/// Memory of others on a device, such as `device_elements`.
template <class M>
concept lends_memory = requires(const M& memory) {
  { memory.lend() } -> std::same_as<buffer>;
  { memory.size() } -> std::same_as<std::int64_t>;
};

/// `borrow(memory, {extents}, owner)`: an array whose elements are those of `memory`, a pointer, a span, or another
/// contiguous range, in row-major order. It and all that share its elements read them where they are, so that these
/// must stay there unchanged until the last of them ends; with that, `owner` is destroyed, if one is given. What
/// changes the array copies the elements first. Throws `shape_error` where a range has another number of elements.
template <element_memory Memory, std::size_t Rank, memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  return runtime::borrowed<array<runtime::element_of<Memory>, int{Rank}>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), std::move(owner)...);
}
/// The same where some extents are static: `borrow<extents<dyn, 784>>(memory, {n, 784})`. Throws `shape_error` where
/// one differs.
template <auto Shape, element_memory Memory, std::size_t Rank, memory_owner... Owner>
auto borrow(Memory&& memory, const extent (&extents)[Rank], Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  return runtime::borrowed<array<runtime::element_of<Memory>, Shape>>(
      runtime::elements_in(std::forward<Memory>(memory)), runtime::numbers_of(extents), std::move(owner)...);
}
/// The same where all are: `borrow<extents<3, 4>>(memory)`.
template <auto Shape, element_memory Memory, memory_owner... Owner> auto borrow(Memory&& memory, Owner... owner) {
  using extents_type = extents_of<Shape>;
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  static_assert(std::ranges::find(extents_type::values, dyn) == extents_type::values.end(),
                "parallax: borrow: an extent is not static: write them all behind the memory, in braces");
  return runtime::borrowed<array<runtime::element_of<Memory>, Shape>>(
      runtime::elements_in(std::forward<Memory>(memory)), extents_type::values, std::move(owner)...);
}
/// The same of a range, with one dimension, or of an mdspan, with its extents.
template <element_memory Memory, memory_owner... Owner>
  requires(!element_pointer<Memory>)
auto borrow(Memory&& memory, Owner... owner) {
  static_assert(sizeof...(Owner) <= 1, "parallax: borrowed memory has one owner");
  const auto elements = runtime::elements_in(std::forward<Memory>(memory));
  if constexpr (element_range<Memory>) {
    return runtime::borrowed<array<runtime::element_of<Memory>, 1>>(elements, {*elements.count}, std::move(owner)...);
  } else {
    using view = std::remove_cvref_t<Memory>;
    using result = array<runtime::element_of<Memory>, runtime::shape_of_mdspan<view>>;
    typename result::shape_type shape{};
    for (std::size_t r = 0; r < shape.size(); ++r) shape[r] = static_cast<std::int64_t>(memory.extent(r));
    return runtime::borrowed<result>(elements, shape, std::move(owner)...);
  }
}

/// The same of memory on a device.
template <lends_memory Memory, std::size_t Rank> auto borrow(const Memory& memory, const extent (&extents)[Rank]) {
  using T = std::remove_const_t<typename Memory::value_type>;
  return runtime::lent<array<T, int{Rank}>>(memory, runtime::numbers_of(extents));
}
template <auto Shape, lends_memory Memory, std::size_t Rank>
auto borrow(const Memory& memory, const extent (&extents)[Rank]) {
  using T = std::remove_const_t<typename Memory::value_type>;
  return runtime::lent<array<T, Shape>>(memory, runtime::numbers_of(extents));
}

} // namespace parallax
