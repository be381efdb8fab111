// The general product of two arrays: sums over contracted axes, runs along batch axes. JAX: lax.dot_general.
#pragma once

#include <parallax/core/precision.hpp>
#include <parallax/primitives/build.hpp>

namespace parallax::primitives {

/// The axes of a product, and how precise it has to be.
struct dot_axes {
  small_vector<int, max_rank> left_contract, right_contract, left_batch, right_batch;
  product_precision precision = product_precision::full;

  static constexpr dot_axes read(std::span<const std::int64_t> parameters) {
    dot_axes axes;
    std::size_t contract = static_cast<std::size_t>(parameters[0]), batch = static_cast<std::size_t>(parameters[1]),
                at = 2;
    for (std::size_t i = 0; i < contract; ++i) axes.left_contract.push_back(static_cast<int>(parameters[at++]));
    for (std::size_t i = 0; i < contract; ++i) axes.right_contract.push_back(static_cast<int>(parameters[at++]));
    for (std::size_t i = 0; i < batch; ++i) axes.left_batch.push_back(static_cast<int>(parameters[at++]));
    for (std::size_t i = 0; i < batch; ++i) axes.right_batch.push_back(static_cast<int>(parameters[at++]));
    axes.precision = static_cast<product_precision>(parameters[at]);
    return axes;
  }
  /// Those of the product with the operands exchanged.
  constexpr dot_axes exchanged() const { return {right_contract, left_contract, right_batch, left_batch, precision}; }
  constexpr small_vector<int, max_rank> left_free(int rank) const { return free_axes(rank, left_contract, left_batch); }
  constexpr small_vector<int, max_rank> right_free(int rank) const {
    return free_axes(rank, right_contract, right_batch);
  }

 private:
  static constexpr small_vector<int, max_rank> free_axes(int rank, const small_vector<int, max_rank>& contract,
                                                         const small_vector<int, max_rank>& batch) {
    small_vector<int, max_rank> result;
    for (int i = 0; i < rank; ++i)
      if (!contract.contains(i) && !batch.contains(i)) result.push_back(i);
    return result;
  }
};

/// Result axes: batch, then the left operand's free axes, then the right operand's.
struct dot_general {
  static constexpr primitive_kind kind = primitive_kind::product;
  static constexpr std::string_view name = "dot_general";

  static constexpr tracer make(tracer left, tracer right, const dot_axes& axes) {
    small_vector<std::int64_t, 4 * max_rank + 3> parameters;
    parameters.push_back(axes.left_contract.size());
    parameters.push_back(axes.left_batch.size());
    for (const auto* list : {&axes.left_contract, &axes.right_contract, &axes.left_batch, &axes.right_batch})
      for (int axis : *list) parameters.push_back(axis);
    parameters.push_back(static_cast<std::int64_t>(axes.precision));
    tracer operands[] = {left, right};
    return emit<dot_general>(*left.owner, operands, {parameters.data(), static_cast<std::size_t>(parameters.size())});
  }

  static constexpr abstract_value shape(const shape_application& a) {
    const abstract_value &left = a.operands[0], &right = a.operands[1];
    dot_axes axes = dot_axes::read(a.parameters);
    for (int i = 0; i < axes.left_contract.size(); ++i)
      unify(a.trace, "dot_general", left.shape[axes.left_contract[i]], right.shape[axes.right_contract[i]], left,
            right);
    abstract_value result{left.type, false, {}};
    int shared = 2 * axes.left_contract.size() + axes.left_batch.size();
    if (!check_rank(a.trace, name, left.rank() + right.rank() - shared)) return result;
    for (int i = 0; i < axes.left_batch.size(); ++i)
      result.shape.push_back(
          unify(a.trace, "dot_general", left.shape[axes.left_batch[i]], right.shape[axes.right_batch[i]], left, right));
    for (int axis : axes.left_free(left.rank())) result.shape.push_back(left.shape[axis]);
    for (int axis : axes.right_free(right.rank())) result.shape.push_back(right.shape[axis]);
    return result;
  }

