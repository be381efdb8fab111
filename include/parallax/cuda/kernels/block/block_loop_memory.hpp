// The shared memory of one block that runs a whole loop: the values of rounds have offsets that are known while
// compiling.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/carry_ring.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/program/section_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The layout for sections with static extents. A section has its slots, and behind them the memory of one loop or
/// branch at a time. A loop has the buffers of its carries, the predicate's result, and the memory of its sections.
template <class Plan> class block_loop_memory {
 public:
  constexpr explicit block_loop_memory(const Plan& of) : plan(of) {}

  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  /// The offset of a slot in its section's memory; for a number beyond the last slot, the end of the slots.
  constexpr std::size_t slot_offset(section_id section, int slot) const {
    std::size_t offset = 0;
    for (int before = 0; before < slot; ++before) offset += slot_bytes(section, before);
    return offset;
  }
  constexpr std::size_t slots_of(section_id section) const {
    return slot_offset(section, plan.section(section).slot_count);
  }
  constexpr std::size_t of_section(section_id section) const {
    std::size_t most = 0;
    for_each_step(plan, section, [&](const step_record& step) { most = std::max(most, of_step(step)); });
    return slots_of(section) + most;
  }
  /// The bytes of a loop, or of branches.
  constexpr std::size_t of_step(const step_record& step) const {
    std::size_t most = 0;
    for_each_body(plan, step, [&](section_id body) { most = std::max(most, of_section(body)); });
    switch (step.kind) {
    case step_kind::scan: return beside_bodies(plan.template at<scan_step>(step.index)) + most;
    case step_kind::while_loop: return beside_bodies(plan.template at<while_step>(step.index)) + most;
    case step_kind::cond:
    case step_kind::kernel:
    case step_kind::product:
    case step_kind::epilogue:
    case step_kind::accumulation:
    case step_kind::placed_product:
    case step_kind::launch_batch:
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::ffi:
    case step_kind::mapped_section: return most;
    }
    return most;
  }

  /// The offset of a carry's buffers in a loop's memory; for a number beyond the last carry, the end of the carries.
  /// Carries that are handed on have the buffers of the first of them.
  template <class Step> constexpr std::size_t carry_offset(const Step& loop, std::size_t carry) const {
    const plain_span<const scan_result> results = plan[loop.results];
    std::size_t first = carry;
    if (carry < results.size()) {
      const carry_ring of_first = ring_of(results, carry); // nvcc 12.4 forgets one without a name
      first = carry_in(results, of_first.places[0]);
    }
    std::size_t offset = 0;
    for (std::size_t k = 0; k < first && k < results.size(); ++k) {
      if (results[k].other == buffer_id::none) continue;
      const carry_ring ring = ring_of(results, k);
      if (carry_in(results, ring.places[0]) == k) offset += carry_bytes(loop, k) * static_cast<std::size_t>(ring.size);
    }
    return offset;
  }
  template <class Step> constexpr std::size_t answer_offset(const Step& loop) const {
    return carry_offset(loop, index_of(loop.results.count));
  }
  /// The bytes that a loop needs beside its bodies.
  template <class Step> constexpr std::size_t beside_bodies(const Step& loop) const {
    return answer_offset(loop) + aligned(1);
  }
  template <class Step> constexpr std::size_t carry_bytes(const Step& loop, std::size_t carry) const {
    for (const buffer_record& buffer : plan[plan.section(loop.body).buffers])
      if (buffer.kind == buffer_kind::output && index_of(buffer.number) == carry) return bytes_of(buffer);
    return 0;
  }

 private:
  const Plan& plan;

  static constexpr std::size_t bytes_of(const buffer_record& buffer) {
    return aligned(static_cast<std::size_t>(buffer.count.number()) * size_of(buffer.type));
  }
  constexpr std::size_t slot_bytes(section_id section, int slot) const {
    std::size_t bytes = 0;
    for (const buffer_record& buffer : plan[plan.section(section).buffers])
      if (buffer.kind == buffer_kind::slot && buffer.number == slot)
        bytes = std::max(bytes, static_cast<std::size_t>(buffer.offset) + bytes_of(buffer));
    return bytes;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
