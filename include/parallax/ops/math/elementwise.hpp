// Operations element by element, under NumPy's names. All broadcast, and promote types as JAX does.
#pragma once

#include <parallax/core/types/activation.hpp> // which g++ would say that operations shadow, if it came later
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>
#include <parallax/primitives/math/power.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A function of one operand; `Inexact` ones turn integers into float32 first. Shapes: that of x. Errors: none.
template <class Primitive, bool Inexact> struct unary : operation<unary<Primitive, Inexact>> {
  static constexpr tracer apply(context&, tracer x) { return emit<Primitive>({Inexact ? to_inexact(x) : x}); }
};

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1.
template <class Primitive> struct binary : operation<binary<Primitive>> {
  static constexpr tracer apply(context&, tracer a, tracer b) {
    return build::binary<Primitive>(Primitive::name, a, b);
  }
};

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1.
struct true_divide_operation : operation<true_divide_operation> {
  static constexpr tracer apply(context&, tracer a, tracer b) { return a / b; }
};

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1; a negative
/// constant as exponent of whole numbers.
struct power_operation : operation<power_operation> {
  static constexpr tracer apply(context&, tracer a, tracer b) {
    if (a.type() == element_type::boolean) a = build::convert(a, element_type::int32);
    // an integer constant as exponent is a product
    if (is<primitives::literal>(b) && b.weak() && b.type() == element_type::int32) {
      const std::int64_t exponent = parameters_of<primitives::literal>(b).bits;
      if (exponent < 0 && !is_inexact(a.type())) {
        a.owner->fail(message() << "power: Integers cannot be raised to negative powers, got integer_pow " << exponent
                                << "; convert them with astype first");
        return a;
      }
      return emit<primitives::integer_power>({a}, {exponent});
    }
    return build::binary<primitives::power>("power", a, b);
  }
};

/// Shapes: that of x. Errors: truth values.
struct square_operation : operation<square_operation> {
  static constexpr tracer apply(context&, tracer x) { return emit<primitives::integer_power>({x}, {2}); }
};
/// Shapes: that of x. Errors: none.
struct reciprocal_operation : operation<reciprocal_operation> {
  static constexpr tracer apply(context&, tracer x) { return 1 / x; }
};

/// Shapes: that of x. Errors: none.
struct floor_operation : operation<floor_operation> {
  static constexpr tracer apply(context&, tracer x) { return is_inexact(x.type()) ? emit<primitives::floor>({x}) : x; }
};

constexpr tracer to_truth(tracer x) { return x.type() == element_type::boolean ? x : x != 0; }

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1.
template <class Primitive> struct logical : operation<logical<Primitive>> {
  static constexpr tracer apply(context&, tracer a, tracer b) {
    return build::binary<Primitive>(Primitive::name, to_truth(a), to_truth(b));
  }
};
/// Shapes: that of x. Errors: none.
struct logical_not_operation : operation<logical_not_operation> {
  static constexpr tracer apply(context&, tracer x) { return emit<primitives::bitwise_not>({to_truth(x)}); }
};

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1.
struct where_operation : operation<where_operation> {
  static constexpr tracer apply(context&, tracer condition, tracer on_true, tracer on_false) {
    condition = to_truth(condition);
    build::promote_types(on_true, on_false);
    build::promote_shapes("where", on_true, on_false);
    build::promote_shapes("where", condition, on_true);
    build::promote_shapes("where", condition, on_false);
    build::promote_shapes("where", on_true, on_false);
    return build::select(condition, on_true, on_false);
  }
};

/// Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1.
struct clip_operation : operation<clip_operation> {
  static constexpr tracer apply(context&, tracer x, tracer low, tracer high) {
    return build::binary<primitives::minimum>("clip", build::binary<primitives::maximum>("clip", x, low), high);
  }
};

/// The element type given as an empty object, so that it can be part of an expression's type.
template <element T> struct type_tag {};

struct astype_operation : operation<astype_operation> {
  template <element T> static constexpr tracer apply(context&, tracer x, type_tag<T>) {
    return build::convert(x, element_type_of<T>);
  }
};
struct bitcast_operation : operation<bitcast_operation> {
  template <element T> static constexpr tracer apply(context&, tracer x, type_tag<T>) {
    return emit<primitives::bitcast>({x}, {element_type_of<T>});
  }
};

} // namespace detail

