// scan: a loop of a program.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/ops/expressions/extent_arguments.hpp>
#include <parallax/ops/math/in_reverse.hpp>
#include <parallax/transforms/calls/scan_call.hpp>
#include <parallax/transforms/loops/carries.hpp>
#include <parallax/transforms/loops/round_numbers.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// For `scan`: the number of rounds, if there are no slices. JAX: length=n
template <std::int64_t Rounds> struct length_t {};
template <std::int64_t Rounds> inline constexpr length_t<Rounds> length{};

namespace detail {

/// Stands for a number of rounds that the slices give.
inline constexpr std::int64_t from_slices = std::numeric_limits<std::int64_t>::min();
template <class T> inline constexpr std::int64_t static_length = from_slices;
template <std::int64_t Rounds> inline constexpr std::int64_t static_length<length_t<Rounds>> = Rounds;

template <class T> inline constexpr bool is_pair = false;
template <class A, class B> inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class A, class B> inline constexpr bool is_pair<std::tuple<A, B>> = true;

/// The rounds of a loop: how many, and in which order.
struct rounds {
  extent count{};
  bool given = false; ///< whether `count` is the number; otherwise the slices give it
  bool reverse = false;
  int slots = 0;  ///< carries that the way back keeps; 0 if it keeps all
  tracer first{}; ///< if slices are the numbers of rounds: the first number
};

inline constexpr std::string_view loop_count_remedy = "use while_loop, or give the count as an argument: plx::count(n)";

/// The number of rounds: the number of slices of the stacked leaves, or the wanted one.
constexpr dim count_rounds(context& trace, std::string_view operation, const growing_vector<tracer>& stacked,
                           const rounds& wanted) {
  if (wanted.given && !are_extents(trace, operation, {&wanted.count, 1})) return {};
  dim count = wanted.given ? wanted.count.as_dim() : dim{};
  const tracer* first = nullptr;
  for (const tracer& x : stacked) {
    if (!x.owner) continue;
    if (x.rank() == 0) {
      trace.fail(message() << operation << ": a number has no slices; stack what the loop goes over along axis 0");
      return count;
    }
    const tracer& other = first ? *first : x;
    if (first || wanted.given)
      count = unify(trace, operation, count, x.dimension(0), other.value(), x.value(),
                    "give arrays of one length along axis 0");
    else count = x.dimension(0);
    if (!first) first = &x;
  }
  if (!first && !wanted.given)
    trace.fail(message() << operation << ": nothing says how often to go round; give arrays to go over, or length<n>");
  return count;
}

/// A round's result as two trees; `none` becomes an empty tuple.
template <class Carry, class Output> constexpr auto two_trees(const std::pair<Carry, Output>& both) {
  if constexpr (std::is_same_v<Output, none_t>) return std::pair<Carry, std::tuple<>>{both.first, {}};
  else return both;
}
template <class Carry, class Output> constexpr auto two_trees(const std::tuple<Carry, Output>& both) {
  return two_trees(std::pair<Carry, Output>{std::get<0>(both), std::get<1>(both)});
}

/// `function`, with its result as a pair of trees.
template <class Function> struct pair_function {
  const Function& function;
  template <class Carry, class Slice> constexpr auto operator()(const Carry& carry, const Slice& slice) const {
    return two_trees(function(carry, slice));
  }
};

/// A loop's body while it is traced.
template <class Result> struct traced_round {
  graph_id body;
  growing_vector<tracer> inputs;
  Result result;
  growing_vector<tracer> leaves; ///< of the result
};

/// Traces one of `rounds` rounds, with carries of these types and shapes.
template <class Function, class Init, class Slices>
constexpr auto trace_round(context& trace, const Function& function, dim rounds,
                           const growing_vector<abstract_value>& carries, const growing_vector<tracer>& stacked,
                           std::type_identity<Init> init, std::type_identity<Slices> slices) {
  const graph_id body = trace.open_graph();
  const dim outer_repeats = trace.repeats;
  trace.repeats = trace.extents.zero_with(outer_repeats, rounds);
  growing_vector<tracer> inputs;
  for_each(carries, [&](const abstract_value& value) { inputs.push_back(new_input(trace, value)); });
  for_each(stacked, [&](const tracer& x) {
    inputs.push_back(x);
    if (!x.owner) return;
    abstract_value value = x.value();
    if (value.rank() > 0) value.shape.erase(0);
    inputs.back() = new_input(trace, value);
  });
  auto result = call_on(trace, pair_function<Function>{function}, inputs, std::index_sequence<0, 1>{}, init, slices);
  trace.repeats = outer_repeats;
  return traced_round<decltype(result)>{body, inputs, result, tracers_of(result)};
}

/// Traces a loop; returns the last carry and the stacked outputs.
template <class Function, class Init, class Slices>
constexpr auto trace_scan(context& trace, std::string_view operation, const Function& function, const rounds& wanted,
                          const Init& init, const Slices& slices) {
  growing_vector<tracer> operands = initial_carries(trace, operation, init);
  growing_vector<abstract_value> carries = vector_of(operands, [](const tracer& x) { return x.value(); });
  const growing_vector<tracer> stacked = leaves_to_tracers(trace, slices);
  scan_parameters call{.length = count_rounds(trace, operation, stacked, wanted), .reverse = wanted.reverse};
  if (wanted.slots > 0) call.slots.push_back(wanted.slots);
  auto round = [&] {
    return trace_round(trace, function, call.length, carries, stacked, std::type_identity<Init>{},
                       std::type_identity<Slices>{});
  };
  auto traced = round();
  if (!returns_carry<Init>(trace, operation, traced.result.first)) return traced.result;
  auto changed = [&] {
    const bool becomes = become_strong(carries, traced.leaves);
    return vary_as_made(carries, traced.leaves) || becomes;
  };
  while (!trace.failed && changed()) {
    trace.close_graph();
    traced = round();
  }
  for (std::size_t c = 0; c < carries.size(); ++c)
    traced.leaves[c] =
        vary_along(as_carry(trace, operation, static_cast<int>(c), carries[c], traced.leaves[c]), carries[c].varies);
  set_outputs(trace, traced.leaves);
  trace.close_graph();
  for (std::size_t c = 0; c < carries.size(); ++c)
    operands[c] = vary_along(build::convert(operands[c], carries[c].type), carries[c].varies);
  for_each(stacked, [&](const tracer& x) {
    if (x.owner) operands.push_back(x);
  });
  call.body = traced.body;
  call.roles.resize(carries.size(), scan_role::carry);
  call.roles.resize(operands.size(), scan_role::stacked);
  if (wanted.first.owner) number_rounds(trace, call, traced.inputs.back(), wanted.first, operands);
  primitives::scan_call::add_captures(trace, call, operands);
  if (trace.failed) return traced.result;
  return with_leaves(traced.result, emit_call<primitives::scan_call>(trace, operands, call));
}

/// Reports a function that fits no scan; returns values that stand for the scan's results.
template <class Function, class Init, class Slices> constexpr auto refuse_round(context& trace) {
  if constexpr (is_callable<Function, traced_t<Init>, traced_t<Slices>>()) {
    trace.fail(
        message() << "scan: the function returns no pair; return std::pair{carry, output}, where output is what is "
                     "stacked, or plx::none");
    const tracer nothing = build::literal(trace, element_type::float32, 0);
    return std::pair{nothing, nothing};
  } else {
    const auto refused = refuse_call<Function, Init, Slices>(trace, "scan");
    if constexpr (traced<decltype(refused)>) return std::pair{refused, refused};
    else return refused;
  }
}
template <class Function, class Init, class Slices> constexpr bool is_round() {
  if constexpr (!is_callable<Function, traced_t<Init>, traced_t<Slices>>()) return false;
  else
    return is_pair<std::remove_cvref_t<decltype(std::declval<const Function&>()(std::declval<traced_t<Init>&>(),
                                                                                std::declval<traced_t<Slices>&>()))>>;
}

/// Traces a scan of a function, or reports that the function fits none.
template <class Function, class Init, class Slices>
constexpr auto trace_or_refuse(const Function& function, const rounds& wanted, const Init& init, const Slices& slices) {
  context& trace = trace_of_trees(init, slices);
  if constexpr (is_round<Function, Init, Slices>()) return trace_scan(trace, "scan", function, wanted, init, slices);
  else return refuse_round<Function, Init, Slices>(trace);
}

/// A loop over the slices of arrays. Call it with arrays, or with tracers inside another traced function.
template <class Function, bool Reverse, std::int64_t Rounds, int Slots = 0> struct scanned {
  [[no_unique_address]] Function function;

  template <class Init, class Slices> constexpr auto operator()(const Init& init, const Slices& slices) const {
    constexpr bool given = Rounds != from_slices;
    const rounds wanted{.count = given ? Rounds : 0, .given = given, .reverse = Reverse, .slots = Slots};
    if constexpr (!any_traced<Init, Slices>()) return execute(*this, init, slices);
    else return trace_or_refuse(function, wanted, init, slices);
  }
};
template <class Function, bool Reverse, std::int64_t Rounds, int Slots>
inline constexpr bool is_transformed<scanned<Function, Reverse, Rounds, Slots>> = true;

/// A loop over a number of rounds, without slices.
template <class Function, int Slots = 0> struct scanned_rounds {
  [[no_unique_address]] Function function;

  template <class Init> constexpr auto operator()(const extent_list<1>& count, const Init& init) const {
    if constexpr (!any_traced<Init>()) return execute(*this, count, init);
    else return trace_or_refuse(function, {.count = count, .given = true, .slots = Slots}, init, none);
  }
};
template <class Function, int Slots> inline constexpr bool is_transformed<scanned_rounds<Function, Slots>> = true;

} // namespace detail

