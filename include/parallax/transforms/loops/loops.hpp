// Loops that are scans: map and fori_loop.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/shapes/creation.hpp>
#include <parallax/transforms/loops/loop_between.hpp>
#include <parallax/transforms/loops/scan.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// A number, of rounds for example, as an argument of a function: an extent of the program that only the call knows.
/// Throws `shape_error` at the call if it is negative.
constexpr extent_list<1> count(std::int64_t number) { return {{extent(number)}}; }
/// Inside a function, an extent counts already: `count(x.shape(0) / 2)` is that extent.
constexpr extent_list<1> count(extent number) { return {{number}}; }

namespace detail {

/// A function of slices as a round of a scan that carries nothing.
template <class Function> struct slice_round {
  [[no_unique_address]] Function function;
  template <class Slice> constexpr auto operator()(const std::tuple<>& nothing, const Slice& slice) const {
    return std::pair{nothing, function(slice)};
  }
};

template <class Function> struct slice_map {
  [[no_unique_address]] Function function;
  template <class Slices> constexpr auto operator()(const Slices& slices) const {
    if constexpr (!any_traced<Slices>()) {
      return execute(*this, slices);
    } else if constexpr (!is_callable<Function, traced_t<Slices>>()) {
      return refuse_call<Function, Slices>(trace_of_trees(slices), "map");
    } else {
      context& trace = trace_of_trees(slices);
      return trace_scan(trace, "map", slice_round<Function>{function}, {}, std::tuple<>{}, slices).second;
    }
  }
};
template <class Function> inline constexpr bool is_transformed<slice_map<Function>> = true;

/// The number of integers i with `lower` <= i < `upper`.
constexpr extent rounds_between(extent lower, extent upper) {
  if (lower.known() && upper.known()) return lower.number() < upper.number() ? upper - lower : 0;
  if (upper.is_negative()) return 0;
  if (lower.is_negative() || lower == extent(0)) return upper - lower;
  return upper - smaller(lower, upper);
}

/// A function of the round's number and the carry as a round of a scan.
template <class Function> struct numbered_round {
  [[no_unique_address]] Function function;
  template <class Carry> constexpr auto operator()(const Carry& carry, const tracer& number) const {
    return std::pair{function(number, carry), none};
  }
};

template <class Function, std::integral Number> struct counted_loop {
  [[no_unique_address]] Function function;

  /// Rounds are numbered from `first` on.
  template <class First, class Init>
  constexpr auto operator()(const extent_list<1>& rounds, const First& first, const Init& init) const {
    if constexpr (!any_traced<First, Init>()) {
      return execute(*this, rounds, first, init);
    } else if constexpr (!is_callable<Function, tracer, traced_t<Init>>()) {
      return refuse_call<Function, tracer, Init>(trace_of_trees(first, init), "fori_loop");
    } else {
      context& trace = trace_of_trees(first, init);
      constexpr element_type type = scalar_type_of<Number>;
      const tracer iota = emit<primitives::iota>(trace, {type, 0, dims_of(trace, "fori_loop", rounds)});
      const tracer start = build::convert(leaf_to_tracer(trace, first), type);
      const tracer numbers = build::binary<primitives::add>("fori_loop", iota, start);
      return trace_scan(trace, "fori_loop", numbered_round<Function>{function}, {.first = start}, init, numbers).first;
    }
  }
};
template <class Function, class Number> inline constexpr bool is_transformed<counted_loop<Function, Number>> = true;

template <class Number> constexpr void check_numbers_of_rounds() {
  static_assert(std::same_as<Number, std::int32_t> || std::same_as<Number, std::int64_t>,
                "parallax: fori_loop: rounds have numbers of type std::int32_t or std::int64_t");
}

/// Throws `shape_error`. It is defined next to the code that runs programs: traced functions are compiled without
/// exceptions too.
template <std::integral Number> [[noreturn]] void refuse_bound(std::string_view text);

/// The number of rounds of a `fori_loop`. A bound that is no number of the type `Number` is an error: of `trace` if
/// there is one, otherwise a `shape_error`.
template <std::integral Number> constexpr extent rounds_of_loop(context* trace, extent lower, extent upper) {
  const extent rounds = rounds_between(lower, upper);
  if constexpr (sizeof(Number) == 4) {
    for (const extent& bound : {lower, upper}) {
      if (rounds.known() && rounds.number() == 0) break;
      if (!bound.known() && trace != nullptr)
        require(*trace, guard_kind::within_32_bits, "fori_loop", bound.as_dim(), dim{}, {});
      if (!bound.known() || std::in_range<Number>(bound.number())) continue;
      const message text = say_beyond_32_bits(bound.number());
      if (trace == nullptr) refuse_bound<Number>(text.view());
      trace->fail(text);
      return 0;
    }
  }
  return rounds;
}

/// A bound outside of any trace, in which a number has the type of rounds.
template <std::integral Number, class Bound> constexpr auto outside_bound(const Bound& bound) {
  if constexpr (std::integral<Bound>) {
    if (!std::in_range<Number>(bound)) refuse_bound<Number>(say_beyond_32_bits(extent(bound).number()).view());
    return static_cast<Number>(bound);
  } else {
    return bound;
  }
}

} // namespace detail

/// `function` of each slice of a tree of arrays along axis 0, one after another; the results are stacked. `vmap`
/// computes all at once, and takes memory for all. Errors: slices of a number, or arrays of different lengths. JAX:
/// lax.map
template <class Function, class Slices> constexpr auto map(Function function, const Slices& slices) {
  return detail::slice_map<Function>{function}(slices);
}

/// Calls `function(i, carry)` for i = lower, ..., upper - 1; returns the last carry, or `init` if there is no such i. i
/// is an int32 number, or an int64 number for `fori_loop<std::int64_t>`. Bounds beyond its type are an error; outside
/// of any function, and for extents that only the call knows, this is a `shape_error`. Bounds are numbers, or extents
/// of the program: `count(n)` makes an argument one. Errors: a carry that changes its tree, type or shape. JAX:
/// lax.fori_loop
template <std::integral Number = std::int32_t, class Function, class Init>
constexpr auto fori_loop(extent lower, extent upper, Function function, const Init& init) {
  detail::check_numbers_of_rounds<Number>();
  const detail::counted_loop<Function, Number> loop{function};
  if constexpr (detail::any_traced<Init>()) {
    const extent rounds = detail::rounds_of_loop<Number>(&detail::trace_of_trees(init), lower, upper);
    return loop(extent_list<1>{{rounds}}, lower, init);
  } else {
    const extent rounds = detail::rounds_of_loop<Number>(nullptr, lower, upper);
    return loop(extent_list<1>{{rounds}}, static_cast<Number>(lower.number()), init);
  }
}
/// The same with a bound that is data: a whole number in an array of rank 0, which the function is given or computes.
/// Such a loop is a `while_loop`, which has forward mode only. Under `vmap`, rounds go on until the last bound is
/// reached.
template <std::integral Number = std::int32_t, class Lower, class Upper, class Function, class Init>
  requires(detail::computed_bound<Lower> || detail::computed_bound<Upper>)
constexpr auto fori_loop(const Lower& lower, const Upper& upper, Function function, const Init& init) {
  detail::check_numbers_of_rounds<Number>();
  const detail::loop_between<Function, Number> loop{function};
  if constexpr (detail::any_traced<Lower, Upper, Init>()) return loop(lower, upper, init);
  else return loop(detail::outside_bound<Number>(lower), detail::outside_bound<Number>(upper), init);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
