// What all elementwise primitives share: operands have one shape, or are scalars beside it.
#pragma once

#include <parallax/core/scalar_math.hpp>
#include <parallax/primitives/operators.hpp>

#include <vector>

namespace parallax::primitives {

struct elementwise {
  static constexpr primitive_kind kind = primitive_kind::elementwise;

  /// The result's shape and weakness; its type is the first operand's.
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    for (const abstract_value& x : a.operands.subspan(1)) {
      result.weak = result.weak && x.weak;
      if (x.rank() == 0) continue;
      if (result.rank() == 0) {
        result.shape = x.shape;
        continue;
      }
      if (x.rank() != result.rank()) {
        message text;
        text << a.name << ": shapes ";
        print_value(text, a.trace.extents, result);
        text << " and ";
        print_value(text, a.trace.extents, x);
        a.trace.fail(text << " differ in rank");
        return result;
      }
      for (int i = 0; i < x.rank(); ++i)
        result.shape[i] = unify(a.trace, a.name, result.shape[i], x.shape[i], a.operands[0], x);
    }
    return result;
  }

  /// Unmapped operands repeat along the mapped axis, which stays where the first mapped operand has it.
  static constexpr batched batch(const batch_application& a) {
    auto logical_rank = [](const batched& x) { return x.value.rank() - (x.axis >= 0 ? 1 : 0); };
    int rank = 0, axis = -1;
    for (const batched& x : a.operands)
      if (logical_rank(x) > rank) rank = logical_rank(x);
    for (const batched& x : a.operands)
      if (axis < 0 && x.axis >= 0 && logical_rank(x) == rank) axis = x.axis;
    if (axis < 0) axis = 0;
    dims shape;
    for (const batched& x : a.operands) {
      if (logical_rank(x) != rank) continue;
      shape = x.value.extents();
      if (x.axis >= 0) shape.erase(x.axis);
      shape.insert(axis, a.size);
      break;
    }
    std::vector<tracer> operands;
    for (const batched& x : a.operands) {
      if (logical_rank(x) == rank && x.axis >= 0) operands.push_back(build::move_axis(x.value, x.axis, axis));
      else if (x.axis >= 0) operands.push_back(build::broadcast_in_dim(x.value, shape, std::span<const int>(&axis, 1)));
      else if (logical_rank(x) == 0) operands.push_back(x.value);
      else operands.push_back(build::insert_axis(x.value, axis, a.size));
    }
    return {emit(a.trace, a.operation, operands, a.parameters), axis};
  }
};

/// Elementwise primitives whose result is a truth value.
struct predicate : elementwise {
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = elementwise::shape(a);
    result.type = element_type::boolean;
    result.weak = false;
    return result;
  }
  static constexpr void vjp(vjp_application&) {} // piecewise constant
};

} // namespace parallax::primitives
