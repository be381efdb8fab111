// Arithmetic on tracers, for the rules of primitives and for the operations that users call: types are promoted and
// shapes broadcast as in NumPy.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/scalar.hpp>
#include <parallax/primitives/building/sources.hpp>
#include <parallax/primitives/building/structural_parameters.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace build {

/// A constant. The types that it is used with represent `value` exactly.
constexpr tracer literal(context& trace, element_type type, double value, bool weak = false) {
  switch (type) {
  case element_type::float16: value = static_cast<double>(float16(value)); break;
  case element_type::bfloat16: value = static_cast<double>(bfloat16(value)); break;
  case element_type::float32: value = static_cast<double>(static_cast<float>(value)); break;
  case element_type::float64:
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break;
  }
  return emit<primitives::literal>(trace, {type, weak, std::bit_cast<std::int64_t>(value)});
}
constexpr tracer integer_literal(context& trace, element_type type, std::int64_t value, bool weak = false) {
  if (has_double_literal(type)) return literal(trace, type, static_cast<double>(value), weak);
  return emit<primitives::literal>(trace, {type, weak, value});
}
template <scalar T> constexpr tracer scalar_literal(context& trace, T value, element_type type, bool weak) {
  if constexpr (has_double_literal(scalar_type_of<T>)) return literal(trace, type, static_cast<double>(value), weak);
  else return integer_literal(trace, type, static_cast<std::int64_t>(value), weak);
}
template <scalar T> constexpr tracer weak_literal(context& trace, T value) {
  return scalar_literal(trace, value, scalar_type_of<T>, true);
}
constexpr tracer like(tracer x, double value) {
  return has_double_literal(x.type()) ? literal(*x.owner, x.type(), value)
                                      : integer_literal(*x.owner, x.type(), static_cast<std::int64_t>(value));
}

constexpr tracer convert(tracer x, element_type type) {
  if (x.type() == type && !x.weak()) return x;
  if (is<primitives::literal>(x) && (has_double_literal(type) || !has_double_literal(x.type()))) {
    auto constant = parameters_of<primitives::literal>(x);
    if (has_double_literal(x.type())) return literal(*x.owner, type, constant.as_double());
    if (has_double_literal(type) && x.type() == element_type::uint64)
      return literal(*x.owner, type, static_cast<double>(static_cast<std::uint64_t>(constant.bits)));
    if (type != element_type::boolean) return integer_literal(*x.owner, type, constant.bits);
  }
  return emit<primitives::convert>({x}, primitives::conversion_parameters{type});
}

/// Converts 16-bit floating types to float32: their sums, counts and small factors may not be representable in 16 bits.
constexpr abstract_value widen(abstract_value x) {
  if (is_half_precision(x.type)) x.type = element_type::float32;
  return x;
}
constexpr tracer widen(tracer x) { return is_half_precision(x.type()) ? convert(x, element_type::float32) : x; }

/// Operand axis k becomes result axis axes[k]; other axes repeat the operand. JAX: lax.broadcast_in_dim.
constexpr tracer broadcast_in_dim(tracer x, const dims& shape, const axis_list& axes) {
  if (x.extents() == shape || !check_rank(*x.owner, "broadcast_in_dim", shape.size())) return x;
  return emit<primitives::broadcast_in_dim>({x}, primitives::broadcast_parameters{shape, axes});
}
/// NumPy's broadcast_to: the operand's axes become the last ones.
constexpr tracer broadcast_to(tracer x, const dims& shape) {
  axis_list axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(shape.size() - x.rank() + i);
  return broadcast_in_dim(x, shape, axes);
}
constexpr tracer reshape(tracer x, const dims& shape) {
  if (x.extents() == shape || !check_rank(*x.owner, "reshape", shape.size())) return x;
  return emit<primitives::reshape>({x}, primitives::reshape_parameters{shape});
}
/// Result axis k is operand axis permutation[k].
constexpr tracer transpose(tracer x, const axis_list& permutation) {
  bool identity = true;
  for (int i = 0; i < permutation.size(); ++i) identity = identity && permutation[i] == i;
  return identity ? x : emit<primitives::transpose>({x}, primitives::transpose_parameters{permutation});
}
constexpr tracer move_axis(tracer x, int from, int to) {
  axis_list permutation;
  for (int i = 0; i < x.rank(); ++i)
    if (i != from) permutation.push_back(i);
  permutation.insert(to, from);
  return transpose(x, permutation);
}
/// A new axis of the given extent, along which the operand repeats.
constexpr tracer insert_axis(tracer x, int axis, dim size) {
  dims shape = x.extents();
  shape.insert(axis, size);
  axis_list axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i < axis ? i : i + 1);
  return broadcast_in_dim(x, shape, axes);
}
/// The value with its mapped axis at `to`; an unmapped value repeats along a new axis there.
constexpr tracer mapped_at(const batched& x, int to, dim size) {
  return x.is_mapped() ? move_axis(x.value, x.axis, to) : insert_axis(x.value, to, size);
}
/// The elements from start to limit of one axis, `stride` apart.
constexpr tracer slice_axis(tracer x, int axis, dim start, dim limit, std::int64_t stride = 1) {
  primitives::slice_parameters bounds;
  for (int i = 0; i < x.rank(); ++i) {
    bounds.start.push_back(i == axis ? start : dim{});
    bounds.limit.push_back(i == axis ? limit : x.dimension(i));
    bounds.stride.push_back(i == axis ? stride : 1);
  }
  return emit<primitives::slice>({x}, bounds);
}
template <class Reduction> constexpr tracer reduce(tracer x, const axis_list& axes) {
  if (axes.empty()) return x;
  if constexpr (std::same_as<Reduction, primitives::reduce_sum>) // rounded once
    if (is_half_precision(x.type()))
      return convert(reduce<Reduction>(convert(x, element_type::float32), axes), x.type());
  axis_list ascending;
  for (int axis : axes) {
    int at = ascending.size();
    while (at > 0 && ascending[at - 1] > axis) --at;
    ascending.insert(at, axis);
  }
  return emit<Reduction>({x}, primitives::reduction_parameters{ascending});
}
constexpr tracer sum(tracer x, const axis_list& axes) { return reduce<primitives::reduce_sum>(x, axes); }
constexpr tracer sum(tracer x, int axis) { return sum(x, axis_list{axis}); }
constexpr tracer sum_all(tracer x) { return sum(x, all_axes(x.rank())); }
constexpr tracer zeros(context& trace, const abstract_value& like) {
  return broadcast_to(integer_literal(trace, like.type, 0), like.shape);
}
constexpr tracer zeros_like(tracer x) { return zeros(*x.owner, x.value()); }
constexpr tracer select(tracer condition, tracer on_true, tracer on_false) {
  return emit<primitives::select>({condition, on_true, on_false});
}
/// Converts a value. If a 16-bit value was rounded from float32, and only its sign or shape has changed since, the
/// conversion to float32 takes the unrounded value.
constexpr tracer convert_unrounded(tracer x, element_type type) {
  if (is_half_precision(x.type()) && type == element_type::float32) {
    const auto operand = [&x] { return tracer(x.owner, x.scope, x.home().operand(x.id, 0)); };
    if (is<primitives::convert>(x) && operand().type() == type) return operand();
    if (is<primitives::reshape>(x)) return reshape(convert_unrounded(operand(), type), x.extents());
    if (is<primitives::negative>(x)) return emit<primitives::negative>({convert_unrounded(operand(), type)});
  }
  return convert(x, type);
}
/// The size of a mapped axis, or any extent, as a scalar of the given type.
constexpr tracer extent_value(context& trace, dim extent, element_type type) {
  if (is_static(extent)) return integer_literal(trace, type, extent.number());
  return emit<primitives::extent_value>(trace, {type, extent});
}

