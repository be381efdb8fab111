// Calls: primitives that own graphs, their bodies, and may have several results. One struct for each call gives the
// rules that the passes use.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

class preparation;     // compile/: turns a traced graph into a lowered one
class section_planner; // compile/: turns the lowered graph into steps

/// For a call's differentiation: the operands, and whose derivatives are wanted.
struct linearize_application {
  context& trace;
  plain_span<const tracer> operands;
  const operand_flags& wanted;
};

/// The results of a call's forward half, which has been appended, and the call that is its backward half. The backward
/// half takes `operands`, then the cotangents of `differentiated_results`, and returns the cotangents of
/// `differentiated_operands`.
struct linearized_call {
  growing_vector<tracer> results{};
  primitive_id backward = primitive_id::input;
  growing_vector<std::int64_t> parameters{}; ///< of the backward half
  growing_vector<tracer> operands{};
  growing_vector<int> differentiated_results{}, differentiated_operands{};
};

/// Which operands have a tangent; a tangent without an owner is zero.
constexpr operand_flags moving_operands(plain_span<const tracer> tangents) {
  operand_flags moving(tangents.size());
  for (std::size_t k = 0; k < tangents.size(); ++k) moving[k] = tangents[k].owner != nullptr;
  return moving;
}

/// For a call's derivative along a direction: the operands and their tangents. A tangent without an owner is zero.
struct jvp_application {
  context& trace;
  plain_span<const tracer> operands;
  plain_span<const tracer> tangents;

  constexpr operand_flags moving() const { return moving_operands(tangents); }
  /// The operands and, behind them, the tangents that are not zero.
  constexpr growing_vector<tracer> operands_with_tangents() const {
    growing_vector<tracer> given(operands.begin(), operands.end());
    for (const tracer& tangent : tangents)
      if (tangent.owner) given.push_back(tangent);
    return given;
  }
};

/// The results of a call and their tangents. A tangent without an owner is zero.
struct results_with_tangents {
  growing_vector<tracer> results{}, tangents{};

  /// Splits `values`: first all results, then the tangents of the results that are `moving`.
  static constexpr results_with_tangents of(const growing_vector<tracer>& values, const result_flags& moving) {
    results_with_tangents both;
    std::size_t next = moving.size();
    for (std::size_t k = 0; k < moving.size(); ++k) {
      both.results.push_back(values[k]);
      both.tangents.push_back(moving[k] != 0 ? values[next++] : tracer{});
    }
    return both;
  }
};

/// Parameters of a check which results differ between instances: the mapped axis and, for code that a differing
/// condition or index chooses, `chosen_by`: the words for it in a message.
struct variation {
  context& trace;
  axis_id axis;
  std::string_view chosen_by{};
};

/// The rules of a call, as values. A member is a primitive of kind `call` with `parameters`, which include the graphs
/// that are its bodies, and with these static functions. Each function takes the parameters last.
struct call_rules {
  /// The types and shapes of the results.
  growing_vector<abstract_value> (*results)(context&, plain_span<const abstract_value> operands, parameter_words);
  /// Appends the call for all elements of a mapped axis; returns its results.
  growing_vector<batched> (*batch)(const batch_application&, parameter_words);
  /// Appends the forward half, which keeps the residuals that the backward half reads.
  linearized_call (*linearize)(const linearize_application&, parameter_words);
  /// Appends a call that computes values and tangents together.
  results_with_tangents (*jvp)(const jvp_application&, parameter_words);
  /// Which results may differ between the instances of a mapped axis, given which operands may.
  result_flags (*varies)(const variation&, const operand_flags& operands, parameter_words);
  /// The graphs that the call owns.
  growing_vector<graph_id> (*bodies)(parameter_words);
  /// Appends the code that is lowered in place of the call: often a replay of its bodies.
  void (*prepare)(preparation&, node_id call, parameter_words);
  /// Appends the steps of a call that is left after preparation; null if preparation leaves none.
  void (*lower)(section_planner&, node_id call, parameter_words);
};

/// The `lower` of a primitive whose calls preparation replaces.
struct prepared_away {};

/// Appends a call and returns its results.
constexpr growing_vector<tracer> emit_call(context& trace, primitive_id primitive, plain_span<const tracer> operands,
                                           parameter_words parameters);
template <class Call>
constexpr growing_vector<tracer> emit_call(context& trace, plain_span<const tracer> operands,
                                           const typename Call::parameters& parameters) {
  return emit_call(trace, primitives::id_of<Call>, operands, encode(parameters));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
