// How the axes of a value follow the dimensions of the loop that computes it.
#pragma once

#include <parallax/compile/fuse/loop.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/assembly.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// index = offset + multiplier * position in a loop dimension (none: just the offset).
struct axis_map {
  static constexpr int none = -1;

  int dimension = none;
  dim multiplier{1};
  dim offset;
  /// The same index at every position.
  static constexpr axis_map constant() { return {none, dim{}, dim{}}; }
  static constexpr axis_map identity(int dimension) { return {dimension, dim{1}, dim{}}; }
  friend constexpr bool operator==(const axis_map&, const axis_map&) = default;
};
using index_map = small_vector<axis_map, max_rank>;

/// The map of a value whose axes are the loop's dimensions.
constexpr index_map identity_map(int rank) {
  index_map map;
  for (int k = 0; k < rank; ++k) map.push_back(axis_map::identity(k));
  return map;
}

/// A reshape that only adds or drops extents of 1.
constexpr bool only_ones_change(const dims& before, const dims& after) {
  int i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && before[i] == 1) ++i;
    else if (j < after.size() && after[j] == 1) ++j;
    else if (i < before.size() && j < after.size() && before[i] == after[j]) ++i, ++j;
    else return false;
  }
  return true;
}

/// Whether a node only changes its operand's indices, by an affine map. A reshape does so if it only changes extents of
/// 1; `as_strided` gives addresses of its own.
constexpr bool is_affine_view(const context& trace, const graph& g, node_id id) {
  if (!is_kind(trace, g, id, primitive_kind::view) || is<primitives::as_strided>(g, id)) return false;
  return !is<primitives::reshape>(g, id) || only_ones_change(g.shape(g.operand(id, 0)), g.shape(id));
}

constexpr index_map through_broadcast(const graph& g, node_id id, const index_map& map) {
  const dims before = g.shape(g.operand(id, 0)), after = g.shape(id);
  const axis_list axes = parameters_of<primitives::broadcast_in_dim>(g, id).axes;
  index_map result;
  for (int k = 0; k < before.size(); ++k) {
    const bool repeats = before[k] == 1 && !(after[axes[k]] == 1);
    result.push_back(repeats ? axis_map::constant() : map[axes[k]]);
  }
  return result;
}
constexpr index_map through_transpose(const graph& g, node_id id, const index_map& map) {
  const axis_list permutation = parameters_of<primitives::transpose>(g, id).permutation;
  index_map result(permutation.size(), axis_map{});
  for (int k = 0; k < permutation.size(); ++k) result[permutation[k]] = map[k];
  return result;
}
constexpr index_map through_slice(dim_table& t, const graph& g, node_id id, const index_map& map) {
  const auto bounds = parameters_of<primitives::slice>(g, id);
  index_map result;
  for (int k = 0; k < map.size(); ++k) {
    const dim stride{bounds.stride[k]};
    result.push_back({map[k].dimension, t.multiply(map[k].multiplier, stride),
                      t.add(bounds.start[k], t.multiply(map[k].offset, stride))});
  }
  return result;
}
/// The map of a reshape's operand, given the reshape's. Extents other than 1 stay as they are.
constexpr index_map through_reshape(const graph& g, node_id id, const index_map& map) {
  const dims before = g.shape(g.operand(id, 0)), after = g.shape(id);
  index_map result;
  int j = 0;
  for (int k = 0; k < before.size(); ++k) {
    if (before[k] == 1) {
      result.push_back(axis_map::constant());
      continue;
    }
    while (after[j] == 1) ++j;
    result.push_back(map[j++]);
  }
  return result;
}

/// The map of a view's operand, given the view's.
constexpr index_map through_view(dim_table& t, const graph& g, node_id id, const index_map& map) {
  if (is<primitives::broadcast_in_dim>(g, id)) return through_broadcast(g, id, map);
  if (is<primitives::transpose>(g, id)) return through_transpose(g, id, map);
  if (is<primitives::slice>(g, id)) return through_slice(t, g, id, map);
  return through_reshape(g, id, map);
}

/// Row-major strides.
constexpr dims contiguous_strides(dim_table& t, const dims& shape) {
  dims strides(shape.size(), dim{1});
  for (int i = shape.size() - 2; i >= 0; --i) strides[i] = t.multiply(strides[i + 1], shape[i + 1]);
  return strides;
}

/// The strides of a node whose elements are read from memory. An `as_strided` that has no array of its own (`has_own`)
/// gives the strides in its operand's memory; any other node is row-major.
constexpr dims strides_of(dim_table& t, const graph& g, node_id id, bool has_own) {
  if (is<primitives::as_strided>(g, id) && !has_own) return parameters_of<primitives::as_strided>(g, id).strides;
  return contiguous_strides(t, g.shape(id));
}
/// The node whose memory `strides_of` refers to.
constexpr node_id memory_of(const graph& g, node_id id, bool has_own) {
  return is<primitives::as_strided>(g, id) && !has_own ? g.operand(id, 0) : id;
}

/// Where an element of an array with these strides lies, by position in the loop.
constexpr access locate(dim_table& t, const dims& strides, const index_map& map, int loop_rank, buffer_id buffer) {
  access result{buffer, dim{}, dims(loop_rank, dim{})};
  for (int k = 0; k < strides.size(); ++k) {
    result.offset = t.add(result.offset, t.multiply(strides[k], map[k].offset));
    if (map[k].dimension == axis_map::none) continue;
    dim& stride = result.strides[map[k].dimension];
    stride = t.add(stride, t.multiply(strides[k], map[k].multiplier));
  }
  return result;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
