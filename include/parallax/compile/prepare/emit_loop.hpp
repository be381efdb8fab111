// Loops as they are lowered: a carry that no round changes becomes a constant.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/call.hpp>
#include <parallax/transforms/calls/scan_parameters.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Appends a loop, whose body belongs to it alone; returns its results. A carry that every round passes on unchanged
/// becomes a constant, which is not copied.
template <class Call>
constexpr growing_vector<tracer> emit_loop(context& trace, const growing_vector<tracer>& operands,
                                           typename Call::parameters p) {
  const growing_vector<int> carries = operands_of(p.roles, scan_role::carry);
  graph& body = trace.at(p.body);
  const growing_vector<node_id> outputs = body.outputs;
  growing_vector<tracer> results; // without an owner if the loop makes them
  body.outputs.clear();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    results.push_back({});
    if (k < carries.size() && outputs[k] == body.inputs[index_of(carries[k])]) {
      p.roles[index_of(carries[k])] = scan_role::constant;
      results[k] = operands[index_of(carries[k])];
    } else {
      body.outputs.push_back(outputs[k]);
    }
  }
  if (body.outputs.empty()) return results;
  const growing_vector<tracer> made = emit_call<Call>(trace, operands, p);
  std::size_t next = 0;
  for_each(results, [&](tracer& y) {
    if (!y.owner) y = made[next++];
  });
  return results;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
