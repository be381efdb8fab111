// The same elements under another shape: reshaping, transposing, broadcasting.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/expressions/extent_arguments.hpp>

#include <concepts>
#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// What arrays outside of traced functions do, which rooms above know.
template <class X, std::size_t Rank> constexpr auto reshape_array(const X& x, const extent_list<Rank>& list);

/// Shapes: `shape`. Errors: another number of elements; a negative extent but for one -1; -1 beside an extent of 0.
struct reshape_operation : operation<reshape_operation> {
  using operation<reshape_operation>::operator();
  /// Reshapes an array without a copy: both share the memory.
  template <array_operand X, std::size_t N> constexpr auto operator()(const X& x, const extent (&shape)[N]) const {
    return reshape_array(x, list_of(shape));
  }
  template <array_operand X> constexpr auto operator()(const X& x, no_extents) const {
    return reshape_array(x, extent_list<0>{});
  }
  template <constant_expression X, std::size_t N>
  constexpr lazy<reshape_operation, X, extent_list<N>> operator()(const X& x, const extent (&shape)[N]) const {
    return {{x, list_of(shape)}};
  }
  template <constant_expression X>
  constexpr lazy<reshape_operation, X, extent_list<0>> operator()(const X& x, no_extents) const {
    return {{x, extent_list<0>{}}};
  }
  /// Reshapes. One extent may be -1: it becomes the number that keeps the size.
  template <std::size_t N> constexpr tracer operator()(tracer x, const extent (&shape)[N]) const {
    return run(x, shape);
  }
  constexpr tracer operator()(tracer x, no_extents) const { return run(x, {}); }
  template <std::size_t N> static constexpr tracer apply(context&, tracer x, const extent_list<N>& shape) {
    return run(x, shape.view());
  }

 private:
  static constexpr tracer run(tracer x, plain_span<const extent> shape) {
    context& trace = *x.owner;
    dim_table& t = trace.extents;
    if (!check_rank(trace, "reshape", count_of(shape))) return x;
    dims result;
    dim* open = nullptr; // the extent given as -1
    dim known{1};
    auto mismatch = [&](std::string_view advice) {
      message text;
      text << "reshape: cannot reshape array ";
      print_value(text, t, x.value());
      text << " of size ";
      print_extent(text, t, t.product(x.extents()));
      trace.fail(text << " into shape " << shape << advice);
      return x;
    };
    for (const extent& given : shape) {
      if (given.is_negative()) {
        if (open || given.number() != -1) return mismatch("; one extent may be -1, no other is negative");
        result.push_back(dim{1});
        open = result.end() - 1;
      } else {
        if (!are_extents(trace, "reshape", {&given, 1}, &x)) return x;
        result.push_back(given.as_dim());
        known = t.multiply(known, given.as_dim());
      }
    }
    dim total = t.product(x.extents());
    if (open) {
      if (known == 0) return mismatch("; -1 cannot be inferred beside an extent of 0");
      *open = t.divide(total, known);
      if (!is_static(known) && !(t.multiply(*open, known) == total))
        require(trace, guard_kind::not_zero, "reshape: -1 cannot be inferred beside an extent of 0", known, dim{},
                x.value());
    }
    dim after = t.product(result);
    if (is_static(total) && is_static(after) && !(total == after))
      return mismatch("; the numbers of elements must be equal");
    return build::reshape(x, result);
  }
};

/// Shapes: (number of elements). Errors: none.
struct ravel_operation : operation<ravel_operation> {
  static constexpr tracer apply(context& trace, tracer x) {
    return build::reshape(x, {trace.extents.product(x.extents())});
  }
};

/// Shapes: the extents of x in the order of the axes. Errors: axes that are not each named once.
struct transpose_operation : operation<transpose_operation> {
  using operation<transpose_operation>::operator();
  constexpr tracer operator()(tracer x, std::initializer_list<int> permutation) const {
    return run(x, {permutation.begin(), permutation.size()});
  }
  constexpr tracer operator()(tracer x, const axis_list& permutation) const { return run(x, permutation); }
  template <eager_operand X> constexpr auto operator()(const X& x, std::initializer_list<int> permutation) const {
    return call_with_constant<transpose_operation>(x, axis_list(permutation));
  }
  static constexpr tracer apply(context&, tracer x) {
    axis_list reversed;
    for (int i = x.rank(); i-- > 0;) reversed.push_back(i);
    return build::transpose(x, reversed);
  }
  template <int... Axes> static constexpr tracer apply(context&, tracer x, axis_t<Axes...>) {
    return run(x, axis_list{Axes...});
  }

 private:
  static constexpr tracer run(tracer x, plain_span<const int> permutation) {
    axis_list axes = normalize_axes(*x.owner, "transpose", permutation, x.rank());
    if (axes.size() != x.rank()) {
      x.owner->fail(message() << "transpose: " << axes.size() << " axes given for an array of dimension " << x.rank()
                              << "; name every axis once");
      return x;
    }
    return build::transpose(x, axes);
  }
};

/// Shapes: the extents of x in the order of the axes. Errors: an axis that x does not have.
struct moveaxis_operation : operation<moveaxis_operation>, takes_constants_and_numbers<moveaxis_operation> {
  using operation<moveaxis_operation>::operator();
  using takes_constants_and_numbers<moveaxis_operation>::operator();
  constexpr tracer operator()(tracer x, axis_number_type auto from, axis_number_type auto to) const {
    const int first = normalize_axis(*x.owner, "moveaxis", as_axis(from), x.rank());
    const int last = normalize_axis(*x.owner, "moveaxis", as_axis(to), x.rank());
    return x.owner->failed ? x : build::move_axis(x, first, last);
  }
  template <int From, int To> static constexpr tracer apply(context&, tracer x, axis_t<From>, axis_t<To>) {
    return moveaxis_operation{}(x, From, To);
  }
};

