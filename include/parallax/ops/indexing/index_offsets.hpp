// Converts indices that are data to offsets into an array, by JAX's rules for negative indices and those beyond an
// axis.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/primitives/all.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The meaning of an index that an axis does not have, after a negative index has been counted from the end.
enum class index_mode {
  clipped, ///< the nearest index of the axis
  filled,  ///< a read gives the filling number, a write does nothing
  wrapped, ///< the index modulo the extent
  dropped  ///< a write does nothing
};

namespace detail {

/// By axis of an array: whole numbers that are indices of the axis, or a tracer without an owner for the whole axis.
using index_list = small_vector<tracer, max_rank>;

/// The window that indices select from an array, and the offsets of its positions.
struct indexed_window {
  dims shape;
  primitives::window_axes axes;
  tracer offsets; ///< within the array, if all indices are
  tracer outside; ///< negative if some index is outside; without an owner if the mode needs no such mark
};

/// Converts indices of one array to offsets.
class index_resolver {
 public:
  constexpr index_resolver(std::string_view name, tracer array, index_mode how, bool counts_back = true)
      : operation(name), x(array), trace(*array.owner), mode(how), from_end(counts_back) {
    const dim count = trace.extents.product(x.extents());
    const bool is_small = is_static(count) && count.number() <= std::numeric_limits<std::int32_t>::max();
    type = is_small ? element_type::int32 : element_type::int64;
  }

  /// Adds the offset of an index along an axis, if the index selects `size` positions of it.
  constexpr void add(tracer index, int axis, dim size = dim{1}) {
    if (!is_index(index)) return;
    index = build::convert(small_enough(index, axis), wide_type(index.type()));
    index = back_from_end(index, axis);
    const tracer zero = build::like(index, 0), most = last_place(x.dimension(axis), size, index.type());
    if (mode == index_mode::filled || mode == index_mode::dropped) note_outside(index, most);
    if (mode != index_mode::dropped || index.type() != type)
      index = build::binary<primitives::minimum>(operation, build::binary<primitives::maximum>(operation, index, zero),
                                                 most);
    index = build::convert(index, type);
    dim stride{1};
    for (int a = axis + 1; a < x.rank(); ++a) stride = trace.extents.multiply(stride, x.dimension(a));
    if (!(stride == 1)) index = index * build::extent_value(trace, stride, type);
    total = total.owner ? total + index : index;
  }

  /// Offsets within the array; for `dropped` indices they may lie outside.
  constexpr tracer offsets() const { return total.owner ? total : build::integer_literal(trace, type, 0); }
  /// Negative if some index is beyond its axis; without an owner if the mode needs no such mark.
  constexpr tracer outside() const { return some_outside; }

 private:
  std::string_view operation;
  tracer x;
  context& trace;
  index_mode mode;
  bool from_end;
  element_type type;
  tracer total, some_outside;

