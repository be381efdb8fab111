// The instances that take part in a collective: those along mapped axes, all together or in groups.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/primitive.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The largest number of axes that a collective goes over.
inline constexpr int max_collective_axes = 8;

struct mapped_axes {
  small_vector<axis_id, max_collective_axes> axes;
  /// By group: the indices of its instances. Empty if all instances are one group.
  growing_vector<growing_vector<int>> groups;

  static constexpr void describe(auto& p, auto& member) {
    member("axes", p.axes);
    member("groups", p.groups);
  }

  constexpr bool has_groups() const { return !groups.empty(); }
  constexpr bool contains(axis_id axis) const { return axes.contains(axis); }
  /// The bits of the axes that are axes of meshes.
  constexpr axis_bits bits(const context& trace) const {
    axis_bits all;
    for (axis_id axis : axes) all = all | trace.axes[axis].bit;
    return all;
  }
  /// The number of instances in a group. Groups must be equally large.
  constexpr dim group_size(context& trace) const {
    if (has_groups()) return dim{std::ssize(groups[0])};
    dim size{1};
    for (axis_id axis : axes) size = trace.extents.multiply(size, trace.axis_size(axis));
    return size;
  }
  /// All axes but `axis`, which has been dealt with. Groups are not batched along their own axes.
  constexpr mapped_axes without(axis_id axis) const {
    mapped_axes rest;
    for (axis_id other : axes)
      if (other != axis) rest.axes.push_back(other);
    return rest;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
