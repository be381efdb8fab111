// Arrays from nothing: constants and indices.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/expressions/extent_arguments.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <element T> struct full_operation : operation<full_operation<T>> {
  template <std::size_t N> static constexpr tracer apply(context& trace, const extent_list<N>& shape, tracer value) {
    return build::broadcast_to(build::convert(value, element_type_of<T>), dims_of(trace, "full", shape));
  }
};

/// Checks that 32 bits can hold the numbers of an axis: an error if they cannot, a guard if only the call knows.
constexpr void require_32_bits(context& trace, std::string_view operation, dim extent) {
  if (!is_static(extent)) return require(trace, guard_kind::within_32_bits, operation, extent, dim{}, {});
  if (std::in_range<std::int32_t>(extent.number())) return;
  trace.fail(message() << operation << ": " << extent.number() << " is no int32 number; " << operation
                       << "<std::int64_t> has numbers of 64 bits");
}

template <element T> struct iota_operation : operation<iota_operation<T>> {
  template <std::size_t N, int Axis>
  static constexpr tracer apply(context& trace, const extent_list<N>& shape, axis_t<Axis>) {
    constexpr std::string_view name = N == 1 ? "arange" : "broadcasted_iota";
    const dims extents = dims_of(trace, name, shape);
    if (trace.failed) return build::literal(trace, element_type::float32, 0);
    if constexpr (std::same_as<T, std::int32_t>) require_32_bits(trace, name, extents[Axis]);
    return emit<primitives::iota>(trace, {element_type_of<T>, Axis, extents});
  }
};

struct full_like_operation : operation<full_like_operation> {
  static constexpr tracer apply(context&, tracer x, tracer value) {
    return build::broadcast_to(build::convert(value, x.type()), x.extents());
  }
};

} // namespace detail

/// An array of one value. Shapes: `shape`. Errors: a negative extent. JAX: numpy.full
template <element T = float, std::size_t N, detail::scalar Value>
constexpr auto full(const extent (&shape)[N], Value value) {
  return lazy<detail::full_operation<T>, extent_list<N>, Value>{{detail::list_of(shape), value}};
}
template <element T = float, detail::scalar Value> constexpr auto full(detail::no_extents, Value value) {
  return lazy<detail::full_operation<T>, extent_list<0>, Value>{{extent_list<0>{}, value}};
}
/// An array of zeros, float32 unless said otherwise. Shapes: `shape`. Errors: a negative extent. JAX: numpy.zeros
template <element T = float, std::size_t N> constexpr auto zeros(const extent (&shape)[N]) {
  return full<T>(shape, T{0});
}
template <element T = float> constexpr auto zeros(detail::no_extents shape) { return full<T>(shape, T{0}); }
/// An array of ones, float32 unless said otherwise. Shapes: `shape`. Errors: a negative extent. JAX: numpy.ones
template <element T = float, std::size_t N> constexpr auto ones(const extent (&shape)[N]) {
  return full<T>(shape, T{1});
}
template <element T = float> constexpr auto ones(detail::no_extents shape) { return full<T>(shape, T{1}); }
/// An array shaped and typed like another. Shapes: that of x. Errors: none. JAX: numpy.full_like
template <class X, class Value> constexpr auto full_like(const X& x, Value value) {
  return detail::full_like_operation{}(x, value);
}
/// Zeros, shaped and typed like another array. Shapes: that of x. Errors: none. JAX: numpy.zeros_like
template <class X> constexpr auto zeros_like(const X& x) { return full_like(x, 0); }
/// Ones, shaped and typed like another array. Shapes: that of x. Errors: none. JAX: numpy.ones_like
template <class X> constexpr auto ones_like(const X& x) { return full_like(x, 1); }
/// 0, 1, ..., size - 1, int32 unless said otherwise; more numbers than int32 has are an error. Shapes: (size). Errors:
/// a negative size. JAX: numpy.arange, lax.iota
template <element T = std::int32_t> constexpr auto arange(extent size) {
  return lazy<detail::iota_operation<T>, extent_list<1>, axis_t<0>>{{extent_list<1>{{size}}, {}}};
}
/// `arange` by its other name. Shapes: (size). Errors: as of `arange`. JAX: lax.iota
template <element T = std::int32_t> constexpr auto iota(extent size) { return arange<T>(size); }
/// The index along an axis of a shape. Shapes: `shape`. Errors: an axis that the shape does not have; a negative
/// extent. JAX: lax.broadcasted_iota
template <element T, int Axis, std::size_t N> constexpr auto broadcasted_iota(const extent (&shape)[N]) {
  static_assert(Axis >= 0 && Axis < N, "parallax: broadcasted_iota: the axis is not one of the shape's");
  return lazy<detail::iota_operation<T>, extent_list<N>, axis_t<Axis>>{{detail::list_of(shape), {}}};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