  /// A mapped axis of one operand becomes one more free axis of it; mapped axes of both become a batch axis. A mapped
  /// vector is the left operand of what is then a matrix product, so that the result's rows are one instance each.
  static constexpr batched batch(const batch_application& a) {
    dot_axes axes = dot_axes::read(a.parameters);
    auto shift = [](small_vector<int, max_rank>& list, int mapped) {
      for (int& axis : list)
        if (axis >= mapped) ++axis;
    };
    const batched &left = a.operands[0], &right = a.operands[1];
    if (left.axis >= 0) shift(axes.left_contract, left.axis), shift(axes.left_batch, left.axis);
    if (right.axis >= 0) shift(axes.right_contract, right.axis), shift(axes.right_batch, right.axis);
    int result_axis = 0;
    if (left.axis >= 0 && right.axis >= 0) {
      axes.left_batch.insert(0, left.axis);
      axes.right_batch.insert(0, right.axis);
    } else if (left.axis >= 0) {
      result_axis = axes.left_batch.size();
      for (int axis : axes.left_free(left.value.rank())) result_axis += axis < left.axis ? 1 : 0;
    } else if (axes.right_free(right.value.rank()).size() == 1) {
      return {make(right.value, left.value, axes.exchanged()), axes.left_batch.size()};
    } else {
      result_axis = left.value.rank() - axes.left_contract.size();
      for (int axis : axes.right_free(right.value.rank())) result_axis += axis < right.axis ? 1 : 0;
    }
    return {make(left.value, right.value, axes), result_axis};
  }

  static constexpr void vjp(vjp_application& a) {
    tracer left = a.operand(0), right = a.operand(1);
    dot_axes axes = dot_axes::read(a.parameters);
    auto left_free = axes.left_free(left.rank()), right_free = axes.right_free(right.rank());
    int batch = axes.left_batch.size();
    dot_axes product;
    product.precision = axes.precision;
    for (int i = 0; i < batch; ++i) product.left_batch.push_back(i);
    if (a.wants(0)) {
      // result: batch, left free, left contracted in the order of the right operand's axes
      product.right_batch = axes.right_batch;
      for (int i = 0; i < right_free.size(); ++i) product.left_contract.push_back(batch + left_free.size() + i);
      product.right_contract = right_free;
      small_vector<int, max_rank> order = axes.left_batch;
      for (int axis : left_free) order.push_back(axis);
      append_partners(order, axes.right_contract, axes.left_contract, right.rank());
      a.give(0, restore(make(a.cotangent, right, product), order));
    }
    if (a.wants(1)) {
      // result: batch, right contracted in the order of the left operand's axes, right free
      dot_axes swapped;
      swapped.precision = axes.precision;
      swapped.left_batch = axes.left_batch;
      swapped.right_batch = product.left_batch;
      swapped.left_contract = left_free;
      for (int i = 0; i < left_free.size(); ++i) swapped.right_contract.push_back(batch + i);
      small_vector<int, max_rank> order = axes.right_batch;
      append_partners(order, axes.left_contract, axes.right_contract, left.rank());
      for (int axis : right_free) order.push_back(axis);
      a.give(1, restore(make(left, a.cotangent, swapped), order));
    }
  }

 private:
  /// Appends partner[i] for the contracted axes in ascending order of `sorted_by`.
  static constexpr void append_partners(small_vector<int, max_rank>& order,
                                        const small_vector<int, max_rank>& sorted_by,
                                        const small_vector<int, max_rank>& partner, int rank) {
    for (int axis = 0; axis < rank; ++axis)
      for (int i = 0; i < sorted_by.size(); ++i)
        if (sorted_by[i] == axis) order.push_back(partner[i]);
  }
  /// Result axis i belongs at place order[i].
  static constexpr tracer restore(tracer x, const small_vector<int, max_rank>& order) {
    small_vector<int, max_rank> permutation(order.size(), 0);
    for (int i = 0; i < order.size(); ++i) permutation[order[i]] = i;
    return build::transpose(x, {permutation.data(), static_cast<std::size_t>(permutation.size())});
  }
};

} // namespace parallax::primitives
