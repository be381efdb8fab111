// Where the body of a loop finds its arguments and puts its results in each round.
#pragma once

#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/carry_ring.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// What one round reads and writes.
struct loop_round {
  bool is_first = true;   ///< then it reads the loop's operands
  std::int64_t slice = 0; ///< of stacked operands and results
  std::int64_t left = 0;  ///< rounds that follow; after the last one, carries are in the results' own buffers
};

/// The rounds of a scan.
struct scan_rounds {
  std::int64_t count;
  bool is_reversed;

  loop_round operator[](std::int64_t round) const {
    return {round == 0, is_reversed ? count - 1 - round : round, count - 1 - round};
  }
};

/// Slices are read and written in place. Carries are not copied: a carry has two buffers in turn, is updated in place,
/// or is passed on by exchanging addresses.
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
      operands[next++] = {data_of(x.buffer), {}, slice_bytes(x.buffer, x.slice), x.role};
    const plain_span<const scan_result> records = section.plan[all_results];
    for (std::size_t k = 0; k < results.size(); ++k) {
      const scan_result& y = records[k];
      place& result = results[k];
      result = {data_of(y.buffer), {}, slice_bytes(y.buffer, y.slice), scan_role::stacked};
      if (y.other == buffer_id::none) continue;
      result.role = scan_role::carry;
      result.ring = ring_of(records, k);
      for (int turn = 0; turn < result.ring.size; ++turn) result.turns[turn] = data_of(result.ring.places[turn]);
    }
  }

  void go_to(loop_round round) {
    for (std::size_t k = 0; k < results.size(); ++k)
      result_places[k] =
          results[k].role == scan_role::carry ? results[k].after(round.left) : results[k].slice(round.slice);
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      switch (operands[k].role) {
      case scan_role::constant: argument_places[k] = operands[k].first; break;
      case scan_role::stacked: argument_places[k] = operands[k].slice(round.slice); break;
      case scan_role::carry:
        argument_places[k] = round.is_first && !results[carry].ring.starts_inside()
                                 ? operands[k].first
                                 : results[carry].after(round.left + 1);
        ++carry;
        break;
      }
    }
  }
  plain_span<std::byte* const> arguments() const { return {argument_places.data(), argument_places.size()}; }
  plain_span<std::byte* const> outputs() const { return {result_places.data(), result_places.size()}; }

  /// Call before the first of `rounds`. Calls `copy(to, from, number)` for each carry that the first round, too, reads
  /// from a buffer of the results.
  template <class Copy> void bring_in(std::int64_t rounds, const Copy& copy) {
    begin(rounds, copy, [](const place& carry) { return carry.ring.starts_inside(); });
  }
  /// As `bring_in`, but copies all carries.
  template <class Copy> void begin_inside(std::int64_t rounds, const Copy& copy) {
    begin(rounds, copy, [](const place&) { return true; });
  }
  /// Copies the carries to their results: calls `copy(to, from, number)` for each carry that is somewhere else when
  /// `round`, which is not run, would read it. None of them is handed on.
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
    std::byte* turns[carry_ring::most] = {}; ///< of a carried result
    std::int64_t slice_bytes = 0;
    scan_role role = scan_role::constant;
    carry_ring ring{};

    std::byte* slice(std::int64_t number) const { return byte_at(first, number * slice_bytes); }
    std::byte* after(std::int64_t left) const { return turns[ring.place(left)]; }
  };
  template <class Copy, class Condition>
  void begin(std::int64_t rounds, const Copy& copy, const Condition& does_begin) {
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].role != scan_role::carry) continue;
      if (does_begin(results[carry])) copy(results[carry].after(rounds), operands[k].first, carry);
      ++carry;
    }
  }
  scratch_array<place, 32> operands, results;
  scratch_array<std::byte*, 32> argument_places, result_places;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