/// e to the power x. Integers become float32. JAX: numpy.exp
inline constexpr detail::unary<primitives::exp, true> exp{};
/// The natural logarithm; NaN below 0. Integers become float32. JAX: numpy.log
inline constexpr detail::unary<primitives::log, true> log{};
/// log(1 + x), exact near 0. Integers become float32. JAX: numpy.log1p
inline constexpr detail::unary<primitives::log1p, true> log1p{};
/// exp(x) - 1, exact near 0. Integers become float32. JAX: numpy.expm1
inline constexpr detail::unary<primitives::expm1, true> expm1{};
/// The hyperbolic tangent. Integers become float32. JAX: numpy.tanh
inline constexpr detail::unary<primitives::tanh, true> tanh{};
/// The sine of an angle in radians. Integers become float32. JAX: numpy.sin
inline constexpr detail::unary<primitives::sin, true> sin{};
/// The cosine of an angle in radians. Integers become float32. JAX: numpy.cos
inline constexpr detail::unary<primitives::cos, true> cos{};
/// The tangent of an angle in radians. Integers become float32. JAX: numpy.tan
inline constexpr detail::unary<primitives::tan, true> tan{};
/// The square root; NaN below 0. Integers become float32. JAX: numpy.sqrt
inline constexpr detail::unary<primitives::sqrt, true> sqrt{};
/// 1 / sqrt(x); NaN below 0. Integers become float32. JAX: lax.rsqrt
inline constexpr detail::unary<primitives::rsqrt, true> rsqrt{};
/// 1 / (1 + exp(-x)). Integers become float32. JAX: lax.logistic
inline constexpr detail::unary<primitives::logistic, true> logistic{};
/// max(x, 0), of slope 0 at 0. JAX: nn.relu
inline constexpr detail::unary<primitives::relu, false> relu{};
/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2. Integers become float32. JAX: nn.gelu, which approximates so
/// too
inline constexpr detail::unary<primitives::gelu, true> gelu{};
/// The error function. Integers become float32. JAX: lax.erf
inline constexpr detail::unary<primitives::erf, true> erf{};
/// The inverse of the error function, for x from -1 to 1. Integers become float32. JAX: lax.erf_inv
inline constexpr detail::unary<primitives::erf_inv, true> erf_inv{};
/// The absolute value; truth values stay what they are. Shapes: that of x. Errors: none. JAX: numpy.abs
inline constexpr detail::unary<primitives::absolute, false> abs{};
/// -1, 0 or 1; NaN for NaN. Shapes: that of x. Errors: truth values. JAX: numpy.sign
inline constexpr detail::unary<primitives::sign, false> sign{};
/// The largest integer below; integers and truth values stay what they are. JAX: numpy.floor
inline constexpr detail::floor_operation floor{};
/// Whether an element is neither infinite nor NaN. JAX: numpy.isfinite
inline constexpr detail::unary<primitives::is_finite, true> isfinite{};
/// -x; unsigned integers wrap around. Shapes: that of x. Errors: truth values. JAX: numpy.negative
inline constexpr detail::unary<primitives::negative, false> negative{};
/// All bits inverted; of truth values, not. Shapes: that of x. Errors: floating numbers. JAX: numpy.bitwise_not
inline constexpr detail::unary<primitives::bitwise_not, false> bitwise_not{};
/// The operand, constant for derivatives. JAX: lax.stop_gradient
inline constexpr detail::unary<primitives::stop_gradient, false> stop_gradient{};
/// x * x. JAX: numpy.square
inline constexpr detail::square_operation square{};
/// 1 / x, of integers in float32. JAX: numpy.reciprocal
inline constexpr detail::reciprocal_operation reciprocal{};

