// How a scan is prepared: its body is.
#pragma once

#include <parallax/compile/prepare/prepare.hpp>
#include <parallax/transforms/scan_call.hpp>

namespace parallax::primitives {

constexpr void scan_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  context& trace = all.trace;
  parameters prepared = p;
  prepared.body = trace.open_graph();
  growing_vector<tracer> inputs;
  for (std::size_t k = 0; k < p.roles.size(); ++k)
    inputs.push_back(parallax::detail::new_input(trace, trace.at(p.body).value(trace.at(p.body).inputs[k])));
  ++all.scans;
  const growing_vector<tracer> outputs = all.replay_graph(p.body, inputs);
  --all.scans;
  if (!trace.failed)
    parallax::detail::for_each(outputs, [&](const tracer& y) { parallax::detail::add_output(trace, y); });
  trace.close_graph();
  if (trace.failed) return;
  all.replace_call<scan_call>(call, prepared);
  all.result.bodies.push_back(prepared.body);
}

} // namespace parallax::primitives
