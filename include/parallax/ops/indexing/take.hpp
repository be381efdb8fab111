// Takes elements along axes, sums them by segment, and marks them.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/indexing.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The indices of a call whose axis is a number.
template <class T>
concept index_operand = traced<T> || constant_expression<T>;

/// Takes elements along an axis: `Derived::along(x, indices, axis, mode)` does; this adds calls for each form of an
/// axis, with a mode and without.
template <class Derived> struct taking_operation : operation<Derived>, takes_constants_and_numbers<Derived> {
  using operation<Derived>::operator();
  using takes_constants_and_numbers<Derived>::operator();
  template <index_operand I>
  constexpr tracer operator()(tracer x, const I& i, axis_number_type auto axis_number) const {
    return Derived::along(x, materialize(*x.owner, i), as_axis(axis_number), index_mode::filled);
  }
  template <index_operand I, index_mode Mode>
  constexpr tracer operator()(tracer x, const I& i, axis_number_type auto axis_number, index_mode_t<Mode>) const {
    return Derived::along(x, materialize(*x.owner, i), as_axis(axis_number), Mode);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, tracer i, axis_t<Axis>) {
    return Derived::along(x, i, Axis, index_mode::filled);
  }
  template <int Axis, index_mode Mode>
  static constexpr tracer apply(context&, tracer x, tracer i, axis_t<Axis>, index_mode_t<Mode>) {
    return Derived::along(x, i, Axis, Mode);
  }
};

/// Shapes: that of x with the shape of i in place of the axis; that of i without an axis. Errors: an axis that x does
/// not have, or without elements; indices that are no whole numbers.
struct take_operation : taking_operation<take_operation> {
  using taking_operation<take_operation>::apply;
  static constexpr tracer apply(context&, tracer x, tracer i) { return flat(x, i, index_mode::filled); }
  template <index_mode Mode> static constexpr tracer apply(context&, tracer x, tracer i, index_mode_t<Mode>) {
    return flat(x, i, Mode);
  }
  static constexpr tracer along(tracer x, tracer i, int axis_number, index_mode how) {
    const int normal = normalize_axis(*x.owner, "take", axis_number, x.rank());
    if (x.owner->failed) return x;
    index_list indices(normal + 1, tracer{});
    indices[normal] = i;
    return gather_window("take", x, window_of("take", x, indices, how));
  }

 private:
  static constexpr tracer flat(tracer x, tracer i, index_mode how) {
    return along(build::reshape(x, {x.owner->extents.product(x.extents())}), i, 0, how);
  }
};

/// Shapes: that of i, broadcast with x along the other axes. Errors: indices of another number of dimensions, or that
/// are no whole numbers; other extents that differ, of which none is 1; an axis that x does not have.
struct take_along_axis_operation : taking_operation<take_along_axis_operation> {
  static constexpr std::string_view name = "take_along_axis";
  /// The other axes broadcast.
  static constexpr tracer along(tracer x, tracer i, int axis_number, index_mode how) {
    context& trace = *x.owner;
    const int normal = normalize_axis(trace, name, axis_number, x.rank());
    if (trace.failed) return x;
    if (i.rank() != x.rank()) {
      message text;
      text << name << ": indices ";
      print_value(text, trace.extents, i.value());
      print_value(text << " for ", trace.extents, x.value());
      trace.fail(text << "; give indices of as many dimensions");
      return x;
    }
    index_resolver resolver(name, x, how);
    resolver.add(i, normal);
    indexed_window window;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const dim of_array = x.dimension(axis), of_indices = i.dimension(axis);
      const bool repeats = of_array == 1 && !(of_indices == 1);
      window.axes.follows.push_back(axis == normal || repeats ? primitives::window_axes::none : axis);
      window.shape.push_back(axis == normal || repeats ? of_indices
                             : of_indices == 1         ? of_array
                                               : unify(trace, name, of_array, of_indices, x.value(), i.value()));
    }
    if (trace.failed) return x;
    window.axes.moved = {normal};
    window.offsets = build::broadcast_to(resolver.offsets(), window.shape);
    if (resolver.outside().owner) window.outside = build::broadcast_to(resolver.outside(), window.shape);
    return gather_window(name, x, window);
  }
};

