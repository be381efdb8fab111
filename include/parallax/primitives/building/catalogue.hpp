// The catalogue: every primitive by name. A primitive's id is its place here.
#pragma once

#include <parallax/core/trace/graph.hpp>
#include <parallax/core/version.hpp>

#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

template <class... Primitive> struct list {
  static constexpr int size = sizeof...(Primitive);
};

struct literal; // `struct literal` alone would name that of `detail`

using catalogue = list<
    // values without operands
    struct literal, struct iota, struct extent_value, struct axis_index,
    // element by element
    struct add, struct subtract, struct multiply, struct divide, struct remainder, struct power, struct integer_power,
    struct maximum, struct minimum, struct negative, struct exp, struct log, struct log1p, struct expm1, struct tanh,
    struct sin, struct cos, struct tan, struct sqrt, struct rsqrt, struct logistic, struct absolute, struct sign,
    struct floor, struct relu, struct gelu, struct gelu_derivative, struct erf, struct erf_inv, struct exp_of_square,
    struct is_finite, struct equal, struct not_equal, struct less, struct less_equal, struct greater,
    struct greater_equal, struct bitwise_and, struct bitwise_or, struct bitwise_xor, struct bitwise_not,
    struct shift_left, struct shift_right, struct select, struct convert, struct bitcast, struct stop_gradient,
    struct named, struct as_softmax, struct threefry2x32, struct philox4x32, struct wide_remainder,
    // reductions
    struct reduce_sum, struct reduce_max, struct reduce_min, struct argmax, struct argmin,
    // cumulative: every element with those before it
    struct cumsum, struct cumprod, struct cummax, struct cummin, struct cumlogsumexp, struct linear_recurrence,
    // order
    struct sort_by,
    // places that are data
    struct gather, struct scatter,
    // products
    struct dot_general,
    // index changes
    struct broadcast_in_dim, struct reshape, struct as_strided, struct transpose, struct slice, struct concatenate,
    struct pad,
    // collectives
    struct psum, struct pmax, struct pmin, struct ppermute, struct pbroadcast, struct all_gather, struct psum_scatter,
    struct all_to_all, struct axis_stack, struct axis_slice,
    // calls, which own graphs
    struct pmap_call, struct scan_call, struct while_call, struct cond_call, struct ffi_call, struct custom_call,
    struct linear_solve_call, struct checkpoint_call>;

namespace detail {
template <int Number, class Primitive> struct numbered {
  using primitive = Primitive;
};
template <class Numbers, class List> struct numbered_list;
template <int... Numbers, class... Primitives>
struct numbered_list<std::integer_sequence<int, Numbers...>, list<Primitives...>> : numbered<Numbers, Primitives>... {};
using numbers = numbered_list<std::make_integer_sequence<int, catalogue::size>, catalogue>;

// Without definitions: deducing a base finds the number, and g++ 14 does not look into functions for some warnings.
template <class Primitive, int Number>
std::integral_constant<int, Number> number_in(const numbered<Number, Primitive>*);
template <int Number, class Primitive> numbered<Number, Primitive> primitive_in(const numbered<Number, Primitive>*);
} // namespace detail

/// The id of a primitive.
template <class Primitive>
inline constexpr primitive_id id_of{
    decltype(detail::number_in<Primitive>(static_cast<const detail::numbers*>(nullptr)))::value};

/// The primitive of an id is `entry<Id>::primitive`.
template <primitive_id Id>
struct entry : decltype(detail::primitive_in<static_cast<int>(Id)>(static_cast<const detail::numbers*>(nullptr))) {};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
