// The general product of two arrays: sums over contracted axes, for each index of the batch axes. JAX: lax.dot_general.
#pragma once

#include <parallax/core/types/precision.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// The axes of a product, and how precise it has to be.
struct dot_parameters {
  axis_list left_contract{}, right_contract{}, left_batch{}, right_batch{};
  product_precision precision = product_precision::full;

  static constexpr void describe(auto& p, auto& member) {
    member("left_contract", p.left_contract);
    member("right_contract", p.right_contract);
    member("left_batch", p.left_batch);
    member("right_batch", p.right_batch);
    member("precision", p.precision);
  }
  /// The parameters of the product with the operands exchanged.
  constexpr dot_parameters exchanged() const {
    return {right_contract, left_contract, right_batch, left_batch, precision};
  }
  constexpr axis_list left_free(int rank) const { return free_axes(rank, left_contract, left_batch); }
  constexpr axis_list right_free(int rank) const { return free_axes(rank, right_contract, right_batch); }

 private:
  static constexpr axis_list free_axes(int rank, const axis_list& contract, const axis_list& batch) {
    axis_list result;
    for (int i = 0; i < rank; ++i)
      if (!contract.contains(i) && !batch.contains(i)) result.push_back(i);
    return result;
  }
};

/// Result axes: batch, then the left operand's free axes, then the right operand's.
struct dot_general {
  static constexpr primitive_kind kind = primitive_kind::product;
  static constexpr std::string_view name = "dot_general";
  using parameters = dot_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& axes) {
    const abstract_value &left = a.operands[0], &right = a.operands[1];
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

  /// A mapped axis of one operand becomes a further free axis of this operand; mapped axes of both become a batch axis.
  /// A mapped vector becomes the left operand of a matrix product, so that each of the result's rows is one instance.
  static constexpr batched batch(const batch_application& a, parameters axes) {
    auto shift = [](axis_list& list, int mapped) {
      for (int& axis : list)
        if (axis >= mapped) ++axis;
    };
    const batched &left = a.operands[0], &right = a.operands[1];
    if (left.is_mapped()) shift(axes.left_contract, left.axis), shift(axes.left_batch, left.axis);
    if (right.is_mapped()) shift(axes.right_contract, right.axis), shift(axes.right_batch, right.axis);
    int result_axis = 0;
    if (left.is_mapped() && right.is_mapped()) {
      axes.left_batch.insert(0, left.axis);
      axes.right_batch.insert(0, right.axis);
    } else if (left.is_mapped()) {
      result_axis = axes.left_batch.size();
      for (int axis : axes.left_free(left.value.rank())) result_axis += axis < left.axis ? 1 : 0;
    } else if (axes.right_free(right.value.rank()).size() == 1) {
      return {emit<dot_general>({right.value, left.value}, axes.exchanged()), axes.left_batch.size()};
    } else {
      result_axis = left.value.rank() - axes.left_contract.size();
      for (int axis : axes.right_free(right.value.rank())) result_axis += axis < right.axis ? 1 : 0;
    }
    return {emit<dot_general>({left.value, right.value}, axes), result_axis};
  }

  static constexpr void vjp(vjp_application& a, const parameters& axes) {
    tracer left = a.operand(0), right = a.operand(1);
    auto left_free = axes.left_free(left.rank()), right_free = axes.right_free(right.rank());
    int batch = axes.left_batch.size();
    parameters product{.precision = axes.precision};
    for (int i = 0; i < batch; ++i) product.left_batch.push_back(i);
    if (a.wants(0)) {
      // result: batch, left free, left contracted in the order of the right operand's axes
      product.right_batch = axes.right_batch;
      for (int i = 0; i < right_free.size(); ++i) product.left_contract.push_back(batch + left_free.size() + i);
      product.right_contract = right_free;
      axis_list order = axes.left_batch;
      for (int axis : left_free) order.push_back(axis);
      append_partners(order, axes.right_contract, axes.left_contract, right.rank());
      a.give(0, restore(emit<dot_general>({a.cotangent, right}, product), order));
    }
    if (a.wants(1)) {
      // result: batch, right contracted in the order of the left operand's axes, right free
      parameters swapped{.precision = axes.precision};
      swapped.left_batch = axes.left_batch;
      swapped.right_batch = product.left_batch;
      swapped.left_contract = left_free;
      for (int i = 0; i < left_free.size(); ++i) swapped.right_contract.push_back(batch + i);
      axis_list order = axes.right_batch;
      append_partners(order, axes.left_contract, axes.right_contract, left.rank());
      for (int axis : right_free) order.push_back(axis);
      a.give(1, restore(emit<dot_general>({left, a.cotangent}, swapped), order));
    }
  }

 private:
  /// Appends partner[i] for the contracted axes in ascending order of `sorted_by`.
  static constexpr void append_partners(axis_list& order, const axis_list& sorted_by, const axis_list& partner,
                                        int rank) {
    for (int axis = 0; axis < rank; ++axis)
      for (int i = 0; i < sorted_by.size(); ++i)
        if (sorted_by[i] == axis) order.push_back(partner[i]);
  }
  /// Result axis i belongs at place order[i].
  static constexpr tracer restore(tracer x, const axis_list& order) {
    axis_list permutation(order.size(), 0);
    for (int i = 0; i < order.size(); ++i) permutation[order[i]] = i;
    return build::transpose(x, permutation);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
