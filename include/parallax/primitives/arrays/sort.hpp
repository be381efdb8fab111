// Sorting: rows arranged by the order of their elements, or of other elements.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// Rows of values, along the last axis, in the order of their keys. Values with equal keys stay in their order; NaN
/// counts as larger than all numbers, and -0 as 0. Operands: keys, values. JAX: lax.sort of two operands.
struct sort_by : of_ordered {
  static constexpr std::string_view name = "sort_by";
  static constexpr primitive_kind kind = primitive_kind::sorting;
  struct parameters {
    bool descending = false;
    static constexpr void describe(auto& p, auto& member) { member("descending", p.descending); }
  };

  static constexpr abstract_value shape(const shape_application& a, const parameters&) {
    const abstract_value &keys = a.operands[0], &values = a.operands[1];
    abstract_value result = values;
    result.weak = false;
    for (int i = 0; i < values.rank(); ++i)
      result.shape[i] = unify(a.trace, name, keys.shape[i], values.shape[i], keys, values);
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const tracer keys = build::mapped_at(a.operands[0], 0, a.size), values = build::mapped_at(a.operands[1], 0, a.size);
    return {emit<sort_by>({keys, values}, p), 0};
  }
  /// Sorting by the numbers of a permutation undoes the permutation.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    if (!a.wants(1)) return;
    const tracer keys = a.operand(0), permutation = emit<sort_by>({keys, positions(keys)}, p);
    a.give(1, emit<sort_by>({permutation, a.cotangent}, {}));
  }

  /// The position of each element in its row.
  static constexpr tracer positions(tracer x) {
    return emit<iota>(*x.owner, {element_type::int32, x.rank() - 1, x.extents()});
  }
  /// Whether key x has to stand before key y if it came after y: x < y, and NaN is the largest.
  template <bool Descending, class T> static PARALLAX_HD constexpr bool precedes(T x, T y) {
    if constexpr (Descending) return precedes<false>(y, x);
    else if constexpr (math::floating16_element<T>)
      return precedes<false>(static_cast<float>(x), static_cast<float>(y));
    else if constexpr (math::floating_element<T>) return x == x && !(x >= y);
    else return x < y;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
