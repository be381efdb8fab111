// Where the body of a loop finds its arguments and puts its results in each round.
#pragma once

#include <parallax/arrays/scratch_array.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::runtime {

/// What one round reads and writes.
struct loop_round {
  bool is_first = true;   ///< then it reads what the loop begins with
  std::int64_t slice = 0; ///< of stacked operands and results
  bool to_own = true;     ///< carries go to the place of the results, else to the other one
};

/// The rounds of a scan. The last one writes carries to the place of the results.
struct scan_rounds {
  std::int64_t count;
  bool is_reversed;

  loop_round operator[](std::int64_t round) const {
    return {round == 0, is_reversed ? count - 1 - round : round, (count - 1 - round) % 2 == 0};
  }
};

/// Slices are read and written in place. Carries are not copied: rounds write to two places in turn, or change what
/// stays in one.
class loop_places {
 public:
  /// `data_of` gives a buffer's first byte.
  template <class Data>
  loop_places(const section_plan& section, record_list<scan_operand> all_operands, record_list<scan_result> all_results,
              const Data& data_of)
      : operands(index_of(all_operands.count)),
        results(index_of(all_results.count)),
        argument_places(operands.size()),
        result_places(results.size()) {
    auto slice_bytes = [&](buffer_id buffer, dim slice) {
      return static_cast<std::int64_t>(checked_bytes(section.extents[slice], section.type_of(buffer)));
    };
    std::size_t next = 0;
    for (const scan_operand& x : section.plan[all_operands])
      operands[next++] = {data_of(x.buffer), nullptr, slice_bytes(x.buffer, x.slice), x.role};
    next = 0;
    for (const scan_result& y : section.plan[all_results]) {
      const bool is_carry = y.other != buffer_id::none;
      results[next++] = {data_of(y.buffer), is_carry ? data_of(y.other) : nullptr, slice_bytes(y.buffer, y.slice),
                         is_carry ? scan_role::carry : scan_role::stacked};
    }
  }

  void go_to(loop_round round) {
    for (std::size_t k = 0; k < results.size(); ++k)
      result_places[k] =
          results[k].role == scan_role::carry ? results[k].turn(round.to_own) : results[k].slice(round.slice);
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      switch (operands[k].role) {
      case scan_role::constant: argument_places[k] = operands[k].first; break;
      case scan_role::stacked: argument_places[k] = operands[k].slice(round.slice); break;
      case scan_role::carry:
        argument_places[k] =
            round.is_first && !results[carry].stays() ? operands[k].first : results[carry].turn(!round.to_own);
        ++carry;
        break;
      }
    }
  }
  plain_span<std::byte* const> arguments() const { return {argument_places.data(), argument_places.size()}; }
  plain_span<std::byte* const> outputs() const { return {result_places.data(), result_places.size()}; }

  /// Before the first round: calls `copy(to, from, number)` for each carry that stays in one place.
  template <class Copy> void bring_in(const Copy& copy) {
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].role != scan_role::carry) continue;
      if (results[carry].stays()) copy(results[carry].first, operands[k].first, carry);
      ++carry;
    }
  }
  /// The same for all carries, of which those that have two places come to the other one, or to their own.
  template <class Copy> void begin_in_other(const Copy& copy) { begin_in(copy, &place::other); }
  template <class Copy> void begin_in_own(const Copy& copy) { begin_in(copy, &place::first); }
  /// Calls `copy(to, from, number)` for each carry that `round`, which is not run, would read, to the place of the
  /// result of that number.
  template <class Copy> void copy_carries(loop_round round, const Copy& copy) {
    go_to(round);
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].role != scan_role::carry) continue;
      if (argument_places[k] != results[carry].first) copy(results[carry].first, argument_places[k], carry);
      ++carry;
    }
  }

 private:
  struct place {
    std::byte* first = nullptr;
    std::byte* other = nullptr; ///< of a carried result
    std::int64_t slice_bytes = 0;
    scan_role role = scan_role::constant;

    std::byte* slice(std::int64_t number) const { return byte_at(first, number * slice_bytes); }
    std::byte* turn(bool to_own) const { return to_own ? first : other; }
    bool stays() const { return role == scan_role::carry && first == other; }
  };
  template <class Copy> void begin_in(const Copy& copy, std::byte* place::* where) {
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].role != scan_role::carry) continue;
      copy(results[carry].*where, operands[k].first, carry);
      ++carry;
    }
  }
  scratch_array<place, 32> operands, results;
  scratch_array<std::byte*, 32> argument_places, result_places;
};

} // namespace parallax::runtime
