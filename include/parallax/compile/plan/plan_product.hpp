// Where the operands of a product lie: its extents and strides.
#pragma once

#include <parallax/compile/fuse/build_kernel.hpp>
#include <parallax/compile/plan/plan.hpp>
#include <parallax/core/version.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Where an operand of a product lies: the views above its buffer are read through.
constexpr access layout_of_operand(const fusion& fused, const buffer_table& buffer_of, node_id product,
                                   node_id operand) {
  const product_operands::viewed_operand read = product_operands(fused.trace, fused.g).read(product, operand);
  access layout = read.layout;
  layout.buffer = buffer_of[memory_of(fused.g, read.base, !read.in_place)];
  return layout;
}

/// The step of a product, without its result.
constexpr product_step plan_product(dim_table& t, plan_builder& plan, const fusion& fused,
                                    const buffer_table& buffer_of, node_id id) {
  const graph& g = fused.g;
  const auto axes = parameters_of<primitives::dot_general>(g, id);
  const node_id left = g.operand(id, 0), right = g.operand(id, 1);
  const dims left_shape = g.shape(left), right_shape = g.shape(right);
  const axis_list left_free = axes.left_free(left_shape.size()), right_free = axes.right_free(right_shape.size());
  const access at_left = layout_of_operand(fused, buffer_of, id, left),
               at_right = layout_of_operand(fused, buffer_of, id, right);
  auto extent_of = [&](const axis_list& list, const dims& shape) {
    dim extent{1};
    for (int axis : list) extent = t.multiply(extent, shape[axis]);
    return extent;
  };
  auto batch_of = [&](const axis_list& list, const dims& of) {
    dims each;
    for (int axis : list) each.push_back(of[axis]);
    return plan.add_list(each);
  };
  return {.left = at_left.buffer,
          .right = at_right.buffer,
          .left_offset = at_left.offset,
          .right_offset = at_right.offset,
          .batch = batch_of(axes.left_batch, left_shape),
          .left_batch = batch_of(axes.left_batch, at_left.strides),
          .right_batch = batch_of(axes.right_batch, at_right.strides),
          .rows = extent_of(left_free, left_shape),
          .columns = extent_of(right_free, right_shape),
          .depth = extent_of(axes.left_contract, left_shape),
          .left_row = product_operands::group_stride(left_free, left_shape, at_left.strides),
          .left_depth = product_operands::group_stride(axes.left_contract, left_shape, at_left.strides),
          .right_depth = product_operands::group_stride(axes.right_contract, right_shape, at_right.strides),
          .right_column = product_operands::group_stride(right_free, right_shape, at_right.strides),
          .precision = axes.precision};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
