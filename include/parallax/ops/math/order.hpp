// Cumulative operations along an axis, sorting, and searches that use sorting.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/math/in_reverse.hpp>
#include <parallax/ops/math/reductions.hpp>
#include <parallax/primitives/arrays/cumulative.hpp>
#include <parallax/primitives/arrays/sort.hpp>

#include <concepts>
#include <string_view>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Sums, products and sums of exponentials of 16 bits are computed in float32, and rounded once.
template <class Primitive>
inline constexpr bool cumulates_wide =
    !std::same_as<Primitive, primitives::cummax> && !std::same_as<Primitive, primitives::cummin>;

template <class Primitive> constexpr tracer cumulate(tracer x, int axis_number, bool reverse) {
  const int normal = normalize_axis(*x.owner, Primitive::name, axis_number, x.rank());
  if (x.owner->failed) return x;
  constexpr bool counts = std::same_as<Primitive, primitives::cumsum> || std::same_as<Primitive, primitives::cumprod>;
  if (counts && x.type() == element_type::boolean) x = build::convert(x, element_type::int32);
  if (std::same_as<Primitive, primitives::cumlogsumexp>) x = to_inexact(x);
  const tracer wide = cumulates_wide<Primitive> ? to_wide(x) : x;
  return build::convert(emit<Primitive>({wide}, {normal, reverse}), x.type());
}

/// A cumulative operation. Without an axis it goes along axis 0 or, if `Flat`, over all elements in row-major order.
/// Shapes: that of x; one row of all elements for `cumsum` and `cumprod` without an axis. Errors: an axis that x does
/// not have.
template <class Primitive, bool Flat>
struct cumulative_operation : operation<cumulative_operation<Primitive, Flat>>,
                              takes_constants_and_numbers<cumulative_operation<Primitive, Flat>> {
  using operation<cumulative_operation<Primitive, Flat>>::operator();
  using takes_constants_and_numbers<cumulative_operation<Primitive, Flat>>::operator();
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number) const {
    return cumulate<Primitive>(x, as_axis(axis_number), false);
  }
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number, in_reverse_t) const {
    return cumulate<Primitive>(x, as_axis(axis_number), true);
  }
  static constexpr tracer apply(context&, tracer x) { return without_axis(x, false); }
  static constexpr tracer apply(context&, tracer x, in_reverse_t) { return without_axis(x, true); }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) {
    return cumulate<Primitive>(x, Axis, false);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>, in_reverse_t) {
    return cumulate<Primitive>(x, Axis, true);
  }

 private:
  static constexpr tracer without_axis(tracer x, bool reverse) {
    if (Flat) x = build::reshape(x, {x.owner->extents.product(x.extents())});
    return cumulate<Primitive>(x, 0, reverse);
  }
};

/// `Derived::arrange(x)` arranges rows along the last axis; this moves other axes there.
template <class Derived> struct sorting_operation : row_operation<Derived> {
  static constexpr tracer along(tracer x, int axis_number) {
    const int last = x.rank() - 1;
    return build::move_axis(Derived::arrange(build::move_axis(x, axis_number, last)), last, axis_number);
  }
};
struct sort_operation : sorting_operation<sort_operation> {
  static constexpr std::string_view name = "sort";
  static constexpr tracer arrange(tracer x) { return emit<primitives::sort_by>({x, x}, {}); }
};
struct argsort_operation : sorting_operation<argsort_operation> {
  static constexpr std::string_view name = "argsort";
  static constexpr tracer arrange(tracer x) {
    return emit<primitives::sort_by>({x, primitives::sort_by::positions(x)}, {});
  }
};

/// Shapes: that of the keys, of both results. Errors: values of another shape; an axis that the keys do not have.
struct sort_key_val_operation {
  constexpr std::pair<tracer, tracer> operator()(tracer keys, tracer values, any_axis axis_number = -1) const {
    context& trace = *keys.owner;
    const int axis = normalize_axis(trace, "sort_key_val", axis_number, keys.rank()), last = keys.rank() - 1;
    if (trace.failed || !are_alike(keys, values)) return {keys, values};
    const tracer k = build::move_axis(keys, axis, last), v = build::move_axis(values, axis, last);
    return {build::move_axis(emit<primitives::sort_by>({k, k}, {}), last, axis),
            build::move_axis(emit<primitives::sort_by>({k, v}, {}), last, axis)};
  }

 private:
  static constexpr bool are_alike(const tracer& keys, const tracer& values) {
    context& trace = *keys.owner;
    constexpr std::string_view remedy = "give values of the shape of the keys";
    if (keys.rank() != values.rank()) {
      message text;
      text << "sort_key_val: ";
      print_value(text, trace.extents, keys.value());
      print_value(text << " and ", trace.extents, values.value());
      trace.fail(text << " have not the same shape; " << remedy);
      return false;
    }
    for (int i = 0; i < keys.rank(); ++i)
      unify(trace, "sort_key_val", keys.dimension(i), values.dimension(i), keys.value(), values.value(), remedy);
    return !trace.failed;
  }
};

/// Shapes: that of x with k as its last extent, of both results. Errors: an x without an axis; a k below 0 or above the
/// last extent, or one that is traced.
struct top_k_operation {
  constexpr std::pair<tracer, tracer> operator()(tracer x, int k) const {
    if (!can_take(x, k)) return {x, x};
    const primitives::sort_by::parameters downwards{.descending = true};
    return {first(emit<primitives::sort_by>({x, x}, downwards), k),
            first(emit<primitives::sort_by>({x, primitives::sort_by::positions(x)}, downwards), k)};
  }
  constexpr std::pair<tracer, tracer> operator()(tracer x, const std::same_as<tracer> auto& k) const {
    refuse_count(k, "top_k", "number k", "give it as a number");
    return {x, x};
  }