/// x + y; of truth values, or. Operands of all functions of two arrays broadcast, and have a common type. JAX:
/// numpy.add
inline constexpr detail::binary<primitives::add> add{};
/// x - y. Shapes: those of the operands, broadcast as NumPy's are. Errors: extents that differ, of which none is 1;
/// truth values. JAX: numpy.subtract
inline constexpr detail::binary<primitives::subtract> subtract{};
/// x * y; of truth values, and. JAX: numpy.multiply
inline constexpr detail::binary<primitives::multiply> multiply{};
/// True division: integers become float32. JAX: numpy.divide
inline constexpr detail::true_divide_operation divide{};
/// `divide` by its other name. JAX: numpy.true_divide
inline constexpr detail::true_divide_operation true_divide{};
/// The remainder of a division rounded towards zero. Shapes: those of the operands, broadcast as NumPy's are. Errors:
/// extents that differ, of which none is 1; truth values. JAX: lax.rem
inline constexpr detail::binary<primitives::remainder> rem{};
/// x to the power y; a constant integer exponent becomes a product. Integers stay integers: overflow wraps around, and
/// a negative exponent that only the call knows gives 1 / x^-y rounded towards zero. JAX: numpy.power
inline constexpr detail::power_operation power{};
/// `power` by its other name. JAX: numpy.pow
inline constexpr detail::power_operation pow{};
/// The larger of two; NaN where one is. JAX: numpy.maximum
inline constexpr detail::binary<primitives::maximum> maximum{};
/// The smaller of two; NaN where one is. JAX: numpy.minimum
inline constexpr detail::binary<primitives::minimum> minimum{};
/// x & y, bit by bit. Floating numbers are an error. JAX: numpy.bitwise_and
inline constexpr detail::binary<primitives::bitwise_and> bitwise_and{};
/// x | y, bit by bit. Floating numbers are an error. JAX: numpy.bitwise_or
inline constexpr detail::binary<primitives::bitwise_or> bitwise_or{};
/// x ^ y, bit by bit. Floating numbers are an error. JAX: numpy.bitwise_xor
inline constexpr detail::binary<primitives::bitwise_xor> bitwise_xor{};
/// x << y; 0 if y is the number of bits or more. Floating numbers and truth values are an error. JAX: numpy.left_shift
inline constexpr detail::binary<primitives::shift_left> left_shift{};
/// x >> y; of signed integers, the sign is shifted in. Floating numbers and truth values are an error. JAX:
/// numpy.right_shift
inline constexpr detail::binary<primitives::shift_right> right_shift{};
/// Whether x == y. JAX: numpy.equal
inline constexpr detail::binary<primitives::equal> equal{};
/// Whether x != y. JAX: numpy.not_equal
inline constexpr detail::binary<primitives::not_equal> not_equal{};
/// Whether x < y. JAX: numpy.less
inline constexpr detail::binary<primitives::less> less{};
/// Whether x <= y. JAX: numpy.less_equal
inline constexpr detail::binary<primitives::less_equal> less_equal{};
/// Whether x > y. JAX: numpy.greater
inline constexpr detail::binary<primitives::greater> greater{};
/// Whether x >= y. JAX: numpy.greater_equal
inline constexpr detail::binary<primitives::greater_equal> greater_equal{};
/// Whether neither is 0. JAX: numpy.logical_and
inline constexpr detail::logical<primitives::bitwise_and> logical_and{};
/// Whether one is not 0. JAX: numpy.logical_or
inline constexpr detail::logical<primitives::bitwise_or> logical_or{};
/// Whether exactly one is not 0. JAX: numpy.logical_xor
inline constexpr detail::logical<primitives::bitwise_xor> logical_xor{};
/// Whether x is 0. JAX: numpy.logical_not
inline constexpr detail::logical_not_operation logical_not{};
/// `where(condition, x, y)`: x where the condition holds, y elsewhere. JAX: numpy.where
inline constexpr detail::where_operation where{};
/// `clip(x, low, high)`: x brought into [low, high]. JAX: numpy.clip
inline constexpr detail::clip_operation clip{};

/// The same values as another element type. Shapes: that of x. Errors: none. NumPy: x.astype(T); JAX:
/// lax.convert_element_type
template <element T, class X> constexpr auto astype(const X& x) {
  return detail::astype_operation{}(x, detail::type_tag<T>{});
}
/// The same bits as another type of the same size. Shapes: that of x. Errors: types of different sizes; truth values.
/// JAX: lax.bitcast_convert_type
template <element T, class X> constexpr auto bitcast(const X& x) {
  return detail::bitcast_operation{}(x, detail::type_tag<T>{});
}

} // namespace parallax::PARALLAX_INLINE_VERSION
