// What is known of a loop while compiling: its operands and results, and which of them are carries.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/carry_ring.hpp>
#include <parallax/program/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// `Step` is the record's type: of a scan, or a while loop.
template <class Program, class Step, int Index> struct static_carries {
  static constexpr Step step = Program::plan.template at<Step>(Index);
  static constexpr section_record body = Program::plan.section(step.body);
  static constexpr std::size_t operand_count = index_of(step.operands.count),
                               result_count = index_of(step.results.count);

  static constexpr const scan_operand& operand(std::size_t k) { return Program::plan[step.operands][k]; }
  static constexpr const scan_result& result(std::size_t k) { return Program::plan[step.results][k]; }
  static constexpr bool is_carry(std::size_t result_number) { return result(result_number).other != buffer_id::none; }
  /// Whether a result is a carry that rounds change in place.
  static constexpr bool stays(std::size_t k) { return is_carry(k) && result(k).other == result(k).buffer; }
  static constexpr carry_ring ring(std::size_t k) { return ring_of(Program::plan[step.results], k); }
  /// The number of the carry that a result is handed on from; `result_count` if a round computes the result.
  static constexpr std::size_t source(std::size_t k) {
    return stays(k) ? result_count : carry_in(Program::plan[step.results], result(k).other);
  }
  /// The operand that is carry number `carry`.
  static constexpr std::size_t operand_of(std::size_t carry) {
    std::size_t k = 0, before = 0;
    while (operand(k).role != scan_role::carry || before++ != carry) ++k;
    return k;
  }
  /// How many of the operands before this one are carries: which carry it is, if it is one.
  static constexpr std::size_t carry_of(std::size_t operand_number) {
    std::size_t carries = 0;
    for (std::size_t k = 0; k < operand_number; ++k) carries += operand(k).role == scan_role::carry ? 1U : 0U;
    return carries;
  }
  static constexpr std::size_t carry_count = [] { return carry_of(operand_count); }();
  /// The body's buffer of an output.
  static constexpr const buffer_record& output(std::size_t number) {
    for (const buffer_record& buffer : Program::plan[body.buffers])
      if (buffer.kind == buffer_kind::output && index_of(buffer.number) == number) return buffer;
    return Program::plan[body.buffers][0];
  }

  /// Carries of static extents as objects.
  template <std::size_t Carry> struct carry {
    element_t<output(Carry).type>
        values[output(Carry).count.number() == 0 ? 1 : index_of(output(Carry).count.number())];
  };
  template <class Indices> struct carries_of;
  template <std::size_t... C> struct carries_of<std::index_sequence<C...>> : carry<C>... {};
  using carries = carries_of<std::make_index_sequence<carry_count>>;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
