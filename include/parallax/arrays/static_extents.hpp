// The extents of an array that its type knows: shapes that agree with them, and shapes while functions are traced.
#pragma once

#include <parallax/arrays/checked_shapes.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Whether one of two extents is dynamic, or they are equal.
constexpr bool extent_agrees(std::int64_t a, std::int64_t b) { return a == dyn || b == dyn || a == b; }

/// Whether the ranks are equal and no axis has two different static extents.
template <class A, class B> constexpr bool extents_agree() { return plain::equal(A::values, B::values, extent_agrees); }

/// The number of elements of a shape, in traced functions too. Throws `shape_error`.
constexpr std::int64_t size_of(plain_span<const std::int64_t> shape, std::size_t element_bytes) {
  if (!__builtin_is_constant_evaluated()) return checked_size(shape, element_bytes);
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

/// Compilers print this name if a traced function asks for the extents of a constant call's result, which only the
/// call's own program knows.
inline void has_no_extents_before_it_meets_a_traced_array() {}

/// Throws `shape_error` unless `shape` has the static extents of `Extents`.
template <class Extents> constexpr void check_static_extents(const std::array<std::int64_t, Extents::rank>& shape) {
  if (!plain::equal(shape, Extents::values, extent_agrees))
    throw shape_error("array: the shape " + shape_text(shape) + " contradicts the static extents " +
                      shape_text(Extents::values));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
