// How loops and branches are prepared: their bodies are prepared, and functions with derivatives of their own become
// their bodies.
#pragma once

#include <parallax/compile/prepare/emit_loop.hpp>
#include <parallax/compile/prepare/flatten.hpp>
#include <parallax/compile/prepare/prepare.hpp>
#include <parallax/compile/prepare/summed_products.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/checkpoint_call.hpp>
#include <parallax/transforms/calls/cond_call.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/calls/ffi_call.hpp>
#include <parallax/transforms/calls/linear_solve_call.hpp>
#include <parallax/transforms/calls/scan_call.hpp>
#include <parallax/transforms/calls/while_call.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// A graph of the same inputs as `body`, ready to be lowered.
constexpr graph_id prepared_body(preparation& all, graph_id body) {
  context& trace = all.trace;
  const graph_id prepared = trace.open_graph();
  growing_vector<tracer> inputs;
  for (std::size_t k = 0; k < trace.at(body).inputs.size(); ++k)
    inputs.push_back(new_input(trace, trace.at(body).value(trace.at(body).inputs[k])));
  const growing_vector<tracer> outputs = all.replay_graph(body, inputs);
  if (!trace.failed) for_each(outputs, [&](const tracer& y) { add_output(trace, y); });
  trace.close_graph();
  all.result.bodies.push_back(prepared);
  return prepared;
}

} // namespace detail

namespace primitives {

constexpr void scan_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  if (parallax::detail::made_section<scan_call>(all, call, p)) return;
  auto prepare = [&](graph_id body) { return parallax::detail::prepared_body(all, body); };
  parallax::detail::summed_products sums(all.trace, p);
  if (!sums.empty()) return all.set_results(call, sums.append(all.operands(call), prepare));
  parameters prepared = p;
  prepared.body = prepare(p.body);
  if (!all.trace.failed)
    all.set_results(call, parallax::detail::emit_loop<scan_call>(all.trace, all.operands(call), prepared));
}
constexpr void while_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  if (parallax::detail::made_section<while_call>(all, call, p)) return;
  parameters prepared = p;
  prepared.predicate = parallax::detail::prepared_body(all, p.predicate);
  prepared.body = parallax::detail::prepared_body(all, p.body);
  if (!all.trace.failed)
    all.set_results(call, parallax::detail::emit_loop<while_call>(all.trace, all.operands(call), prepared));
}

constexpr void custom_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  all.set_results(call, all.replay_graph(p.body, all.operands(call)));
}

constexpr void checkpoint_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  all.set_results(call, all.replay_graph(p.body, all.operands(call)));
}

constexpr void linear_solve_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  all.set_results(call, all.replay_graph(p.solve, all.operands(call)));
}

constexpr void ffi_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  all.replace_call<ffi_call>(call, p);
}

constexpr void cond_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  if (parallax::detail::made_section<cond_call>(all, call, p)) return;
  parameters prepared;
  for (const graph_id branch : p.branches) prepared.branches.push_back(parallax::detail::prepared_body(all, branch));
  if (!all.trace.failed) all.replace_call<cond_call>(call, prepared);
}

} // namespace primitives
} // namespace parallax::PARALLAX_INLINE_VERSION
