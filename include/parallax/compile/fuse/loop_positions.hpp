// The positions of a loop while it is built: its dimensions, and the addresses in arrays that belong to its positions.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/compile/fuse/loop_statements.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/indexing.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A loop while it is built, whose extents a trace owns.
class loop_positions : public loop_statements {
 protected:
  context& trace;

  constexpr explicit loop_positions(context& owner) : trace(owner) {}

  constexpr index_map open_dimensions(const dims& shape, const axis_list& reduced_axes, bool keep_ones) {
    index_map map;
    for (int axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1 && !keep_ones) {
        map.push_back(axis_map::constant());
        continue;
      }
      map.push_back(axis_map::identity(loop.extents.size()));
      if (reduced_axes.contains(axis)) loop.reduced.insert(loop.extents.size());
      loop.extents.push_back(shape[axis]);
    }
    return map;
  }
  /// The loop's positions as addresses in a contiguous array that lacks the dimensions `without`.
  constexpr access contiguous(buffer_id buffer, bit_set without) {
    access result{buffer, dim{}, dims(loop.extents.size(), dim{})};
    dim stride{1};
    for (int i = loop.extents.size(); i-- > 0;) {
      if (without.contains(i)) continue;
      result.strides[i] = stride;
      stride = trace.extents.multiply(stride, loop.extents[i]);
    }
    return result;
  }
  /// The addresses in `array` that a gather's or scatter's window reaches, by loop position. The offset that an index
  /// adds is left out.
  constexpr access through_window(const dims& array, const primitives::window_axes& axes, const index_map& window,
                                  buffer_id buffer) {
    index_map map;
    for (int axis : axes.follows)
      map.push_back(axis == primitives::window_axes::none ? axis_map::constant() : window[axis]);
    return locate(trace.extents, contiguous_strides(trace.extents, array), map, loop.extents.size(), buffer);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