  constexpr bool is_index(tracer index) {
    if (!is_inexact(index.type()) && index.type() != element_type::boolean) return !trace.failed;
    message text;
    text << operation << ": the index ";
    print_value(text, trace.extents, index.value());
    trace.fail(text << " is no whole number; "
                    << (is_inexact(index.type()) ? "convert it with plx::astype<int>"
                                                 : "choose by truth values with plx::where"));
    return false;
  }
  /// A signed type that can hold the index and the extents that it is compared with.
  constexpr element_type wide_type(element_type given) const {
    return size_of(given) == 8 || given == element_type::uint32 ? element_type::int64 : type;
  }
  /// extent - size: the last place where `size` positions fit. Negative if `size` is larger than the extent.
  constexpr tracer last_place(dim extent, dim size, element_type own) const {
    if (is_static(extent) && is_static(size))
      return build::integer_literal(trace, own, extent.number() - size.number());
    return build::extent_value(trace, trace.extents.subtract(extent, size), own);
  }
  /// Makes a uint64 index fit into int64. A larger one becomes the largest int64, which is beyond all extents too,
  /// unless `wrapped`.
  constexpr tracer small_enough(tracer index, int axis) const {
    if (index.type() != element_type::uint64) return index;
    if (mode == index_mode::wrapped) return within(index, axis);
    const tracer most = build::integer_literal(trace, element_type::uint64, std::numeric_limits<std::int64_t>::max());
    return build::binary<primitives::minimum>(operation, index, most);
  }
  /// `min(unsigned(i), unsigned(i + n))`: the non-negative one of i and i + n. Vector code computes it without truth
  /// values.
  constexpr tracer back_from_end(tracer index, int axis) {
    const element_type own = index.type();
    if (mode == index_mode::wrapped) index = within(index, axis);
    const tracer extent = build::extent_value(trace, x.dimension(axis), own);
    if (!from_end && mode != index_mode::wrapped) return index;
    const element_type as_unsigned = own == element_type::int32 ? element_type::uint32 : element_type::uint64;
    const tracer smaller = build::binary<primitives::minimum>(operation, build::convert(index, as_unsigned),
                                                              build::convert(index + extent, as_unsigned));
    return build::convert(smaller, own);
  }
  /// The index modulo the extent.
  constexpr tracer within(tracer index, int axis) const {
    return build::binary<primitives::remainder>(operation, index,
                                                build::extent_value(trace, x.dimension(axis), index.type()));
  }
  /// Marks an index outside of [0, most]: `index | (most - index)` is negative for it.
  constexpr void note_outside(tracer index, tracer most) {
    tracer own = index | (most - index);
    if (own.type() != type) own = build::convert(emit<primitives::shift_right>({own, build::like(own, 32)}), type);
    some_outside = some_outside.owner ? some_outside | own : own;
  }
};

/// Repeats a value that each index has over the positions of a window. A scalar stays a scalar.
constexpr tracer over_window(tracer x, const dims& window, const axis_list& axes) {
  return x.rank() == 0 ? x : build::broadcast_in_dim(x, window, axes);
}

/// The window that indices of the first axes select. The axes of the indices stand where NumPy puts them: in place of
/// the first axis that has an index, if all such axes are neighbours, else in front.
constexpr indexed_window window_of(std::string_view operation, tracer x, const index_list& indices, index_mode mode,
                                   bool counts_back = true) {
  context& trace = *x.owner;
  indexed_window window;
  index_resolver resolver(operation, x, mode, counts_back);
  tracer all;
  int first = -1, last = -1, count = 0;
  dims along;
  for (int axis = 0; axis < indices.size(); ++axis) {
    const tracer index = indices[axis];
    if (!index.owner) continue;
    resolver.add(index, axis);
    if (trace.failed) return window;
    along = all.owner ? build::broadcast_shapes(operation, all, index) : index.extents();
    all = build::broadcast_to(index, along);
    if (first < 0) first = axis;
    last = axis;
    ++count;
    window.axes.moved.push_back(axis);
  }
  const int rank = x.rank(), front = count == last - first + 1 ? first : 0;
  if (!check_rank(trace, operation, rank - count + along.size())) return window;
  window.axes.follows = axis_list(rank, primitives::window_axes::none);
  auto follow = [&](int axis) {
    window.axes.follows[axis] = window.shape.size();
    window.shape.push_back(x.dimension(axis));
  };
  for (int axis = 0; axis < front; ++axis) follow(axis);
  axis_list of_indices;
  for (dim extent : along) {
    of_indices.push_back(window.shape.size());
    window.shape.push_back(extent);
  }
  for (int axis = front; axis < rank; ++axis)
    if (axis >= indices.size() || !indices[axis].owner) follow(axis);
  window.axes.unique = along.empty();
  window.offsets = over_window(resolver.offsets(), window.shape, of_indices);
  if (resolver.outside().owner) window.outside = over_window(resolver.outside(), window.shape, of_indices);
  return window;
}

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
