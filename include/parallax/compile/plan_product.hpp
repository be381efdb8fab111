// Where the operands of a product lie: its extents and strides.
#pragma once

#include <parallax/compile/fuse.hpp>

#include <vector>

namespace parallax::detail {

/// The step of a product, without its result: its operands are read where they lie, through the views above them.
constexpr planned_step plan_product(dim_table& t, const fusion& fused, const std::vector<int>& buffer_of, int id) {
  const graph& g = fused.g;
  planned_step step;
  step.kind = step_kind::product;
  primitives::dot_axes axes = primitives::dot_axes::read(g.parameters(id));
  access layouts[2];
  for (int side = 0; side < 2; ++side) {
    int operand = g.operand(id, side);
    index_map map;
    for (int k = 0; k < g.at(operand).rank; ++k) map.push_back({k, 1, 0});
    int base = operand;
    while (!fused.has_array(base)) {
      map = through_view(t, g, base, map);
      base = g.operand(base, 0);
    }
    layouts[side] = locate(t, g.shape(base), map, g.at(operand).rank, buffer_of[static_cast<std::size_t>(base)]);
    step.operands.push_back(buffer_of[static_cast<std::size_t>(base)]);
  }
  int left = g.operand(id, 0), right = g.operand(id, 1);
  dims left_shape = g.shape(left), right_shape = g.shape(right);
  auto left_free = axes.left_free(left_shape.size()), right_free = axes.right_free(right_shape.size());
  planned_product& p = step.product;
  p.precision = axes.precision;
  for (int axis : left_free) p.rows = t.multiply(p.rows, left_shape[axis]);
  for (int axis : right_free) p.columns = t.multiply(p.columns, right_shape[axis]);
  for (int axis : axes.left_contract) p.depth = t.multiply(p.depth, left_shape[axis]);
  dim result_stride = t.multiply(p.rows, p.columns);
  for (int i = axes.left_batch.size(); i-- > 0;) {
    p.batch.insert(0, left_shape[axes.left_batch[i]]);
    p.left_batch.insert(0, layouts[0].strides[axes.left_batch[i]]);
    p.right_batch.insert(0, layouts[1].strides[axes.right_batch[i]]);
    p.result_batch.insert(0, result_stride);
    result_stride = t.multiply(result_stride, left_shape[axes.left_batch[i]]);
  }
  p.left_row = fusion::group_stride(left_free, left_shape, layouts[0].strides);
  p.left_depth = fusion::group_stride(axes.left_contract, left_shape, layouts[0].strides);
  p.right_depth = fusion::group_stride(axes.right_contract, right_shape, layouts[1].strides);
  p.right_column = fusion::group_stride(right_free, right_shape, layouts[1].strides);
  step.left_offset = layouts[0].offset;
  step.right_offset = layouts[1].offset;
  return step;
}

} // namespace parallax::detail
