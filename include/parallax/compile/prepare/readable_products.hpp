// Products with operands that a matrix product can read and results that lie as they are read.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/dot_general.hpp>
#include <parallax/transforms/passes/replay.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Whether axes of `shape`, in this order, act as one axis if the array is contiguous.
constexpr bool adjacent(const axis_list& axes, const dims& shape) {
  for (int i = 0; i + 1 < axes.size(); ++i)
    for (int between = axes[i] + 1; between != axes[i + 1]; ++between)
      if (between >= shape.size() || axes[i + 1] < axes[i] || !(shape[between] == 1)) return false;
  return true;
}

/// A product whose operands are transposed to batch, free, contracted axes if a matrix product could not read them.
constexpr tracer readable_product(tracer left, tracer right, primitives::dot_parameters axes) {
  auto arrange = [](tracer& x, axis_list& batch, axis_list& contract, const axis_list& free) {
    if (adjacent(free, x.extents()) && adjacent(contract, x.extents()) &&
        (x.rank() == 0 || !batch.contains(x.rank() - 1)))
      return;
    axis_list order = batch;
    for (int axis : free) order.push_back(axis);
    for (int axis : contract) order.push_back(axis);
    x = build::transpose(x, order);
    for (int i = 0; i < batch.size(); ++i) batch[i] = i;
    for (int i = 0; i < contract.size(); ++i) contract[i] = batch.size() + free.size() + i;
  };
  arrange(left, axes.left_batch, axes.left_contract, axes.left_free(left.rank()));
  arrange(right, axes.right_batch, axes.right_contract, axes.right_free(right.rank()));
  return emit<primitives::dot_general>({left, right}, axes);
}

/// Whether a node is the transpose of a product that exchanges its rows and columns: all axes of one operand with all
/// of the other.
constexpr bool exchanges_rows_and_columns(const graph& g, node_id id) {
  if (!is<primitives::transpose>(g, id)) return false;
  const node_id product = g.operand(id, 0);
  if (!is<primitives::dot_general>(g, product)) return false;
  const auto axes = parameters_of<primitives::dot_general>(g, product);
  const int batch = axes.left_batch.size(), rank = g.rank(id);
  const int rows = g.rank(g.operand(product, 0)) - batch - axes.left_contract.size(), columns = rank - batch - rows;
  const axis_list permutation = parameters_of<primitives::transpose>(g, id).permutation;
  for (int i = 0; i < rank; ++i)
    if (permutation[i] != (i < batch ? i : i < batch + columns ? i + rows : i - columns)) return false;
  return true;
}

/// The needed nodes that are read through such transposes alone: products whose operands had better be exchanged.
constexpr id_set<node_id> find_exchanged(const graph& g, const id_set<node_id>& needed) {
  id_set<node_id> result = needed;
  result.erase(g.outputs);
  for_each(g.ids(), [&](node_id id) {
    if (needed.contains(id) && !exchanges_rows_and_columns(g, id)) result.erase(g.operands(id));
  });
  return result;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
