// How the axes of a value follow the dimensions of the loop that computes it.
#pragma once

#include <parallax/compile/plan.hpp>

namespace parallax::detail {

/// index = offset + multiplier * position in a loop dimension (-1: just the offset).
struct axis_map {
  int dimension = -1;
  dim multiplier = 1;
  dim offset = 0;
  friend constexpr bool operator==(const axis_map&, const axis_map&) = default;
};
using index_map = small_vector<axis_map, max_rank>;

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

/// Whether a node is an affine change of its operand's indices (a reshape may not be).
constexpr bool is_affine_view(const graph& g, int id) {
  int operation = g.at(id).operation;
  if (operation < 0 || rules_of(operation).kind != primitive_kind::view) return false;
  return operation != primitives::number_of<primitives::reshape> ||
         only_ones_change(g.shape(g.operand(id, 0)), g.shape(id));
}

/// The map of a view's operand, given the view's.
constexpr index_map through_view(dim_table& t, const graph& g, int id, const index_map& map) {
  int operation = g.at(id).operation, source = g.operand(id, 0);
  dims shape = g.shape(source), result_shape = g.shape(id);
  index_map result;
  if (operation == primitives::number_of<primitives::broadcast_in_dim>) {
    int rank = static_cast<int>(g.parameter(id, 0));
    for (int k = 0; k < shape.size(); ++k) {
      int axis = static_cast<int>(g.parameter(id, 1 + rank + k));
      result.push_back(shape[k] == 1 && result_shape[axis] != 1 ? axis_map{-1, 0, 0} : map[axis]);
    }
  } else if (operation == primitives::number_of<primitives::transpose>) {
    for (int k = 0; k < shape.size(); ++k) result.push_back({});
    for (int k = 0; k < shape.size(); ++k) result[static_cast<int>(g.parameter(id, k))] = map[k];
  } else if (operation == primitives::number_of<primitives::slice>) {
    for (int k = 0; k < shape.size(); ++k) {
      dim start = g.parameter(id, k), stride = g.parameter(id, 2 * shape.size() + k);
      result.push_back(
          {map[k].dimension, t.multiply(map[k].multiplier, stride), t.add(start, t.multiply(map[k].offset, stride))});
    }
  } else {
    int j = 0;
    for (int k = 0; k < shape.size(); ++k) {
      if (shape[k] == 1) {
        result.push_back({-1, 0, 0});
        continue;
      }
      while (result_shape[j] == 1) ++j;
      result.push_back(map[j++]);
    }
  }
  return result;
}

/// Row-major strides.
constexpr dims contiguous_strides(dim_table& t, const dims& shape) {
  dims strides(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; --i) strides[i] = t.multiply(strides[i + 1], shape[i + 1]);
  return strides;
}

/// Where an element of a contiguous array of this shape lies, by position in the loop.
constexpr access locate(dim_table& t, const dims& shape, const index_map& map, int loop_rank, int buffer) {
  access result{buffer, 0, dims(loop_rank, 0)};
  dims strides = contiguous_strides(t, shape);
  for (int k = 0; k < shape.size(); ++k) {
    result.offset = t.add(result.offset, t.multiply(strides[k], map[k].offset));
    if (map[k].dimension >= 0) {
      dim& stride = result.strides[map[k].dimension];
      stride = t.add(stride, t.multiply(strides[k], map[k].multiplier));
    }
  }
  return result;
}

} // namespace parallax::detail
