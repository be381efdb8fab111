// The catalogue: every primitive, one line each. A primitive's number is its place here.
#pragma once

namespace parallax::primitives {

template <class... Primitive> struct list {
  static constexpr int size = sizeof...(Primitive);
};

using catalogue = list<
    // values without operands
    struct literal, struct iota, struct extent_value, struct axis_index,
    // element by element
    struct add, struct subtract, struct multiply, struct divide, struct remainder, struct power, struct integer_power,
    struct maximum, struct minimum, struct negative, struct exp, struct log, struct log1p, struct expm1, struct tanh,
    struct sin, struct cos, struct tan, struct sqrt, struct rsqrt, struct logistic, struct absolute, struct sign,
    struct floor, struct relu, struct gelu, struct gelu_derivative, struct erf, struct erf_inv, struct is_finite,
    struct equal, struct not_equal, struct less, struct less_equal, struct greater, struct greater_equal,
    struct bitwise_and, struct bitwise_or, struct bitwise_xor, struct bitwise_not, struct shift_left,
    struct shift_right, struct select, struct convert, struct bitcast, struct stop_gradient, struct threefry2x32,
    struct philox4x32,
    // reductions
    struct reduce_sum, struct reduce_max, struct reduce_min, struct argmax, struct argmin,
    // products
    struct dot_general,
    // index changes
    struct broadcast_in_dim, struct reshape, struct transpose, struct slice, struct concatenate, struct pad,
    // collectives
    struct psum, struct pmax, struct pmin, struct ppermute, struct pbroadcast, struct all_gather, struct psum_scatter,
    struct all_to_all, struct axis_slice,
    // functions of functions
    struct pmap_call, struct call_result>;

namespace detail {
template <class Wanted, class... Primitive> constexpr int position_in(list<Primitive...>) {
  int position = 0;
  static_cast<void>(((static_cast<bool>(__is_same(Wanted, Primitive)) || (++position, false)) || ...));
  return position;
}
} // namespace detail

/// The number of a primitive.
template <class Primitive> inline constexpr int number_of = detail::position_in<Primitive>(catalogue{});

} // namespace parallax::primitives
