// Reductions under NumPy's names: over all axes, or over given axes, which stay with extent 1 under `keepdims`.
#pragma once

#include <parallax/core/support/diagnostics.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/math/elementwise.hpp>
#include <parallax/primitives/arrays/softmax.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The shape with the reduced axes back in, as extents of 1.
constexpr tracer restore_axes(tracer reduced, tracer original, const axis_list& axes) {
  dims shape = original.extents();
  for (int number : axes) shape[number] = dim{1};
  return build::reshape(reduced, shape);
}

/// `Derived::reduce(x, axes)` reduces; this adds calls for each form of axes. Shapes: that of x without the axes, which
/// `keepdims` leaves with extent 1. Errors: an axis that x does not have, or that is named twice.
template <class Derived> struct axis_reduction : operation<Derived>, takes_constants_and_numbers<Derived> {
  using operation<Derived>::operator();
  using takes_constants_and_numbers<Derived>::operator();
  template <keeps_axes... Keep>
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number, Keep... keep) const {
    return run(x, axis_list{as_axis(axis_number)}, are_kept(keep...));
  }
  template <keeps_axes... Keep>
  constexpr tracer operator()(tracer x, std::initializer_list<int> axes, Keep... keep) const {
    return run(x, {axes.begin(), axes.size()}, are_kept(keep...));
  }
  template <keeps_axes... Keep> constexpr tracer operator()(tracer x, const axis_list& axes, Keep... keep) const {
    return run(x, axes, are_kept(keep...));
  }
  template <eager_operand X, keeps_axes... Keep>
  constexpr auto operator()(const X& x, std::initializer_list<int> axes, Keep... keep) const {
    return call_with_constant<Derived>(x, axis_list(axes), keep...);
  }
  static constexpr tracer apply(context&, tracer x) { return Derived::reduce(x, all_axes(x.rank())); }
  static constexpr tracer apply(context&, tracer x, keepdims_t) {
    return restore_axes(Derived::reduce(x, all_axes(x.rank())), x, all_axes(x.rank()));
  }
  template <int... Axes> static constexpr tracer apply(context&, tracer x, axis_t<Axes...>) {
    return run(x, axis_list{Axes...}, false);
  }
  template <int... Axes> static constexpr tracer apply(context&, tracer x, axis_t<Axes...>, keepdims_t) {
    return run(x, axis_list{Axes...}, true);
  }

 private:
  static constexpr tracer run(tracer x, plain_span<const int> axes, bool keep) {
    axis_list normal = normalize_axes(*x.owner, Derived::name, axes, x.rank());
    if (x.owner->failed) return x;
    tracer reduced = Derived::reduce(x, normal);
    return keep ? restore_axes(reduced, x, normal) : reduced;
  }
};

/// The number of elements under the given axes, as a scalar of the given type.
constexpr tracer element_count(tracer x, const axis_list& axes, element_type type) {
  dim count{1};
  for (int number : axes) count = x.owner->extents.multiply(count, x.dimension(number));
  return build::extent_value(*x.owner, count, type);
}

struct sum_operation : axis_reduction<sum_operation> {
  static constexpr std::string_view name = "sum";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    // NumPy sums truth values and small integers as integers of at least 32 bits
    if (x.type() == element_type::boolean) x = build::convert(x, element_type::int32);
    if (x.type() == element_type::uint8) x = build::convert(x, element_type::uint32);
    return build::sum(x, axes);
  }
};
/// Requires an element for an extreme: an axis without elements is the error `error`, or gets a guard if only the call
/// knows its extent.
constexpr bool have_elements(tracer x, const axis_list& axes, std::string_view error) {
  for (int number : axes) {
    dim size = x.dimension(number);
    if (size == 0) {
      message text;
      text << error << " (axis " << number << "), for ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; reduce axes that have elements");
      return false;
    }
    if (!is_static(size)) require(*x.owner, guard_kind::not_zero, error, size, dim{}, x.value());
  }
  return true;
}

