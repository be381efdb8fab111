// Where a loop's body finds its arguments and puts its results in each round.
#pragma once

#include <parallax/arrays/scratch_array.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/runtime/section_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::runtime {

/// Slices are read and written in place. Carries are not copied: rounds write to two places in turn so that the last
/// one writes the result, and the first one reads what the loop begins with.
class scan_places {
 public:
  const std::int64_t rounds;

  /// `data_of` gives a buffer's first byte.
  template <class Data>
  scan_places(const section_plan& section, const scan_step& loop, const Data& data_of)
      : rounds(section.extents[loop.count]),
        is_reversed(loop.reverse),
        operands(index_of(loop.operands.count)),
        results(index_of(loop.results.count)),
        argument_places(operands.size()),
        result_places(results.size()) {
    auto slice_bytes = [&](buffer_id buffer, dim slice) {
      return static_cast<std::int64_t>(checked_bytes(section.extents[slice], section.type_of(buffer)));
    };
    std::size_t next = 0;
    for (const scan_operand& x : section.plan[loop.operands])
      operands[next++] = {data_of(x.buffer), nullptr, slice_bytes(x.buffer, x.slice), x.role};
    next = 0;
    for (const scan_result& y : section.plan[loop.results]) {
      const bool is_carry = y.other != buffer_id::none;
      results[next++] = {data_of(y.buffer), is_carry ? data_of(y.other) : nullptr, slice_bytes(y.buffer, y.slice),
                         is_carry ? scan_role::carry : scan_role::stacked};
    }
  }

  /// The places of a round, from 0 on.
  void go_to(std::int64_t round) {
    const std::int64_t slice = is_reversed ? rounds - 1 - round : round;
    for (std::size_t k = 0; k < results.size(); ++k)
      result_places[k] = results[k].role == scan_role::carry ? written(k, round) : results[k].slice(slice);
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      switch (operands[k].role) {
      case scan_role::constant: argument_places[k] = operands[k].first; break;
      case scan_role::stacked: argument_places[k] = operands[k].slice(slice); break;
      case scan_role::carry:
        argument_places[k] = round == 0 ? operands[k].first : written(carry, round - 1);
        ++carry;
        break;
      }
    }
  }
  plain_span<std::byte* const> arguments() const { return {argument_places.data(), argument_places.size()}; }
  plain_span<std::byte* const> outputs() const { return {result_places.data(), result_places.size()}; }

  /// Calls `copy(to, from, number)` for each carry, which is what it begins with where there are no rounds; `number` is
  /// that of the result.
  template <class Copy> void copy_carries(const Copy& copy) const {
    std::size_t carry = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].role != scan_role::carry) continue;
      copy(results[carry].first, operands[k].first, carry);
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
  };
  bool is_reversed;
  scratch_array<place, 32> operands, results;
  scratch_array<std::byte*, 32> argument_places, result_places;

  std::byte* written(std::size_t carry, std::int64_t round) const {
    return (rounds - 1 - round) % 2 == 0 ? results[carry].first : results[carry].other;
  }
};

} // namespace parallax::runtime
