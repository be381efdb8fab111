// The parameters of a scan.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/scan_role.hpp>
#include <parallax/transforms/passes/activity.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The numbers of the operands that have this role.
constexpr growing_vector<int> operands_of(const growing_vector<scan_role>& roles, scan_role role) {
  growing_vector<int> found;
  for (std::size_t k = 0; k < roles.size(); ++k)
    if (roles[k] == role) found.push_back(static_cast<int>(k));
  return found;
}

/// The body takes the operands by their roles. It returns the carries, in the order of these operands, and then the
/// values that are stacked along a new axis 0 of the results.
struct scan_parameters {
  dim length{};                      ///< how often the body runs
  bool reverse = false;              ///< from the last slice to the first
  growing_vector<scan_role> roles{}; ///< of the operands
  graph_id body = graph_id::none;
  growing_vector<int> slots{}; ///< one number if the way back keeps at most so many carries

  static constexpr void describe(auto& p, auto& member) {
    member("length", p.length);
    member("reverse", p.reverse);
    member("roles", p.roles);
    member("body", p.body);
    member("slots", p.slots);
  }
};

/// Marks the carries that have a property after a round: `has(c)` says so of carry number c. False if nothing new was
/// marked: then the values that depend on carries need no further round either.
template <class Has>
constexpr bool mark_carries(const growing_vector<int>& carries, operand_flags& marked, const Has& has) {
  bool any = false;
  for (std::size_t c = 0; c < carries.size(); ++c) {
    char& mark = marked[index_of(carries[c])];
    if (mark != 0 || !has(c)) continue;
    mark = 1;
    any = true;
  }
  return any;
}

/// Gives the results that are carries the flags of the operands that they begin as.
constexpr void set_carries(result_flags& results, const growing_vector<int>& carries, const operand_flags& operands) {
  for (std::size_t c = 0; c < carries.size(); ++c) results[c] = operands[index_of(carries[c])];
}

/// Carries of a loop that have tangents: those whose initial value has one, or that get one in some round.
constexpr operand_flags moving_inputs(const context& trace, const jvp_application& a, graph_id body,
                                      const growing_vector<scan_role>& roles) {
  const growing_vector<int> carries = operands_of(roles, scan_role::carry);
  operand_flags moving = a.moving();
  result_flags outputs;
  do outputs = active_outputs(trace, body, moving);
  while (mark_carries(carries, moving, [&](std::size_t c) { return outputs[c] != 0; }));
  return moving;
}

/// The operands of a loop and, behind them, their tangents. A carry that gets its first tangent in a round begins with
/// zeros.
constexpr growing_vector<tracer> operands_with_tangents(const jvp_application& a, const operand_flags& moving) {
  growing_vector<tracer> given(a.operands.begin(), a.operands.end());
  for (std::size_t k = 0; k < moving.size(); ++k)
    if (moving[k] != 0) given.push_back(a.tangents[k].owner ? a.tangents[k] : build::zeros_like(a.operands[k]));
  return given;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
