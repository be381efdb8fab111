// Which arguments' memory the results of a program may take if the caller gives arguments away.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <array>
#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// Finds arguments whose memory a result may take: of the same size, and last read before the result is written, or in
/// the same step, element by element or by the all-reduce that makes it.
template <class Plan> class donor_finder {
 public:
  /// `given_away` says which arguments may be taken.
  constexpr donor_finder(const Plan& all, plain_span<const bool> given_away) : plan(all), is_given(given_away) {}

  /// The argument whose memory result `number` may take, which no result has taken yet; -1 if there is none.
  constexpr int donor_of(std::size_t number, plain_span<const int> taken) const {
    const output_record& output = plan[main().outputs][number];
    for (int argument = 0; argument < main().argument_count; ++argument) {
      if (!is_given[index_of(argument)] || plain::contains(taken, argument)) continue;
      const bool may = output.value == value_id::none
                           ? is_safe(main(), buffer_of(main(), buffer_kind::bound, argument),
                                     buffer_of(main(), buffer_kind::output, static_cast<int>(number)))
                           : is_safe_in_call(output.value, argument);
      if (may) return argument;
    }
    return -1;
  }

 private:
  const Plan& plan;
  plain_span<const bool> is_given;

  constexpr const section_record& main() const { return plan.section(section_id::main); }
  constexpr buffer_id buffer_of(const section_record& section, buffer_kind kind, int number) const {
    for (std::size_t k = 0; k < plan[section.buffers].size(); ++k)
      if (plan[section.buffers][k].kind == kind && plan[section.buffers][k].number == number)
        return buffer_id{static_cast<int>(k)};
    return buffer_id::none;
  }
  constexpr bool touches(const step_record& step, buffer_id buffer) const {
    bool found = false;
    visit_buffers(plan, step, [&](buffer_id each) { found = found || each == buffer; });
    return found;
  }

  constexpr bool is_safe(const section_record& section, buffer_id argument, buffer_id result) const {
    if (argument == buffer_id::none || result == buffer_id::none) return false;
    const buffer_record &old = plan[section.buffers][index_of(argument)],
                        &made = plan[section.buffers][index_of(result)];
    if (!(old.count == made.count) || size_of(old.type) != size_of(made.type)) return false;
    bool is_written = false;
    for (const step_record& step : plan[section.steps]) {
      const bool reads = touches(step, argument), writes = touches(step, result);
      if (reads && is_written) return false;
      if (reads && step.kind == step_kind::exchange && !writes) return false; // exchanges may run later
      if (reads && writes && !reads_before_it_writes(step, argument, result)) return false;
      is_written = is_written || writes;
    }
    return true;
  }
  /// Whether a step that uses both buffers reads the argument before it writes the result. This is an elementwise loop
  /// that loads each element of the argument before it stores the result's, a product that is added to the argument, or
  /// an all-reduce.
  constexpr bool reads_before_it_writes(const step_record& step, buffer_id argument, buffer_id result) const {
    switch (step.kind) {
    case step_kind::kernel: return loop_reads_first(plan.template at<kernel_step>(step.index), argument, result);
    case step_kind::exchange: return plan.template at<exchange_step>(step.index).kind == exchange_kind::all_reduce;
    case step_kind::accumulation:
      return addition_reads_first(plan.template at<accumulation_step>(step.index), argument, result);
    case step_kind::launch_batch:
      return one_part_reads_first(plan.template at<launch_batch_step>(step.index), argument, result);
    case step_kind::product:
    case step_kind::epilogue:
    case step_kind::placed_product:
    case step_kind::axis_slice:
    case step_kind::mapped_section:
    case step_kind::scan:
    case step_kind::while_loop:
    case step_kind::cond:
    case step_kind::ffi: return false;
    }
    return false;
  }
  /// Whether the step adds a product to the argument, and the product itself uses neither the argument nor the result.
  constexpr bool addition_reads_first(const accumulation_step& step, buffer_id argument, buffer_id result) const {
    const plain_span<const step_record> parts = plan[step.parts];
    return step.base == argument && !touches(parts[0], argument) && !touches(parts[0], result) &&
           reads_before_it_writes(parts[1], argument, result);
  }
  /// Parts run in any order, so only one of them may use either buffer, and that one has to use both.
  constexpr bool one_part_reads_first(const launch_batch_step& step, buffer_id argument, buffer_id result) const {
    int users = 0;
    bool is_before = false;
    for (const step_record& part : plan[step.parts]) {
      const bool reads = touches(part, argument), writes = touches(part, result);
      users += reads || writes ? 1 : 0;
      if (reads && writes) is_before = reads_before_it_writes(part, argument, result);
    }
    return users == 1 && is_before;
  }
  constexpr bool loop_reads_first(const kernel_step& loop, buffer_id argument, buffer_id result) const {
    const kernel_record& kernel = plan.template at<kernel_record>(static_cast<int>(loop.kernel));
    if (kernel.result != kernel_result::vector) return false;
    const plain_span<const operand_record> operands = plan[loop.operands];
    std::size_t stored = 0; // the number of the result's operand
    while (stored < operands.size() && operands[stored].buffer != result) ++stored;
    return stored < operands.size() && lie_alike(operands, argument, stored) &&
           loads_before_it_stores(plan[kernel.statements], operands, argument, stored);
  }
  /// Whether the argument is read with the offset and strides of operand `stored`, which is the only operand of its
  /// buffer.
  constexpr bool lie_alike(plain_span<const operand_record> operands, buffer_id argument, std::size_t stored) const {
    const operand_record& result = operands[stored];
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const operand_record& each = operands[k];
      if (k != stored && each.buffer == result.buffer) return false;
      if (each.buffer != argument) continue;
      if (!(each.offset == result.offset) || !plain::equal(plan[each.strides], plan[result.strides])) return false;
    }
    return true;
  }
  /// Whether no statement loads from the argument after a statement that stores operand `stored`. The first operand is
  /// stored after all statements. False for loops that gather, scatter or store rows.
  constexpr bool loads_before_it_stores(plain_span<const kernel_statement> statements,
                                        plain_span<const operand_record> operands, buffer_id argument,
                                        std::size_t stored) const {
    bool is_stored = false;
    for (const kernel_statement& each : statements) {
      if (each.kind == statement_kind::store_row || is_gather(each.kind) || is_scatter(each.kind)) return false;
      const bool is_array = is_store(each.kind) || (is_load(each.kind) && each.kind != statement_kind::load_constant);
      if (!is_array) continue;
      const std::size_t operand = index_of(each.argument);
      if (is_store(each.kind)) is_stored = is_stored || operand == stored;
      else if (is_stored && operands[operand].buffer == argument) return false;
    }
    return true;
  }

  /// Whether a result of a mapped section may take an argument's memory: the section is the argument's only reader, and
  /// both lie on its devices in the same way.
  constexpr bool is_safe_in_call(value_id value, int argument) const {
    const buffer_id source = buffer_of(main(), buffer_kind::bound, argument);
    int readers = 0;
    bool is_safe_there = false;
    for (const step_record& step : plan[main().steps]) {
      visit_buffers(plan, step, [&](buffer_id each) { readers += each == source ? 1 : 0; });
      if (step.kind == step_kind::mapped_section) is_safe_there = is_safe_there || makes(step, value, source);
    }
    return source != buffer_id::none && readers == 1 && is_safe_there;
  }
  constexpr bool makes(const step_record& step, value_id value, buffer_id source) const {
    const mapped_section_step& call = plan.template at<mapped_section_step>(step.index);
    const section_record& section = plan.section(call.section);
    for (std::size_t r = 0; r < plan[call.results].size(); ++r) {
      if (plan[call.results][r] != value) continue;
      for (std::size_t k = 0; k < plan[call.operands].size(); ++k) {
        const mapped_operand& operand = plan[call.operands][k];
        if (operand.buffer == source && lies_alike(plan[operand.spread], plan[plan[section.outputs][r].spread]) &&
            is_safe(section, buffer_of(section, buffer_kind::bound, static_cast<int>(k)),
                    buffer_of(section, buffer_kind::output, static_cast<int>(r))))
          return true;
      }
    }
    return false;
  }
  static constexpr bool lies_alike(plain_span<const spread_dimension> a, plain_span<const spread_dimension> b) {
    return plain::equal(a, b, [](const spread_dimension& left, const spread_dimension& right) {
      return left.over == right.over && left.dimension == right.dimension;
    });
  }
};

/// By result of a program, the argument whose memory it may take; -1 for none. `given_away` is by argument.
template <class Program, std::size_t Arguments>
constexpr auto donors_of(const std::array<bool, Arguments>& given_away) {
  constexpr std::size_t results = index_of(Program::plan.section(section_id::main).outputs.count);
  std::array<int, results> donors{};
  donors.fill(-1);
  const donor_finder finder(Program::plan, plain_span<const bool>(given_away));
  for (std::size_t k = 0; k < results; ++k) donors[k] = finder.donor_of(k, plain_span<const int>(donors));
  return donors;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