/// Goes over the slices of `slices`, a tree of arrays, along axis 0: `function(carry, slice)` returns a pair of the
/// next carry and of an output. Returns a pair of the last carry and of all outputs, stacked along a new axis 0. The
/// carry keeps its types and shapes; it, slices and outputs may be trees. Options: `in_reverse`; `length<n>` if
/// `slices` is `none`. The output may be `none`. Errors: a carry that changes its tree, type or shape; slices of a
/// number, or of different lengths; nothing that says how many rounds. JAX: lax.scan
template <class Function, class Init, class Slices, class... Options>
  requires(std::is_empty_v<Options> && ...)
constexpr auto scan(Function function, const Init& init, const Slices& slices, Options...) {
  constexpr bool reverse = (false || ... || std::is_same_v<Options, in_reverse_t>);
  constexpr std::int64_t length = std::max({detail::from_slices, detail::static_length<Options>...});
  return detail::scanned<Function, reverse, length>{function}(init, slices);
}
/// A `scan` whose way back keeps at most `Slots` carries, whatever the number of rounds, which is static. It computes
/// rounds again, each at most `checkpoint_repeats(rounds, Slots)` times. Reverse mode once; forward mode over it.
/// Griewank and Walther (2000). Errors: as of `scan`; fewer than two slots.
template <int Slots, class Function, class Init, class Slices, class... Options>
  requires(std::is_empty_v<Options> && ...)