 private:
  static constexpr tracer first(tracer x, int k) { return build::slice_axis(x, x.rank() - 1, dim{}, dim{k}); }
  static constexpr bool can_take(tracer x, int k) {
    context& trace = *x.owner;
    if (x.rank() == 0) {
      trace.fail(message() << "top_k: a number has no axis; give an array of at least one dimension");
      return false;
    }
    const dim size = x.dimension(x.rank() - 1);
    if (k < 0 || (is_static(size) && k > size.number())) {
      message text;
      text << "top_k: k is " << k << " for the last axis of ";
      print_value(text, trace.extents, x.value());
      trace.fail(text << "; give a k from 0 to its extent");
      return false;
    }
    if (!is_static(size)) require(trace, guard_kind::at_least, "top_k", size, dim{k}, x.value());
    return true;
  }
};

struct right_side_t {};

/// Shapes: that of the values. Errors: a sorted array that has not one dimension.
struct searchsorted_operation : operation<searchsorted_operation> {
  static constexpr tracer apply(context&, tracer sorted, tracer values) { return run(sorted, values, false); }
  static constexpr tracer apply(context&, tracer sorted, tracer values, right_side_t) {
    return run(sorted, values, true);
  }

 private:
  /// Both are sorted together; `right_side` decides on which side of equal elements a value stands. For each value, the
  /// elements of `sorted` that stand before it are counted.
  static constexpr tracer run(tracer sorted, tracer values, bool right) {
    context& trace = *sorted.owner;
    if (sorted.rank() != 1) {
      message text;
      text << "searchsorted: ";
      print_value(text, trace.extents, sorted.value());
      trace.fail(text << " is not one row; give a sorted array of one dimension");
      return values;
    }
    const dims shape = values.extents();
    const dim count = sorted.dimension(0), wanted = trace.extents.product(shape);
    build::promote_types(sorted, values);
    values = build::reshape(values, {wanted});
    const tracer both = right ? emit<primitives::concatenate>({sorted, values}, {0})
                              : emit<primitives::concatenate>({values, sorted}, {0});
    const tracer order = argsort_operation::arrange(both);
    const tracer first_ones = build::extent_value(trace, right ? count : wanted, element_type::int32);
    const tracer of_sorted = right ? order < first_ones : order >= first_ones;
    const tracer before = emit<primitives::cumsum>({build::convert(of_sorted, element_type::int32)}, {});
    const tracer by_place = emit<primitives::sort_by>({order, before}, {});
    const dim start = right ? count : dim{};
    return build::reshape(build::slice_axis(by_place, 0, start, trace.extents.add(start, wanted)), shape);
  }
};

} // namespace detail

/// Makes `searchsorted` place a value behind equal elements. JAX: side='right'
inline constexpr detail::right_side_t right_side{};
/// The sums of the elements up to each one along an axis, which stands last, or of all elements in row-major order:
/// `cumsum(x, 0)`, `cumsum(x, 0, in_reverse)`. Truth values are counted in int32. JAX: numpy.cumsum, lax.cumsum
inline constexpr detail::cumulative_operation<primitives::cumsum, true> cumsum{};
/// The products of the elements up to each one, like `cumsum`. JAX: numpy.cumprod, lax.cumprod
inline constexpr detail::cumulative_operation<primitives::cumprod, true> cumprod{};
/// The largest of the elements up to each one along an axis, 0 by default; NaN from the first one on. JAX: lax.cummax
inline constexpr detail::cumulative_operation<primitives::cummax, false> cummax{};
/// The smallest of the elements up to each one along an axis, 0 by default; NaN from the first one on. JAX: lax.cummin
inline constexpr detail::cumulative_operation<primitives::cummin, false> cummin{};
/// The logarithms of the sums of exponentials up to each element along an axis, 0 by default. JAX: lax.cumlogsumexp
inline constexpr detail::cumulative_operation<primitives::cumlogsumexp, false> cumlogsumexp{};

/// The elements in ascending order along an axis, the last by default. Equal elements keep their order; NaN comes last,
/// and -0 counts as 0. JAX: numpy.sort
inline constexpr detail::sort_operation sort{};
/// The positions, int32, that `sort` takes elements from. JAX: numpy.argsort
inline constexpr detail::argsort_operation argsort{};
/// `sort_key_val(keys, values, axis)`, in traced functions: a pair of the sorted keys and of the values in the order of
/// their keys, of the same shape; along the last axis by default, stable. JAX: lax.sort_key_val
inline constexpr detail::sort_key_val_operation sort_key_val{};
/// `top_k(x, k)`: a pair of the k largest elements along the last axis, from the largest down, and their positions,
/// int32. NaN counts as largest; of equal elements the first one comes first. JAX: lax.top_k
inline constexpr detail::top_k_operation top_k{};
/// `searchsorted(sorted, values)`: how many elements of the sorted row are below each value, int32; `right_side`: how
/// many are not above it. NaN is above all numbers. JAX: numpy.searchsorted
inline constexpr detail::searchsorted_operation searchsorted{};

} // namespace parallax::PARALLAX_INLINE_VERSION
