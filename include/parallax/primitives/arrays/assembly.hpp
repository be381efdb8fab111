// Slices, concatenation and padding: parts of arrays, and arrays that are written part by part.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/shape.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct assembly {
  static constexpr primitive_kind kind = primitive_kind::assembly;
};

/// The elements start, start + stride, ... below limit of each axis. JAX: lax.slice.
struct slice : view {
  static constexpr std::string_view name = "slice";
  using parameters = slice_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = a.operands[0];
    for (int i = 0; i < result.rank(); ++i) {
      if (!check_bounds(a, p, i)) return result;
      dim_table& t = a.trace.extents;
      dim length = t.subtract(p.limit[i], p.start[i]);
      result.shape[i] = p.stride[i] == 1 ? length : t.divide(t.add(length, dim{p.stride[i] - 1}), dim{p.stride[i]});
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const int mapped = a.operands[0].axis;
    parameters of_all = p;
    of_all.start.insert(mapped, dim{});
    of_all.limit.insert(mapped, a.size);
    of_all.stride.insert(mapped, 1);
    return {a.with(a.operands[0].value, of_all), mapped};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p);

 private:
  /// Checks the bounds of an axis: wrong ones are an error, and bounds that only the call knows get guards.
  static constexpr bool check_bounds(const shape_application& a, const parameters& p, int axis) {
    const abstract_value& x = a.operands[0];
    dim start = p.start[axis], limit = p.limit[axis], size = x.shape[axis];
    auto is_above = [](dim left, dim right) {
      return is_static(left) && is_static(right) && left.number() > right.number();
    };
    if (is_above(start, limit) || is_above(limit, size)) {
      message text;
      text << "slice: from ";
      print_extent(text, a.trace.extents, start);
      text << " to ";
      print_extent(text, a.trace.extents, limit);
      text << " is not within axis " << axis << " of ";
      print_value(text, a.trace.extents, x);
      a.trace.fail(text << "; give 0 <= start <= limit <= extent");
      return false;
    }
    // bounds counted from the end of a dynamic extent may lie before its start
    if (!is_static(start)) require_order(a.trace, dim{}, start, x);
    if (!(start == 0 && limit == size)) require_order(a.trace, start, limit, x);
    if (!(limit == 0)) require_order(a.trace, limit, size, x);
    return true;
  }
  static constexpr void require_order(context& trace, dim small, dim large, const abstract_value& value) {
    if (large == small || (is_static(large) && is_static(small))) return;
    require(trace, guard_kind::at_least, name, large, small, value);
  }
};

/// The operands one behind another along an axis.
struct concatenate : assembly {
  static constexpr std::string_view name = "concatenate";
  using parameters = concatenate_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = a.operands[0];
    result.weak = false;
    for (const abstract_value& x : a.operands.subspan(1)) {
      if (x.rank() != result.rank()) {
        message text;
        text << "concatenate: shapes ";
        print_value(text, a.trace.extents, a.operands[0]);
        text << " and ";
        print_value(text, a.trace.extents, x);
        a.trace.fail(text << " differ in rank; give arrays of one rank");
        return result;
      }
      for (int i = 0; i < x.rank(); ++i)
        result.shape[i] = i == p.dimension
                              ? a.trace.extents.add(result.shape[i], x.shape[i])
                              : unify(a.trace, "concatenate", result.shape[i], x.shape[i], a.operands[0], x);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const auto operands =
        parallax::detail::vector_of(a.operands, [&](const batched& x) { return build::mapped_at(x, 0, a.size); });
    return {emit<concatenate>(a.trace, operands, {p.dimension + 1}), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    dim start;
    for (int i = 0; i < count_of(a.operands); ++i) {
      dim limit = a.trace.extents.add(start, a.operand(i).dimension(p.dimension));
      if (a.wants(i)) a.give(i, build::slice_axis(a.cotangent, p.dimension, start, limit));
      start = limit;
    }
  }
};

/// Operands: the array and the padding value. JAX: lax.pad.
struct pad : assembly {
  static constexpr std::string_view name = "pad";
  using parameters = pad_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = a.operands[0];
    result.weak = false;
    dim_table& t = a.trace.extents;
    for (int i = 0; i < result.rank(); ++i)
      result.shape[i] = t.add(t.add(p.low[i], spread(t, result.shape[i], p.interior[i])), p.high[i]);
    return result;
  }
  /// The extent of `size` elements with `interior` elements between each two.
  static constexpr dim spread(dim_table& t, dim size, std::int64_t interior) {
    if (interior == 0 || size == 0) return size;
    return t.add(t.multiply(t.subtract(size, dim{1}), dim{interior + 1}), dim{1});
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const batched &x = a.operands[0], &value = a.operands[1];
    const int axis = x.is_mapped() ? x.axis : 0;
    parameters of_all = p;
    of_all.low.insert(axis, dim{});
    of_all.high.insert(axis, dim{});
    of_all.interior.insert(axis, 0);
    tracer whole = build::mapped_at(x, axis, a.size);
    if (!value.is_mapped()) return {emit<pad>({whole, value.value}, of_all), axis};
    // A mapped padding value: pad with zeros, and choose the value where a padded array of ones has zeros.
    auto truth = [&](std::int64_t number) { return build::integer_literal(a.trace, element_type::boolean, number); };
    tracer padded = emit<pad>({whole, build::like(x.value, 0)}, of_all);
    tracer inside = emit<pad>({build::broadcast_to(truth(1), whole.extents()), truth(0)}, of_all);
    tracer values = build::broadcast_in_dim(value.value, padded.extents(), {axis});
    return {build::select(inside, padded, values), axis};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    dim_table& t = a.trace.extents;
    slice_parameters bounds{.start = p.low, .limit = {}, .stride = {}};
    for (int i = 0; i < p.low.size(); ++i) {
      bounds.limit.push_back(t.add(p.low[i], spread(t, a.operand(0).dimension(i), p.interior[i])));
      bounds.stride.push_back(p.interior[i] + 1);
    }
    tracer inside = emit<slice>({a.cotangent}, bounds);
    a.give(0, inside);
    if (a.wants(1)) a.give(1, emit<subtract>({build::sum_all(a.cotangent), build::sum_all(inside)}));
  }
};

/// The cotangent with zeros before, between and after its elements.
constexpr void slice::vjp(vjp_application& a, const parameters& p) {
  dim_table& t = a.trace.extents;
  pad_parameters around{.low = p.start, .high = {}, .interior = {}};
  for (int i = 0; i < p.start.size(); ++i) {
    dim covered = pad::spread(t, a.cotangent.dimension(i), p.stride[i] - 1);
    around.high.push_back(t.subtract(a.operand(0).dimension(i), t.add(p.start[i], covered)));
    around.interior.push_back(p.stride[i] - 1);
  }
  a.give(0, emit<pad>({a.cotangent, build::like(a.cotangent, 0)}, around));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