constexpr auto checkpointed_scan(Function function, const Init& init, const Slices& slices, Options...) {
  static_assert(Slots >= 2, "parallax: checkpointed_scan: give at least two slots");
  constexpr bool reverse = (false || ... || std::is_same_v<Options, in_reverse_t>);
  constexpr std::int64_t length = std::max({detail::from_slices, detail::static_length<Options>...});
  return detail::scanned<Function, reverse, length, Slots>{function}(init, slices);
}
template <int Slots, class Function, class Init>
constexpr auto checkpointed_scan(Function function, const Init& init, none_t, extent length) {
  static_assert(Slots >= 2, "parallax: checkpointed_scan: give at least two slots");
  return detail::scanned_rounds<Function, Slots>{function}(extent_list<1>{{length}}, init);
}
/// `scan` over `length` rounds, without slices: `length` is a number, or an extent of the program.
template <class Function, class Init> constexpr auto scan(Function function, const Init& init, none_t, extent length) {
  return detail::scanned_rounds<Function>{function}(extent_list<1>{{length}}, init);
}
/// A length that only the running program knows is an error.
template <class Function, class Init>
constexpr auto scan(Function, const Init& init, none_t, const std::same_as<tracer> auto& length) {
  detail::refuse_count(length, "scan", "length", detail::loop_count_remedy);
  return std::pair{init, init};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
