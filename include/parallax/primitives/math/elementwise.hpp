// The rules that all elementwise primitives share: operands have one shape, or are scalars.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/math/scalar_math.hpp>
#include <parallax/primitives/building/operators.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

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

  /// Unmapped operands repeat along the mapped axis, which stays at its place in the first mapped operand.
  static constexpr batched batch(const batch_application& a) {
    int rank = 0;
    for (const batched& x : a.operands)
      if (x.instance_rank() > rank) rank = x.instance_rank();
    const int axis = axis_of_mapped(a, rank);
    growing_vector<tracer> operands;
    for (const batched& x : a.operands) {
      if (x.instance_rank() == rank && (x.is_mapped() || rank > 0))
        operands.push_back(build::mapped_at(x, axis, a.size));
      else if (x.is_mapped()) operands.push_back(build::broadcast_in_dim(x.value, shape_of(a, rank, axis), {axis}));
      else operands.push_back(x.value); // a scalar
    }
    return {a.again(operands), axis};
  }

 private:
  static constexpr int axis_of_mapped(const batch_application& a, int rank) {
    for (const batched& x : a.operands)
      if (x.is_mapped() && x.instance_rank() == rank) return x.axis;
    return 0;
  }
  /// The shape of all instances of an operand of the largest rank.
  static constexpr dims shape_of(const batch_application& a, int rank, int axis) {
    for (const batched& x : a.operands) {
      if (x.instance_rank() != rank) continue;
      dims shape = x.value.extents();
      if (x.is_mapped()) shape.erase(x.axis);
      shape.insert(axis, a.size);
      return shape;
    }
    return {};
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
  static constexpr zero_rule vjp{};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
