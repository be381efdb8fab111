// Calls: primitives that own graphs, their bodies, and have several results. A member of the family says in one struct
// what all passes ask of it.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {
class preparation;     // compile/: turns a traced graph into one that is lowered
class section_planner; // compile/: turns that into steps
} // namespace detail

/// For a call's differentiation: the operands, and which of them a derivative is asked for.
struct linearize_application {
  context& trace;
  plain_span<const tracer> operands;
  plain_span<const char> wanted;
};

/// A call whose forward half has been appended, and the call that is its backward half. That takes `operands` and then
/// the cotangents of the results that are differentiated, and returns those of the operands that are.
struct linearized_call {
  growing_vector<tracer> results{};
  primitive_id backward = primitive_id::input;
  growing_vector<std::int64_t> parameters{}; ///< of the backward half
  growing_vector<tracer> operands{};
  growing_vector<int> differentiated_results{}, differentiated_operands{};
};

/// For a call's derivative along a direction: the operands, and their tangents, without an owner where they are zeros.
struct jvp_application {
  context& trace;
  plain_span<const tracer> operands;
  plain_span<const tracer> tangents;

  /// By operand: whether it has a tangent.
  constexpr growing_vector<char> moving() const {
    growing_vector<char> flags;
    for (const tracer& tangent : tangents) flags.push_back(tangent.owner != nullptr);
    return flags;
  }
  /// The operands and, behind them, the tangents that there are.
  constexpr growing_vector<tracer> operands_with_tangents() const {
    growing_vector<tracer> given(operands.begin(), operands.end());
    for (const tracer& tangent : tangents)
      if (tangent.owner) given.push_back(tangent);
    return given;
  }
};

/// The results of a call, and their tangents, without an owner where they are zeros.
struct results_with_tangents {
  growing_vector<tracer> results{}, tangents{};

  /// Of values that are the results and then the tangents of those that are `moving`.
  static constexpr results_with_tangents of(const growing_vector<tracer>& values, const growing_vector<char>& moving) {
    results_with_tangents both;
    std::size_t next = moving.size();
    for (std::size_t k = 0; k < moving.size(); ++k) {
      both.results.push_back(values[k]);
      both.tangents.push_back(moving[k] != 0 ? values[next++] : tracer{});
    }
    return both;
  }
};

/// What instances are compared for: the axis along which they lie. Where what they do may differ, `chosen_by` says the
/// operation, and what of it chooses.
struct variation {
  context& trace;
  axis_id axis;
  std::string_view chosen_by{};
};

/// The rules of a call, as values. A member is a primitive of kind `call` with `parameters`, of which those that are
/// graphs are its bodies, and these static functions, each of which takes the parameters last.
struct call_rules {
  /// What is known of the results.
  growing_vector<abstract_value> (*results)(context&, plain_span<const abstract_value> operands, parameter_words);
  /// Appends the call for all elements of a mapped axis; returns its results.
  growing_vector<batched> (*batch)(const batch_application&, parameter_words);
  /// Appends the forward half, which keeps what the backward half reads.
  linearized_call (*linearize)(const linearize_application&, parameter_words);
  /// Appends the call of values and tangents together.
  results_with_tangents (*jvp)(const jvp_application&, parameter_words);
  /// For each result whether it may differ between the instances of a mapped axis, given whether operands may.
  growing_vector<char> (*varies)(const variation&, plain_span<const char> operands, parameter_words);
  /// The graphs that it owns.
  growing_vector<graph_id> (*bodies)(parameter_words);
  /// Replays the call as it is to be lowered: often, by replaying its bodies.
  void (*prepare)(detail::preparation&, node_id call, parameter_words);
  /// Appends the steps of a call that preparation has left; null where it leaves none.
  void (*lower)(detail::section_planner&, node_id call, parameter_words);
};

/// What a primitive's `lower` is where preparation leaves no call.
struct prepared_away {};

/// Appends a call and returns its results.
constexpr growing_vector<tracer> emit_call(context& trace, primitive_id primitive, plain_span<const tracer> operands,
                                           parameter_words parameters);
template <class Call>
constexpr growing_vector<tracer> emit_call(context& trace, plain_span<const tracer> operands,
                                           const typename Call::parameters& parameters) {
  return emit_call(trace, primitives::id_of<Call>, operands, encode(parameters));
}

} // namespace parallax::PARALLAX_INLINE_VERSION