/// Shapes: that of x without the axes, which `keepdims` leaves with extent 1. Errors: an axis that x does not have, or
/// that is named twice; axes without elements.
struct max_operation : axis_reduction<max_operation> {
  static constexpr std::string_view name = "max";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    if (!have_elements(x, axes, "max: zero-size array to reduction operation max which has no identity")) return x;
    return build::reduce<primitives::reduce_max>(x, axes);
  }
};
/// Shapes: that of x without the axes, which `keepdims` leaves with extent 1. Errors: an axis that x does not have, or
/// that is named twice; axes without elements.
struct min_operation : axis_reduction<min_operation> {
  static constexpr std::string_view name = "min";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    if (!have_elements(x, axes, "min: zero-size array to reduction operation min which has no identity")) return x;
    return build::reduce<primitives::reduce_min>(x, axes);
  }
};
struct any_operation : axis_reduction<any_operation> {
  static constexpr std::string_view name = "any";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    return build::reduce<primitives::reduce_max>(to_truth(x), axes);
  }
};
struct all_operation : axis_reduction<all_operation> {
  static constexpr std::string_view name = "all";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    return build::reduce<primitives::reduce_min>(to_truth(x), axes);
  }
};
/// Converts 16-bit floating types to float32, since their sums may exceed their range.
constexpr tracer to_wide(tracer x) { return build::widen(x); }

struct mean_operation : axis_reduction<mean_operation> {
  static constexpr std::string_view name = "mean";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    x = to_inexact(x);
    tracer wide = to_wide(x);
    return build::convert(build::sum(wide, axes) / element_count(wide, axes, wide.type()), x.type());
  }
};
struct var_operation : axis_reduction<var_operation> {
  static constexpr std::string_view name = "var";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    x = to_inexact(x);
    tracer wide = to_wide(x), centered = wide - restore_axes(mean_operation::reduce(wide, axes), wide, axes);
    return build::convert(mean_operation::reduce(centered * centered, axes), x.type());
  }
};
/// log(sum(exp(x))), shifted by the maximum so that it neither overflows nor loses all digits. For 16-bit types all but
/// the logarithm is in float32, since the sum may exceed their range.
struct logsumexp_operation : axis_reduction<logsumexp_operation> {
  static constexpr std::string_view name = "logsumexp";
  static constexpr tracer reduce(tracer x, const axis_list& axes) {
    const element_type type = to_inexact(x).type();
    x = to_wide(to_inexact(x));
    tracer largest = build::reduce<primitives::reduce_max>(x, axes);
    largest = emit<primitives::stop_gradient>(
        {build::select(emit<primitives::is_finite>({largest}), largest, build::like(largest, 0))});
    tracer shifted = emit<primitives::exp>({x - restore_axes(largest, x, axes)});
    return build::convert(emit<primitives::log>({build::sum(shifted, axes)}) + largest, type);
  }
};

/// Shapes: that of x without the axis, which `keepdims` leaves with extent 1; a number without an axis. Errors: an axis
/// that x does not have; no elements.
template <class Primitive>
struct position_operation : operation<position_operation<Primitive>>,
                            takes_constants_and_numbers<position_operation<Primitive>> {
  using operation<position_operation<Primitive>>::operator();
  using takes_constants_and_numbers<position_operation<Primitive>>::operator();
  template <keeps_axes... Keep>
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number, Keep... keep) const {
    return run(x, as_axis(axis_number), are_kept(keep...));
  }
  /// Without an axis: the position in row-major order.
  static constexpr tracer apply(context& trace, tracer x) {
    if (!have_elements(x, all_axes(x.rank()), empty)) return x;
    return emit<Primitive>({build::reshape(x, {trace.extents.product(x.extents())})}, {{0}});
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) { return run(x, Axis, false); }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>, keepdims_t) {
    return run(x, Axis, true);
  }

 private:
  static constexpr std::string_view empty = std::same_as<Primitive, primitives::argmax>
                                                ? "argmax: attempt to get argmax of an empty sequence"
                                                : "argmin: attempt to get argmin of an empty sequence";
  static constexpr tracer run(tracer x, int axis_number, bool keep) {
    int normal = normalize_axis(*x.owner, Primitive::name, axis_number, x.rank());
    if (x.owner->failed || !have_elements(x, {normal}, empty)) return x;
    tracer position = emit<Primitive>({x}, {{normal}});
    return keep ? restore_axes(position, x, {normal}) : position;
  }
};

