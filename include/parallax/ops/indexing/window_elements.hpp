// The elements of a window of an array: read, or changed.
#pragma once

#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/index_offsets.hpp>
#include <parallax/primitives/all.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The value read for an element that is not there: NaN, the least signed or the greatest unsigned whole number, or
/// true.
constexpr tracer missing_element(context& trace, element_type type) {
  if (is_inexact(type)) return build::literal(trace, type, std::numeric_limits<double>::quiet_NaN());
  const int bits = static_cast<int>(size_of(type)) * 8;
  if (type == element_type::boolean) return build::integer_literal(trace, type, 1);
  if (is_signed(type))
    return build::integer_literal(trace, type, std::numeric_limits<std::int64_t>::min() >> (64 - bits));
  return build::integer_literal(trace, type, static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits)));
}

/// An extent that is 0 if no element of a window is ever read: if the window has none, or the read is in a loop of no
/// rounds or under a vmap of no instances.
constexpr dim reads_of(context& trace, const dims& window) {
  dim reads = trace.repeats;
  for (dim extent : window) reads = trace.extents.zero_with(reads, extent);
  for (axis_id axis : trace.bound_axes)
    if (!trace.axes[axis].is_pmapped) reads = trace.extents.zero_with(reads, trace.axes[axis].size);
  return reads;
}
/// Requires that an axis has an element if any element is read; the call checks extents that only it knows.
constexpr void require_elements(std::string_view operation, tracer x, int axis, dim reads) {
  context& trace = *x.owner;
  const dim extent = x.dimension(axis);
  if (reads == 0 || (is_static(extent) && !(extent == 0))) return;
  if (!is_static(extent) || !is_static(reads))
    return require(trace, guard_kind::readable, operation, extent, reads, x.value());
  message text;
  text << operation << ": axis " << axis << " of ";
  print_value(text, trace.extents, x.value());
  trace.fail(text << " has no elements to take; give an array with some");
}

/// The elements of a window.
constexpr tracer gather_window(std::string_view operation, tracer x, const indexed_window& window,
                               const tracer* filling = nullptr) {
  context& trace = *x.owner;
  if (trace.failed) return x;
  const dim reads = reads_of(trace, window.shape);
  bool is_empty = false;
  for (int axis : window.axes.moved) {
    require_elements(operation, x, axis, reads);
    is_empty = is_empty || x.dimension(axis) == 0;
  }
  if (trace.failed) return x;
  if (is_empty) return build::zeros(trace, {x.type(), false, window.shape}); // the window has no element
  const tracer read = emit<primitives::gather>({x, window.offsets}, {window.shape, window.axes});
  if (!window.outside.owner) return read;
  return build::select(window.outside >= 0, read,
                       filling ? build::convert(*filling, x.type()) : missing_element(trace, x.type()));
}

/// The most negative number of a type: only its sign bit is set.
constexpr tracer lowest_number(context& trace, element_type type) {
  return build::integer_literal(trace, type,
                                type == element_type::int32 ? std::numeric_limits<std::int32_t>::min()
                                                            : std::numeric_limits<std::int64_t>::min());
}
/// Whether 16-bit elements may be sums or products of several updates, which are then computed in float32.
constexpr bool is_rounded_often(const tracer& x, const indexed_window& window, scatter_kind combine) {
  const bool computes = combine == scatter_kind::add_to || combine == scatter_kind::multiply_by;
  return computes && is_half_precision(x.type()) && !window.axes.unique && window.offsets.rank() > 0;
}
/// The array after changes to the elements of a window.
constexpr tracer scatter_window(std::string_view operation, tracer x, const indexed_window& window, tracer updates,
                                scatter_kind combine) {
  context& trace = *x.owner;
  if (trace.failed) return x;
  const abstract_value wanted{x.type(), false, window.shape};
  const int added = window.shape.size() - updates.rank();
  if (added < 0) {
    message text;
    text << operation << ": updates ";
    print_value(text, trace.extents, updates.value());
    print_value(text << " do not fit elements ", trace.extents, wanted);
    trace.fail(text << "; give at most as many dimensions");
    return x;
  }
  for (int axis = 0; axis < updates.rank(); ++axis)
    if (!(updates.dimension(axis) == 1))
      unify(trace, operation, updates.dimension(axis), window.shape[axis + added], updates.value(), wanted,
            "give updates of the shape of the elements that they change, or one that broadcasts to it");
  if (trace.failed) return x;
  for (dim extent : x.extents())
    if (extent == 0) return build::convert(x, x.type()); // the array has no element that could change
  updates = build::broadcast_to(build::convert(updates, x.type()), window.shape);
  tracer offsets = window.offsets;
  if (window.outside.owner) // negative offsets change nothing
    offsets = offsets | (window.outside & lowest_number(trace, offsets.type()));
  if (is_rounded_often(x, window, combine)) {
    const tracer made =
        emit<primitives::scatter>({build::widen(x), offsets, build::widen(updates)}, {combine, window.axes});
    return build::convert(made, x.type());
  }
  return emit<primitives::scatter>({x, offsets, updates}, {combine, window.axes});
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
