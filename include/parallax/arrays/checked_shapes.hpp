// Checks of the shapes, indices and axes that calls give, and their text.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// A shape as Python prints it: `()`, `(3,)`, `(3, 2)`; `dyn` stands for a dynamic extent.
PARALLAX_RUNTIME_FUNCTION std::string shape_text(plain_span<const std::int64_t> shape);

/// The number of elements. Throws `shape_error` for a negative extent, or if they would not fit into memory.
PARALLAX_RUNTIME_FUNCTION std::int64_t checked_size(plain_span<const std::int64_t> shape, std::size_t element_bytes);

/// The number of elements. Throws `shape_error` as `checked_size` does, and if `bytes` bytes cannot hold them.
PARALLAX_RUNTIME_FUNCTION std::int64_t size_within(plain_span<const std::int64_t> shape, element_type type,
                                                   std::size_t bytes);

[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_out_of_bounds(std::int64_t index, std::int64_t extent, int axis);

/// `index` counted from the start. Throws `shape_error`.
constexpr std::int64_t checked_index(std::int64_t index, std::int64_t extent, int axis) {
  if (index < -extent || index >= extent) throw_out_of_bounds(index, extent, axis);
  return index < 0 ? index + extent : index;
}

[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_bad_axis(int axis, int rank);

/// `axis` counted from the first dimension. Throws `shape_error`.
constexpr int checked_axis(int axis, int rank) {
  if (axis < -rank || axis >= rank) throw_bad_axis(axis, rank);
  return axis < 0 ? axis + rank : axis;
}

/// Throws `shape_error`: `item` was asked of an array that has not exactly one element.
[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_no_single_element(plain_span<const std::int64_t> shape);

/// Throws `error`: an array was used after its elements were moved away.
[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_moved_from();

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION std::string shape_text(plain_span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + (shape[i] == dyn ? std::string("dyn") : std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}

PARALLAX_RUNTIME_FUNCTION std::int64_t checked_size(plain_span<const std::int64_t> shape, std::size_t element_bytes) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element_bytes);
  std::int64_t size = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) throw shape_error("array: negative extent in the shape " + shape_text(shape));
    if (extent == 0) size = 0;
  }
  if (size == 0) return 0;
  for (std::int64_t extent : shape) {
    if (size > most / extent) throw shape_error("array: too many elements in the shape " + shape_text(shape));
    size *= extent;
  }
  return size;
}

PARALLAX_RUNTIME_FUNCTION std::int64_t size_within(plain_span<const std::int64_t> shape, element_type type,
                                                   std::size_t bytes) {
  const std::int64_t size = checked_size(shape, size_of(type));
  if (bytes < index_of(size) * size_of(type))
    throw shape_error("array: " + std::to_string(bytes) + " bytes cannot hold " + std::string(name_of(type)) +
                      " elements of shape " + shape_text(shape));
  return size;
}

PARALLAX_RUNTIME_FUNCTION void throw_out_of_bounds(std::int64_t index, std::int64_t extent, int axis) {
  throw shape_error("index " + std::to_string(index) + " is out of bounds for axis " + std::to_string(axis) +
                    " with size " + std::to_string(extent));
}

[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_bad_axis(int axis, int rank) {
  throw shape_error("axis " + std::to_string(axis) + " is out of bounds for an array of rank " + std::to_string(rank));
}

PARALLAX_RUNTIME_FUNCTION void throw_no_single_element(plain_span<const std::int64_t> shape) {
  throw shape_error("item: the array of shape " + shape_text(shape) + " does not have exactly one element");
}

PARALLAX_RUNTIME_FUNCTION void throw_moved_from() {
  throw error("array: it was moved from, so that it has no elements");
}
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
