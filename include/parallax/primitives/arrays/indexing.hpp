// Gathers, which read elements at places that are data, and scatters, which write them.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/math/arithmetic.hpp>
#include <parallax/primitives/math/comparison.hpp>
#include <parallax/primitives/math/select.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// How a scatter combines an element with its update.
enum class scatter_kind : int { set_to, add_to, multiply_by, smaller_of, larger_of };
constexpr std::string_view name_of(scatter_kind kind) {
  switch (kind) {
  case scatter_kind::set_to: return "set_to";
  case scatter_kind::add_to: return "add_to";
  case scatter_kind::multiply_by: return "multiply_by";
  case scatter_kind::smaller_of: return "smaller_of";
  case scatter_kind::larger_of: return "larger_of";
  }
  return "";
}

} // namespace detail

namespace primitives {

/// The element of an array that each position of a window names. Each axis of the array follows one of the window's
/// axes or stays at 0; an offset, which is data, is added to the place in row-major order:
/// place(p) = sum over the array's axes a of stride[a] * p[follows[a]] + offset(p)
struct window_axes {
  static constexpr int none = -1;
  axis_list follows;   ///< by axis of the array: the window's axis, or none
  axis_list moved;     ///< the array's axes that offsets move along
  bool unique = false; ///< no two positions name the same element
  static constexpr void describe(auto& p, auto& member) {
    member("follows", p.follows);
    member("moved", p.moved);
    member("unique", p.unique);
  }
  /// Whether positions that differ along this axis of the window name different elements, whatever the offsets are.
  constexpr bool keeps_apart(int axis) const {
    for (int a = 0; a < follows.size(); ++a)
      if (follows[a] == axis && !moved.contains(a)) return true;
    return unique;
  }
  /// These window axes with a further axis 0 of the window and, if `of_array`, of the array.
  constexpr window_axes with_axis(bool of_array) const {
    window_axes result = *this;
    for (int& axis : result.follows)
      if (axis != none) ++axis;
    if (!of_array) {
      result.unique = false;
      return result;
    }
    for (int& axis : result.moved) ++axis;
    result.follows.insert(0, 0);
    return result;
  }
};

namespace detail {

/// Offsets of all instances, with the mapped axis first. One number for all instances and positions stays as it is.
constexpr tracer mapped_offsets(const batch_application& a, const batched& offsets, const dims& window) {
  if (!offsets.is_mapped())
    return offsets.value.rank() == 0 ? offsets.value : build::insert_axis(offsets.value, 0, a.size);
  if (offsets.instance_rank() > 0) return build::move_axis(offsets.value, offsets.axis, 0);
  return build::broadcast_in_dim(offsets.value, window, {0});
}

} // namespace detail

/// The elements that the positions of a window name. Operands: the array, and offsets that lie within it, either one
/// for each position or one number for all. JAX: lax.gather
struct gather {
  static constexpr std::string_view name = "gather";
  static constexpr primitive_kind kind = primitive_kind::gather;
  struct parameters {
    dims shape; ///< of the window
    window_axes axes;
    static constexpr void describe(auto& p, auto& member) {
      member("shape", p.shape);
      window_axes::describe(p.axes, member);
    }
  };
  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    return {a.operands[0].type, false, p.shape};
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const batched& array = a.operands[0];
    parameters all{p.shape, p.axes.with_axis(array.is_mapped())};
    all.shape.insert(0, a.size);
    const tracer x = array.is_mapped() ? build::move_axis(array.value, array.axis, 0) : array.value;
    return {emit<gather>({x, detail::mapped_offsets(a, a.operands[1], all.shape)}, all), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p);
};

/// The array after changes to the elements that the positions of a window name, one position after another in row-major
/// order. Operands: the array; offsets, one for each position or one number for all, a negative one for no change; and
/// the updates, which have the window's shape and the array's type. JAX: lax.scatter, lax.scatter_add, ...
struct scatter {
  static constexpr std::string_view name = "scatter";
  static constexpr primitive_kind kind = primitive_kind::scatter;
  struct parameters {
    scatter_kind combine = scatter_kind::set_to;
    window_axes axes;
    static constexpr void describe(auto& p, auto& member) {
      member("combine", p.combine);
      window_axes::describe(p.axes, member);
    }
  };
  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    if (p.combine == scatter_kind::smaller_of || p.combine == scatter_kind::larger_of) require_order(a);
    abstract_value result = a.operands[0];
    result.weak = false;
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const tracer array = build::mapped_at(a.operands[0], 0, a.size),
                 updates = build::mapped_at(a.operands[2], 0, a.size);
    const tracer offsets = detail::mapped_offsets(a, a.operands[1], updates.extents());
    return {emit<scatter>({array, offsets, updates}, {p.combine, p.axes.with_axis(true)}), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    switch (p.combine) {
    case scatter_kind::set_to: return vjp_of_set(a, p);
    case scatter_kind::add_to: a.give(0, a.cotangent); return a.give(2, taken(a, p, a.cotangent));
    case scatter_kind::multiply_by: return vjp_of_multiply(a, p);
    case scatter_kind::smaller_of:
    case scatter_kind::larger_of: return vjp_of_extremes(a, p);
    }
  }

