// Where products read their operands.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/dot_general.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

class product_operands {
 public:
  constexpr product_operands(context& owner, const graph& of) : trace(owner), g(of) {}

  /// How a product reads an operand: the node whose memory it is in, and where.
  struct viewed_operand {
    node_id base;
    access layout; ///< of the operand in the memory that `memory_of` gives for the base
    bool in_place; ///< otherwise the base is the operand itself, which has an array then
  };
  /// A product reads its operand in place if the views of it keep rows and columns regular.
  constexpr viewed_operand read(node_id product, node_id operand) const {
    const int rank = g.rank(operand);
    index_map map = identity_map(rank);
    node_id base = operand;
    while (is_affine_view(trace, g, base)) {
      map = through_view(trace.extents, g, base, map);
      base = g.operand(base, 0);
    }
    const access there = locate(trace.extents, strides_of(trace.extents, g, base, false), map, rank, buffer_id::none);
    const bool is_plain = base == operand && !is<primitives::as_strided>(g, base);
    if (is_plain || readable(product, operand, there.strides)) return {base, there, true};
    const dims own = contiguous_strides(trace.extents, g.shape(operand));
    return {operand, locate(trace.extents, own, identity_map(rank), rank, buffer_id::none), false};
  }

  /// Whether axes in this order act as one axis of one stride.
  constexpr bool regular(const axis_list& axes, const dims& shape, const dims& strides) const {
    int last = -1;
    for (int i = axes.size(); i-- > 0;) {
      if (shape[axes[i]] == 1) continue;
      if (last >= 0 && !(strides[axes[i]] == trace.extents.multiply(strides[last], shape[last]))) return false;
      last = axes[i];
    }
    return true;
  }
  /// The stride of axes that act as one axis; 0 if they have one element only.
  static constexpr dim group_stride(const axis_list& axes, const dims& shape, const dims& strides) {
    for (int i = axes.size(); i-- > 0;)
      if (!(shape[axes[i]] == 1)) return strides[axes[i]];
    return dim{};
  }

 private:
  context& trace;
  const graph& g;

  constexpr bool readable(node_id product, node_id operand, const dims& strides) const {
    const auto axes = parameters_of<primitives::dot_general>(g, product);
    const dims shape = g.shape(operand);
    auto is_broadcast = [&](const axis_list& list) { // no matrix product reads rows of stride 0
      for (int axis : list)
        if (!(shape[axis] == 1) && strides[axis] == 0) return true;
      return false;
    };
    auto side = [&](const axis_list& free, const axis_list& contract) {
      if (!regular(free, shape, strides) || !regular(contract, shape, strides)) return false;
      if (is_broadcast(free) || is_broadcast(contract)) return false;
      const dim row = group_stride(free, shape, strides), depth = group_stride(contract, shape, strides);
      return row == 1 || depth == 1 || (row == 0 && depth == 0);
    };
    const bool is_left = g.operand(product, 0) == operand, is_right = g.operand(product, 1) == operand;
    return (!is_left || side(axes.left_free(shape.size()), axes.left_contract)) &&
           (!is_right || side(axes.right_free(shape.size()), axes.right_contract));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
