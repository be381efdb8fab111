// The memory of a section that is compiled into a call: its slots, and behind them those of the bodies that it runs.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/names.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Slots begin at whole lines of a cache.
inline constexpr std::size_t line_bytes = 64;
constexpr std::size_t aligned_to_slot(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

/// `Extents` gives the values of extents. `Execution::bytes(count, type)` is the size of an array, `Execution::sum(a,
/// b)` the size of two pieces of memory together.
template <class Program, section_id Section, class Extents, class Execution> class section_memory {
  using steps = direct_steps<Program, Section>;

 public:
  static constexpr std::size_t slot_count = index_of(steps::section.slot_count);

  /// Sets `offsets`, `slot_count + 1` numbers: where each slot begins, which is as large as its largest buffer, and
  /// where the memory behind the last slot begins.
  static PARALLAX_INLINE constexpr void place_slots(std::size_t* offsets, const Extents& extents) {
    for (std::size_t i = 0; i <= slot_count; ++i) offsets[i] = 0;
    widen_all(offsets, extents, std::make_index_sequence<index_of(steps::section.buffers.count)>{});
    for (std::size_t i = 1; i <= slot_count; ++i) offsets[i] = Execution::sum(offsets[i - 1], offsets[i]);
  }
  /// The bytes of the slots and of the bodies' memory behind them.
  static PARALLAX_INLINE constexpr std::size_t bytes(const Extents& extents) {
    std::size_t offsets[slot_count + 1] = {};
    place_slots(offsets, extents);
    return Execution::sum(offsets[slot_count],
                          bytes_of_steps(extents, std::make_index_sequence<index_of(steps::count)>{}));
  }

 private:
  template <std::size_t... B>
  static PARALLAX_INLINE constexpr void widen_all(std::size_t* offsets, const Extents& extents,
                                                  std::index_sequence<B...>) {
    (widen<B>(offsets, extents), ...);
  }
  template <std::size_t B>
  static PARALLAX_INLINE constexpr void widen([[maybe_unused]] std::size_t* offsets,
                                              [[maybe_unused]] const Extents& extents) {
    constexpr buffer_record record = Program::plan[steps::section.buffers][B];
    if constexpr (record.kind == buffer_kind::slot) {
      std::size_t& size = offsets[index_of(record.number) + 1];
      const std::size_t end =
          Execution::sum(index_of(record.offset), Execution::bytes(extents[record.count], record.type));
      size = std::max(size, aligned_to_slot(end));
    }
  }

  template <std::size_t... I>
  static PARALLAX_INLINE constexpr std::size_t bytes_of_steps(const Extents& extents, std::index_sequence<I...>) {
    std::size_t most = 0;
    ((most = std::max(most, bytes_of_step<I>(extents))), ...);
    return most;
  }
  /// Bodies that are written out have no memory.
  template <std::size_t I> static PARALLAX_INLINE constexpr std::size_t bytes_of_step(const Extents& extents) {
    constexpr step_record step = steps::all[I];
    if constexpr (!runs_sections(step.kind) || steps::has_straight_bodies(step)) {
      return 0;
    } else if constexpr (step.kind == step_kind::scan) {
      return bytes_of<Program::plan.template at<scan_step>(step.index).body>(extents);
    } else if constexpr (step.kind == step_kind::while_loop) {
      constexpr while_step loop = Program::plan.template at<while_step>(step.index);
      return std::max(bytes_of<loop.predicate>(extents), bytes_of<loop.body>(extents));
    } else {
      static_assert(step.kind == step_kind::cond);
      return most_of_branches<step.index>(
          extents,
          std::make_index_sequence<index_of(Program::plan.template at<cond_step>(step.index).branches.count)>{});
    }
  }
  template <int Index, std::size_t... B>
  static PARALLAX_INLINE constexpr std::size_t most_of_branches(const Extents& extents, std::index_sequence<B...>) {
    return std::max(
        {std::size_t{0}, bytes_of<Program::plan[Program::plan.template at<cond_step>(Index).branches][B]>(extents)...});
  }
  template <section_id Body> static PARALLAX_INLINE constexpr std::size_t bytes_of(const Extents& extents) {
    return section_memory<Program, Body, Extents, Execution>::bytes(extents);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