/// Shapes: `shape`. Errors: fewer extents than x has; an extent of x that is neither 1 nor the new one.
struct broadcast_to_operation : operation<broadcast_to_operation> {
  using operation<broadcast_to_operation>::operator();
  template <eager_operand X, std::size_t N>
  constexpr lazy<broadcast_to_operation, X, extent_list<N>> operator()(const X& x, const extent (&shape)[N]) const {
    return {{x, list_of(shape)}};
  }
  template <eager_operand X>
  constexpr lazy<broadcast_to_operation, X, extent_list<0>> operator()(const X& x, no_extents) const {
    return {{x, extent_list<0>{}}};
  }
  template <std::size_t N> constexpr tracer operator()(tracer x, const extent (&shape)[N]) const {
    return run(x, shape);
  }
  constexpr tracer operator()(tracer x, no_extents) const { return run(x, {}); }
  template <std::size_t N> static constexpr tracer apply(context&, tracer x, const extent_list<N>& shape) {
    return run(x, shape.view());
  }

 private:
  static constexpr tracer mismatch(tracer x, plain_span<const extent> shape, std::string_view advice) {
    message text;
    text << "broadcast_to: cannot broadcast ";
    print_value(text, x.owner->extents, x.value());
    x.owner->fail(text << " to shape " << shape << advice);
    return x;
  }
  static constexpr tracer run(tracer x, plain_span<const extent> given) {
    const int count = count_of(given);
    const dims result = dims_of(*x.owner, "broadcast_to", given, &x);
    if (x.owner->failed) return x;
    if (count < x.rank()) return mismatch(x, given, "; give at least as many extents as the array has");
    for (int i = 0; i < x.rank(); ++i) {
      dim from = x.dimension(i), to = result[count - x.rank() + i];
      if (is_static(from) && is_static(to) && !(from == 1) && !(from == to))
        return mismatch(x, given, "; each extent stays or was 1");
    }
    return build::broadcast_to(x, result);
  }
};

/// Shapes: that of x with an extent of 1 more. Errors: an axis that the result does not have; more than 8 dimensions.
struct expand_dims_operation : operation<expand_dims_operation>, takes_constants_and_numbers<expand_dims_operation> {
  using operation<expand_dims_operation>::operator();
  using takes_constants_and_numbers<expand_dims_operation>::operator();
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number) const {
    int normal = normalize_axis(*x.owner, "expand_dims", as_axis(axis_number), x.rank() + 1);
    if (x.owner->failed || !check_rank(*x.owner, "expand_dims", x.rank() + 1)) return x;
    dims shape = x.extents();
    shape.insert(normal, dim{1});
    return build::reshape(x, shape);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) {
    return expand_dims_operation{}(x, Axis);
  }
};

/// Shapes: that of x without the axis. Errors: an axis that x does not have, or whose extent is not 1.
struct squeeze_operation : operation<squeeze_operation>, takes_constants_and_numbers<squeeze_operation> {
  using operation<squeeze_operation>::operator();
  using takes_constants_and_numbers<squeeze_operation>::operator();
  constexpr tracer operator()(tracer x, axis_number_type auto axis_number) const {
    int normal = normalize_axis(*x.owner, "squeeze", as_axis(axis_number), x.rank());
    if (x.owner->failed) return x;
    if (is_static(x.dimension(normal)) && !(x.dimension(normal) == 1)) {
      message text;
      text << "squeeze: cannot select an axis to squeeze out which has size not equal to one, got axis "
           << as_axis(axis_number) << " of ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; choose an axis of extent 1");
      return x;
    }
    dims shape = x.extents();
    shape.erase(normal);
    return build::reshape(x, shape);
  }
  /// Without an axis: removes all axes whose extent is known to be 1.
  static constexpr tracer apply(context&, tracer x) {
    dims shape;
    for (dim d : x.extents())
      if (!(d == 1)) shape.push_back(d);
    return build::reshape(x, shape);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) {
    return squeeze_operation{}(x, Axis);
  }
};

} // namespace detail

/// `reshape(x, {2, -1})`: the same elements in row-major order; one extent may be -1. JAX: numpy.reshape
inline constexpr detail::reshape_operation reshape{};
/// The elements in row-major order along one axis. JAX: numpy.ravel
inline constexpr detail::ravel_operation ravel{};
/// `transpose(x)` reverses the axes; `transpose(x, {1, 0, 2})`: result axis k is operand axis permutation[k]. JAX:
/// numpy.transpose
inline constexpr detail::transpose_operation transpose{};
/// `moveaxis(x, from, to)` in traced functions, `moveaxis(x, axis<2>, axis<0>)` on arrays: one axis in another place,
/// the others in their order. JAX: numpy.moveaxis
inline constexpr detail::moveaxis_operation moveaxis{};
/// `broadcast_to(x, {3, 4})`: x repeated along new leading axes and along those of extent 1. JAX: numpy.broadcast_to
inline constexpr detail::broadcast_to_operation broadcast_to{};
/// `expand_dims(x, axis)`: a new axis of extent 1 at that place of the result. JAX: numpy.expand_dims
inline constexpr detail::expand_dims_operation expand_dims{};
/// `squeeze(x, axis)`: x without an axis of extent 1. JAX: numpy.squeeze
inline constexpr detail::squeeze_operation squeeze{};

} // namespace parallax::PARALLAX_INLINE_VERSION
