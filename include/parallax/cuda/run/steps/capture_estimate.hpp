// The properties of a section's graph before it is captured: whether it is possible, the number of its steps, and the
// memory of its loops.
#pragma once

#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/exchanges/exchange_memory.hpp>
#include <parallax/cuda/run/steps/batch_addresses.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/cuda/run/steps/slices_in_place.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The kind of exchanges in a graph.
enum class captured_exchange {
  none,        ///< there are none: a process that launches graphs on several devices may wait for itself for ever
  copy,        ///< on a device that is alone
  of_processes ///< NCCL's, of processes with one device each; not in nodes that conditions decide
};

/// The conditions of a capture: the kind of exchanges, whether nodes may be conditional, whether floating numbers are
/// combined in the host's order, which takes memory that graphs do not have, and which loops are kernels.
struct capture_conditions {
  captured_exchange exchange = captured_exchange::copy;
  bool may_branch = true, deterministic = false;
  whole_loops whole{};
};

/// The estimate for a section with the extents of a call.
class capture_estimate {
 public:
  static constexpr std::int64_t most_unrolled = 1024; ///< steps of all rounds of a scan; longer ones count rounds
  static constexpr std::size_t control_bytes = 256;   ///< memory of a loop beside its bodies' slots

  bool is_possible = true;
  bool is_unconditional = false; ///< has calls that may not be in conditional nodes
  std::int64_t steps = 0;
  std::size_t bytes_of_bodies = 0; ///< of loops, one inside the other
  int depth = 0;                   ///< of conditional nodes, one inside the other

  capture_estimate(const section_plan& section, const capture_conditions& where) : of(section), allowed(where) {
    for (const step_record& step : of.steps()) visit_step(of.plan, step, *this);
  }

  /// Whether a scan's rounds are captured one after another.
  static bool is_unrolled(const section_plan& section, const scan_step& step, const capture_conditions& where) {
    const std::int64_t rounds = section.extents[step.count];
    if (rounds < 4 || !where.may_branch) return true;
    const capture_estimate body({section.plan, step.body, section.extents}, where);
    return !body.is_possible || body.is_unconditional || body.steps * rounds <= most_unrolled;
  }
  /// The memory of a scan that counts its rounds: one slice of each stacked array that is not read or written in place.
  static std::size_t bytes_of_slices(const section_plan& section, const scan_step& step) {
    std::size_t sum = 0;
    for_each_stacked_array(section.plan, step, [&](const stacked_array& x) {
      if (!x.in_place) sum += aligned(slice_bytes(section, x.buffer, x.slice_elements));
    });
    return sum;
  }
  static std::size_t slice_bytes(const section_plan& section, buffer_id buffer, dim elements) {
    return runtime::checked_bytes(section.extents[elements], section.type_of(buffer));
  }

  // Steps

  void operator()(const kernel_step&) { ++steps; }
  void operator()(const product_step&) { ++steps; }
  void operator()(const epilogue_step&) { ++steps; }
  void operator()(const accumulation_step&) { ++steps; }
  void operator()(const placed_product_step&) { ++steps; }
  void operator()(const launch_batch_step& step) { steps += step.parts.count; } // if they are launched one by one
  void operator()(const axis_slice_step&) { ++steps; }
  void operator()(const ffi_step&) { ++steps; }
  void operator()(const exchange_step& step) {
    ++steps;
    switch (allowed.exchange) {
    case captured_exchange::none: is_possible = false; break;
    case captured_exchange::copy: break;
    case captured_exchange::of_processes:
      is_unconditional = true;
      is_possible = is_possible && !takes_memory(step);
      break;
    }
  }
  void operator()(const mapped_section_step&) { is_possible = false; }
  void operator()(const scan_step& step) {
    if (allowed.whole.have(of.plan, step)) {
      ++steps;
      return;
    }
    const capture_estimate body = estimate(step.body);
    const std::int64_t rounds = of.extents[step.count];
    if (is_unrolled(of, step, allowed)) {
      steps += rounds * body.steps + 1;
      return want(step.body, body, 0, 0);
    }
    // a node has as many rounds as carries need to return to their first buffers; the remaining rounds come before it
    const int period = period_of(of.plan[step.results]);
    steps += (2 * period - 1) * (body.steps + 2) + 2;
    want(step.body, body, control_bytes + bytes_of_slices(of, step), 1);
  }
  void operator()(const while_step& step) {
    if (allowed.whole.have(of.plan, step)) {
      ++steps;
      return;
    }
    const capture_estimate predicate = estimate(step.predicate), body = estimate(step.body);
    is_possible = is_possible && allowed.may_branch && !body.is_unconditional && !predicate.is_unconditional;
    steps += 2 * body.steps + 3 * predicate.steps + 6;
    want(step.predicate, predicate, control_bytes, 2);
    want(step.body, body, control_bytes, 2);
  }
  void operator()(const cond_step& step) {
    is_possible = is_possible && allowed.may_branch;
    for (section_id each : of.plan[step.branches]) {
      const capture_estimate branch = estimate(each);
      is_possible = is_possible && !branch.is_unconditional;
      steps += branch.steps + 1;
      want(each, branch, 0, 1);
    }
  }

 private:
  const section_plan& of;
  capture_conditions allowed;

  bool takes_memory(const exchange_step& step) const {
    return is_rearranged(step.kind, index_of(of.extents[step.outer])) ||
           is_gathered(step.kind, of.type_of(step.source), allowed.deterministic);
  }
  capture_estimate estimate(section_id body) const { return {section_plan(of.plan, body, of.extents), allowed}; }
  void want(section_id body, const capture_estimate& inside, std::size_t beside, int nodes) {
    const section_plan run(of.plan, body, of.extents);
    scratch_array<std::size_t, 32> offsets(index_of(run.section.slot_count) + 1);
    run.plan_slots(offsets);
    const std::size_t own = aligned(offsets[offsets.size() - 1]) + bytes_of_matrix_addresses(run);
    bytes_of_bodies = std::max(bytes_of_bodies, beside + own + inside.bytes_of_bodies);
    depth = std::max(depth, nodes + inside.depth);
    is_possible = is_possible && inside.is_possible;
    is_unconditional = is_unconditional || inside.is_unconditional;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