/// Shapes: that of x with `count` as its first extent. Errors: an x without an axis; segments that are not one number
/// for each element of axis 0; a count that is traced.
struct segment_sum_operation : takes_constants<segment_sum_operation> {
  using takes_constants<segment_sum_operation>::operator();
  template <class Ids> constexpr tracer operator()(tracer x, const Ids& ids, extent segments) const {
    context& trace = *x.owner;
    const tracer places = materialize(trace, ids);
    if (x.rank() == 0 || places.rank() != 1) {
      message text;
      print_value(text << "segment_sum: ", trace.extents, x.value());
      print_value(text << " with the segments ", trace.extents, places.value());
      trace.fail(text << "; give one number for each element of axis 0");
      return x;
    }
    dims shape = x.extents();
    const dims lists = dims_of(trace, "segment_sum", plain_span<const extent>(&segments, 1), &x);
    if (trace.failed) return x;
    shape[0] = lists[0];
    const tracer zeros = build::zeros(trace, {x.type(), false, shape});
    const indexed_window window = window_of("segment_sum", zeros, {places}, index_mode::dropped, false);
    return scatter_window("segment_sum", zeros, window, x, scatter_kind::add_to);
  }
  template <class Ids>
  constexpr tracer operator()(tracer x, const Ids&, const std::same_as<tracer> auto& segments) const {
    refuse_count(segments, "segment_sum", "number of segments");
    return x;
  }
};

/// Shapes: that of i, and n behind it. Errors: more than 8 dimensions; an n that is traced.
template <element_type Type> struct one_hot_operation : takes_constants<one_hot_operation<Type>> {
  using takes_constants<one_hot_operation<Type>>::operator();
  constexpr tracer operator()(tracer i, extent classes) const {
    context& trace = *i.owner;
    const dims last = dims_of(trace, "one_hot", plain_span<const extent>(&classes, 1), &i);
    if (trace.failed || !check_rank(trace, "one_hot", i.rank() + 1)) return i;
    dims shape = i.extents();
    shape.push_back(last[0]);
    const bool has_all = !is_inexact(i.type()) && size_of(i.type()) >= 4; // whether the type can hold every index
    const element_type numbers = has_all ? i.type() : element_type::int32;
    const tracer place = emit<primitives::iota>(trace, {numbers, i.rank(), shape});
    axis_list axes = all_axes(i.rank());
    return build::convert(place == build::broadcast_in_dim(build::convert(i, numbers), shape, axes), Type);
  }
  constexpr tracer operator()(tracer i, const std::same_as<tracer> auto& classes) const {
    refuse_count(classes, "one_hot", "number of classes");
    return i;
  }
};

} // namespace detail

/// `take(x, i, axis)`: elements along an axis, or of x in row-major order if no axis is given; the axes of i stand in
/// place of that axis. Indices that are not there read NaN (whole numbers: the least, unsigned ones the greatest), or
/// as `mode` says; negative ones count from the end. On arrays the axis is `plx::axis<0>`. JAX: numpy.take
inline constexpr detail::take_operation take{};
/// `take_along_axis(x, i, axis)`: in each row along an axis, the elements that the row of i names. The other axes
/// broadcast. Indices have the meaning that they have in `take`. JAX: numpy.take_along_axis
inline constexpr detail::take_along_axis_operation take_along_axis{};
/// `segment_sum(x, segments, count)`: element k is the sum, in order, of the elements along axis 0 with segment number
/// k, from 0 to count - 1. Other elements are dropped. JAX: ops.segment_sum
inline constexpr detail::segment_sum_operation segment_sum{};
/// `one_hot(i, n)`: along a new last axis of n elements, 1 at place i and 0 elsewhere; float32, or of type `T` by
/// `one_hot_of<T>`. JAX: nn.one_hot
inline constexpr detail::one_hot_operation<element_type::float32> one_hot{};

namespace detail {
template <element T> inline constexpr one_hot_operation<element_type_of<T>> one_hot_of{};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
