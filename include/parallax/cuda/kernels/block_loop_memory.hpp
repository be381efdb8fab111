// Where one block that runs a whole loop keeps what its rounds compute: in shared memory, at places that are known
// while compiling.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/program/section_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::cuda {

/// Of sections with static extents. A section has its slots, and behind them the memory of one loop or branch at a
/// time; a loop has its carries, in two places unless they stay in one, the predicate's answer, and the memory of its
/// sections.
template <class Plan> class block_loop_memory {
 public:
  constexpr explicit block_loop_memory(const Plan& of) : plan(of) {}

  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  /// Where a slot of a section begins, behind where the section's memory does; of a number beyond them, where they end.
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
  /// Of a loop, or of branches.
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
    case step_kind::exchange:
    case step_kind::axis_slice:
    case step_kind::ffi:
    case step_kind::call: return most;
    }
    return most;
  }

  /// Where a carry begins, behind where a loop's memory does; of a number beyond them, where they end.
  template <class Step> constexpr std::size_t carry_offset(const Step& loop, std::size_t carry) const {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < carry && k < index_of(loop.results.count); ++k)
      if (const scan_result& y = plan[loop.results][k]; y.other != buffer_id::none)
        offset += carry_bytes(loop, k) * (y.other == y.buffer ? 1 : 2);
    return offset;
  }
  template <class Step> constexpr std::size_t answer_offset(const Step& loop) const {
    return carry_offset(loop, index_of(loop.results.count));
  }
  /// What a loop keeps beside its bodies.
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
      if (buffer.kind == buffer_kind::slot && buffer.number == slot) bytes = std::max(bytes, bytes_of(buffer));
    return bytes;
  }
};

} // namespace parallax::cuda