  /// The primitive that combines an element and its update; `stop_gradient` of the update if the update replaces the
  /// element.
  static constexpr primitive_id combining(scatter_kind how) {
    switch (how) {
    case scatter_kind::set_to: return id_of<primitives::stop_gradient>;
    case scatter_kind::add_to: return id_of<primitives::add>;
    case scatter_kind::multiply_by: return id_of<primitives::multiply>;
    case scatter_kind::smaller_of: return id_of<primitives::minimum>;
    case scatter_kind::larger_of: return id_of<primitives::maximum>;
    }
    return primitive_id::input;
  }

  /// Adds updates to zeros of an array's shape. Sums of 16-bit elements are rounded once.
  static constexpr tracer add_to_zeros(tracer array, tracer offsets, tracer updates, const window_axes& axes) {
    const element_type wide = is_half_precision(updates.type()) ? element_type::float32 : updates.type();
    const tracer zeros = build::zeros(*array.owner, {wide, false, array.extents()});
    const tracer sums = emit<scatter>({zeros, offsets, build::convert(updates, wide)}, {scatter_kind::add_to, axes});
    return build::convert(sums, updates.type());
  }

 private:
  /// The elements of `array` that the positions name; 0 for positions that name none.
  static constexpr tracer taken(const vjp_application& a, const parameters& p, tracer array) {
    const tracer offsets = a.operand(1), zero = build::like(offsets, 0);
    const tracer read =
        emit<gather>({array, emit<maximum>({offsets, zero})}, {.shape = a.operand(2).extents(), .axes = p.axes});
    return build::select(emit<greater_equal>({offsets, zero}), read, build::like(read, 0));
  }
  /// Overwritten values have no part in the result: neither the array's elements, nor any update of an element but the
  /// last.
  static constexpr void vjp_of_set(vjp_application& a, const parameters& p) {
    const tracer offsets = a.operand(1), updates = a.operand(2);
    if (a.wants(0)) {
      const tracer nothing = build::broadcast_to(build::like(a.cotangent, 0), updates.extents());
      a.give(0, emit<scatter>({a.cotangent, offsets, nothing}, p));
    }
    if (!a.wants(2)) return;
    const tracer given = taken(a, p, a.cotangent);
    if (p.axes.unique) return a.give(2, given);
    const tracer number = emit<iota>(a.trace, {element_type::int32, iota::row_major, updates.extents()});
    const tracer none = build::zeros(a.trace, {element_type::int32, false, a.operand(0).extents()});
    const tracer last = taken(a, p, emit<scatter>({none, offsets, number}, p));
    a.give(2, build::select(last == number, given, build::like(given, 0)));
  }
  static constexpr void vjp_of_multiply(vjp_application& a, const parameters& p) {
    a.give(0, emit<scatter>({a.cotangent, a.operand(1), a.operand(2)}, p));
    if (!a.wants(2)) return;
    if (!p.axes.unique)
      return a.trace.fail(message() << "grad: at(i).multiply(y) is not differentiated by y where positions may "
                                       "coincide; say plx::unique_indices where they do not");
    a.give(2, taken(a, p, a.cotangent * a.operand(0)));
  }
  /// The element and its updates that equal the result share the result's cotangent equally. Those of 16-bit types are
  /// counted in float32.
  static constexpr void vjp_of_extremes(vjp_application& a, const parameters& p) {
    const tracer offsets = a.operand(1), updates = a.operand(2), cotangent = build::widen(a.cotangent),
                 one = build::like(cotangent, 1), zero = build::like(cotangent, 0);
    const tracer kept = build::select(a.operand(0) == a.result, one, zero);
    const tracer chosen = build::select(updates == taken(a, p, a.result), one, zero);
    const tracer count = emit<scatter>({kept, offsets, chosen}, {scatter_kind::add_to, p.axes});
    const tracer share = cotangent / count;
    a.give(0, build::convert(kept * share, a.result.type()));
    a.give(2, build::convert(chosen * taken(a, p, share), a.result.type()));
  }
};

constexpr void gather::vjp(vjp_application& a, const parameters& p) {
  if (a.wants(0)) a.give(0, scatter::add_to_zeros(a.operand(0), a.operand(1), a.cotangent, p.axes));
}

} // namespace primitives
} // namespace parallax::PARALLAX_INLINE_VERSION