/// An extent as an operand: int32, or int64 if it is known not to fit into int32.
constexpr tracer extent_number(context& trace, extent x) {
  if (!x.known()) return extent_value(trace, x.as_dim(), element_type::int32);
  const bool fits = std::in_range<std::int32_t>(x.number());
  return integer_literal(trace, fits ? element_type::int32 : element_type::int64, x.number());
}

/// The shape that NumPy broadcasts two shapes to.
constexpr dims broadcast_shapes(std::string_view operation, tracer a, tracer b) {
  context& trace = *a.owner;
  dims left = a.extents(), right = b.extents(), result;
  int rank = left.size() > right.size() ? left.size() : right.size();
  for (int i = 0; i < rank; ++i) {
    int l = i - (rank - left.size()), r = i - (rank - right.size());
    if (l < 0) result.push_back(right[r]);
    else if (r < 0 || right[r] == 1) result.push_back(left[l]);
    else if (left[l] == 1) result.push_back(right[r]);
    else
      result.push_back(unify(trace, operation, left[l], right[r], a.value(), b.value(),
                             "make these extents equal, or one of them 1", guard_kind::broadcast_extents));
  }
  return result;
}

/// Converts two operands to one type: a weakly typed scalar takes the other's type, unless the scalar's category is
/// higher. So a `double` beside whole numbers gives float64, a `float` float32, and both take on the type of other
/// floats.
constexpr void promote_types(tracer& a, tracer& b) {
  element_type type;
  bool weak = false;
  if (a.weak() == b.weak()) {
    type = promote(a.type(), b.type());
    weak = a.weak();
  } else {
    const tracer& strong = a.weak() ? b : a;
    const tracer& other = a.weak() ? a : b;
    type = category_of(other.type()) > category_of(strong.type()) ? other.type() : strong.type();
  }
  if (a.type() != type || (!weak && a.weak())) a = convert(a, type);
  if (b.type() != type || (!weak && b.weak())) b = convert(b, type);
}

/// Broadcasts operands to one shape. Scalars stay scalars: every elementwise primitive takes them beside arrays.
constexpr void promote_shapes(std::string_view operation, tracer& a, tracer& b) {
  if (a.rank() == 0 || b.rank() == 0) return;
  dims shape = broadcast_shapes(operation, a, b);
  auto agrees = [](tracer x, const dims& to) {
    if (x.rank() != to.size()) return false;
    for (int i = 0; i < to.size(); ++i)
      if (x.dimension(i) == 1 && !(to[i] == 1)) return false;
    return true;
  };
  if (!agrees(a, shape)) a = broadcast_to(a, shape);
  if (!agrees(b, shape)) b = broadcast_to(b, shape);
}

template <class Primitive> constexpr tracer binary(std::string_view name, tracer a, tracer b) {
  promote_types(a, b);
  promote_shapes(name, a, b);
  return emit<Primitive>({a, b});
}

/// An operand of a traced operation as a tracer: a C++ scalar becomes a weakly typed constant.
template <class T> constexpr tracer operand(context& trace, T x) {
  if constexpr (traced<T>) return x;
  else if constexpr (std::same_as<T, extent>) return extent_number(trace, x);
  else if constexpr (parallax::detail::a_count<T>) return extent_number(trace, extent(x));
  else return weak_literal(trace, x);
}

} // namespace build

} // namespace parallax::PARALLAX_INLINE_VERSION
