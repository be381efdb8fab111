// Loops that are scans: map and fori_loop.
#pragma once

#include <parallax/ops/creation.hpp>
#include <parallax/transforms/scan.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace parallax {

/// A number of rounds, or of anything else, as an argument of a function: an extent of the program, that only the call
/// knows. Throws `shape_error` at the call where it is negative.
constexpr extent_list<1> count(std::int64_t number) { return {{extent(number)}}; }

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

/// How many whole numbers there are from `lower` on below `upper`.
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

template <class Function> struct counted_loop {
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
      const tracer iota = emit<primitives::iota>(trace, {element_type::int32, 0, dims_of(trace, "fori_loop", rounds)});
      const tracer start = build::convert(leaf_to_tracer(trace, first), element_type::int32);
      const tracer numbers = build::binary<primitives::add>("fori_loop", iota, start);
      return trace_scan(trace, "fori_loop", numbered_round<Function>{function}, {}, init, numbers).first;
    }
  }
};
template <class Function> inline constexpr bool is_transformed<counted_loop<Function>> = true;

} // namespace detail

/// `function` of each slice of a tree of arrays along axis 0, one after another; stacks what it returns. `vmap` does
/// all at once, and takes memory for all. JAX: lax.map
template <class Function, class Slices> constexpr auto map(Function function, const Slices& slices) {
  return detail::slice_map<Function>{function}(slices);
}

/// Calls `function(i, carry)` for i = lower, ..., upper - 1; returns the last carry, or `init` where there is no such
/// i. i is an int32 number. Bounds are numbers, or extents of the program: `count(n)` makes an argument one. JAX:
/// lax.fori_loop
template <class Function, class Init>
constexpr auto fori_loop(extent lower, extent upper, Function function, const Init& init) {
  const extent_list<1> rounds{{detail::rounds_between(lower, upper)}};
  const detail::counted_loop<Function> loop{function};
  if constexpr (detail::any_traced<Init>()) return loop(rounds, lower, init);
  else return loop(rounds, static_cast<std::int32_t>(lower.number()), init);
}
/// A bound that only the running program knows is an error.
template <class Lower, class Upper, class Function, class Init>
  requires(std::same_as<Lower, tracer> || std::same_as<Upper, tracer>)
constexpr auto fori_loop(const Lower& lower, const Upper& upper, Function, const Init& init) {
  if constexpr (std::same_as<Upper, tracer>)
    detail::refuse_count(upper, "fori_loop", "bound", detail::loop_count_remedy);
  else detail::refuse_count(lower, "fori_loop", "bound", detail::loop_count_remedy);
  return init;
}

} // namespace parallax
