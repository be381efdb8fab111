// Loops whose bounds are data: while_loops that count their rounds.
#pragma once

#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>
#include <parallax/primitives/building/build.hpp>
#include <parallax/transforms/loops/while_loop.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A bound that is computed: traced, an array, or an expression.
template <class T>
concept computed_bound = traced<T> || eager_operand<T>;

/// A carry behind the number of the next round.
struct is_below {
  tracer upper;
  template <class Carry> constexpr tracer operator()(const std::pair<tracer, Carry>& next) const {
    return next.first < upper;
  }
};
template <class Function> struct counted_round {
  [[no_unique_address]] Function function;
  template <class Carry> constexpr auto operator()(const std::pair<tracer, Carry>& next) const {
    return std::pair{next.first + build::like(next.first, 1), function(next.first, next.second)};
  }
};
struct named_fori_loop {
  static constexpr std::string_view name = "fori_loop";
  static constexpr int own_carries = 1;
};

constexpr message say_beyond_32_bits(std::int64_t bound) {
  return message() << "fori_loop: the bound " << bound
                   << " is no int32 number; fori_loop<std::int64_t> has numbers of 64 bits";
}
/// A number as a bound that is an extent or of another C++ type; an error of the trace if `Number` lacks it.
template <std::integral Number> constexpr tracer number_as_bound(context& trace, extent bound) {
  constexpr element_type type = scalar_type_of<Number>;
  if (!bound.known()) {
    if (sizeof(Number) == 4) require(trace, guard_kind::within_32_bits, "fori_loop", bound.as_dim(), dim{}, {});
    return build::extent_value(trace, bound.as_dim(), type);
  }
  if (!std::in_range<Number>(bound.number())) trace.fail(say_beyond_32_bits(bound.number()));
  return build::integer_literal(trace, type, bound.number());
}
/// A computed bound as a number of the type that rounds have; an error if that type lacks numbers which it may be.
template <std::integral Number> constexpr tracer computed_as_bound(context& trace, const tracer& bound) {
  constexpr element_type type = scalar_type_of<Number>;
  const bool is_whole = category_of(bound.type()) == category_of(type);
  if (bound.rank() == 0 && is_whole && promote(bound.type(), type) == type) return build::convert(bound, type);
  message text;
  print_value(text << "fori_loop: the bound ", trace.extents, bound.value());
  text << " is not one " << name_of(type) << " number";
  if (bound.rank() == 0 && is_whole && promote(bound.type(), element_type::int64) == element_type::int64)
    text << "; fori_loop<std::int64_t> has numbers of 64 bits";
  trace.fail(text);
  return build::integer_literal(trace, type, 0);
}
template <std::integral Number, class Bound> constexpr tracer as_bound(context& trace, const Bound& bound) {
  if constexpr (std::convertible_to<Bound, extent>) return number_as_bound<Number>(trace, bound);
  else return computed_as_bound<Number>(trace, materialize(trace, bound));
}

template <class Function, std::integral Number> struct loop_between {
  [[no_unique_address]] Function function;

  template <class Lower, class Upper, class Init>
  constexpr auto operator()(const Lower& lower, const Upper& upper, const Init& init) const {
    if constexpr (!any_traced<Lower, Upper, Init>()) {
      return execute(*this, lower, upper, init);
    } else if constexpr (!is_callable<Function, tracer, traced_t<Init>>()) {
      return refuse_call<Function, tracer, Init>(trace_of_trees(lower, upper, init), "fori_loop");
    } else {
      context& trace = trace_of_trees(lower, upper, init);
      const is_below predicate{as_bound<Number>(trace, upper)};
      // the next number differs between instances as soon as their rounds do
      const tracer first = vary_along(as_bound<Number>(trace, lower), predicate.upper.varies());
      using body = counted_round<Function>;
      return looped_while<is_below, body, named_fori_loop>{predicate, body{function}}(std::pair{first, init}).second;
    }
  }
};
template <class Function, class Number> inline constexpr bool is_transformed<loop_between<Function, Number>> = true;

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