/// A function of rows, along the last axis by default: `Derived::along(x, axis)` computes it; this adds calls for each
/// form of an axis. Shapes: that of x. Errors: an axis that x does not have.
template <class Derived> struct row_operation : operation<Derived>, takes_constants_and_numbers<Derived> {
  using operation<Derived>::operator();
  using takes_constants_and_numbers<Derived>::operator();
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number) const {
    return run(x, as_axis(axis_number));
  }
  static constexpr tracer apply(context&, tracer x) { return run(x, -1); }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) { return run(x, Axis); }

 private:
  static constexpr tracer run(tracer x, int axis_number) {
    const int normal = normalize_axis(*x.owner, Derived::name, axis_number, x.rank());
    return x.owner->failed ? x : Derived::along(x, normal);
  }
};

struct softmax_operation : row_operation<softmax_operation> {
  static constexpr std::string_view name = "softmax";
  static constexpr tracer along(tracer x, int axis_number) {
    x = to_inexact(x);
    axis_list axes{axis_number};
    tracer fixed = to_wide(emit<primitives::stop_gradient>({x}));
    tracer largest = build::reduce<primitives::reduce_max>(fixed, axes);
    tracer shifted = emit<primitives::exp>({fixed - restore_axes(largest, x, axes)});
    tracer shares = shifted / restore_axes(build::sum(shifted, axes), x, axes);
    return emit<primitives::as_softmax>({x, build::convert(shares, x.type())},
                                        primitives::as_softmax::parameters{axis_number});
  }
};

} // namespace detail

/// The sum over axes, or over all of them: `sum(x)`, `sum(x, 0)`, `sum(x, {0, 2})`. Truth values are counted in int32.
/// JAX: numpy.sum
inline constexpr detail::sum_operation sum{};
/// The largest element over axes, or over all of them; NaN if an element is NaN. JAX: numpy.max
inline constexpr detail::max_operation max{};
/// The smallest element over axes, or over all of them; NaN if an element is NaN. JAX: numpy.min
inline constexpr detail::min_operation min{};
/// Whether any element is not 0, over axes or all of them. JAX: numpy.any
inline constexpr detail::any_operation any{};
/// Whether no element is 0, over axes or all of them. JAX: numpy.all
inline constexpr detail::all_operation all{};
/// The mean over axes, or over all of them; of integers in float32. JAX: numpy.mean
inline constexpr detail::mean_operation mean{};
/// The population variance over axes, or over all of them: the mean of the squares of what differs from the mean; of
/// integers in float32. JAX: numpy.var
inline constexpr detail::var_operation var{};
/// log(sum(exp(x))) over axes, or over all of them, which does not overflow; of integers in float32. JAX:
/// scipy.special.logsumexp
inline constexpr detail::logsumexp_operation logsumexp{};
/// The first position of the largest element: along an axis, or in row-major order without one. int32; the first NaN
/// wins. JAX: numpy.argmax
inline constexpr detail::position_operation<primitives::argmax> argmax{};
/// The first position of the smallest element, as `argmax` says. JAX: numpy.argmin
inline constexpr detail::position_operation<primitives::argmin> argmin{};
/// exp(x) / sum(exp(x)) along an axis, the last by default. JAX: nn.softmax
inline constexpr detail::softmax_operation softmax{};

} // namespace parallax::PARALLAX_INLINE_VERSION
