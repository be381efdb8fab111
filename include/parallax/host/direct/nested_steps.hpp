// Loops and branches of a direct call whose bodies compute more than a few numbers: each round gets the addresses of
// its arguments and results.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/section_memory.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/static_carries.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

template <class Program, section_id Section, class Extents, class Execution> class loop_steps;

/// Runs a section with arguments and results at these places, in memory behind the outer section's slots.
template <class Program, section_id Section, class Outer>
PARALLAX_INLINE void run_body(const Outer& outer, const std::byte* const* arguments, std::byte* const* results) {
  using extents = typename Outer::extents_type;
  using execution = typename Outer::execution_type;
  using memory = section_memory<Program, Section, extents, execution>;
  std::size_t offsets[memory::slot_count + 1];
  memory::place_slots(offsets, outer.extents);
  loop_steps<Program, Section, extents, execution> body(outer.extents, arguments, results, outer.memory_behind,
                                                        offsets);
  body.row_memory = outer.row_memory;
  body.run();
}

/// Runs a scan or a while loop. `Step` is its record's type, `Outer` the steps that it is one of.
template <class Program, class Step, int Index, class Outer> class nested_loop {
  using loop = static_carries<Program, Step, Index>;

 public:
  explicit nested_loop(const Outer& around) : outer(around) {}

  void run_scan(std::int64_t rounds) {
    bring_in(rounds, std::make_index_sequence<loop::carry_count>{});
    if (rounds == 0) return copy_carries(true, -1, std::make_index_sequence<loop::carry_count>{});
    for (std::int64_t round = 0; round < rounds; ++round) {
      place(round == 0, rounds - 1 - round, loop::step.reverse ? rounds - 1 - round : round);
      run_body<Program, loop::step.body>(outer, arguments, results);
    }
  }
  void run_while() {
    bring_in(0, std::make_index_sequence<loop::carry_count>{});
    bool is_first = true, holds = false;
    std::int64_t left = 0;
    std::byte* const answer = reinterpret_cast<std::byte*>(&holds);
    while (true) {
      place(is_first, left, 0);
      run_body<Program, loop::step.predicate>(outer, arguments, &answer);
      if (!holds) break;
      run_body<Program, loop::step.body>(outer, arguments, results);
      is_first = false;
      --left;
    }
    copy_carries(is_first, left, std::make_index_sequence<loop::carry_count>{});
  }

 private:
  const Outer& outer;
  const std::byte* arguments[loop::operand_count + 1];
  std::byte* results[loop::result_count + 1];

  std::byte* first_byte(buffer_id buffer) const { return outer.first_bytes[index_of(buffer)]; }
  template <std::size_t C> std::size_t carry_bytes() const {
    return index_of(outer.extents[loop::output(C).count]) * size_of(loop::output(C).type);
  }
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  /// The address of a carry when `left` rounds follow.
  template <std::size_t C> std::byte* carry_place(std::int64_t left) const {
    static constexpr carry_ring ring = loop::ring(C);
    if constexpr (ring.size == 1) return first_byte(ring.places[0]);
    else return first_byte(ring.places[ring.place(left)]);
  }
  /// Copies the carries that the first round reads from a buffer of the results to that buffer.
  template <std::size_t... C> void bring_in([[maybe_unused]] std::int64_t rounds, std::index_sequence<C...>) {
    (bring_in_one<C>(rounds), ...);
  }
  template <std::size_t C> void bring_in_one(std::int64_t rounds) {
    if constexpr (loop::ring(C).starts_inside())
      copy(carry_place<C>(rounds), first_byte(loop::operand(loop::operand_of(C)).buffer), carry_bytes<C>());
  }
  void place(bool is_first, std::int64_t left, std::int64_t slice) {
    place_arguments(is_first, left, slice, std::make_index_sequence<loop::operand_count>{});
    place_results(left, slice, std::make_index_sequence<loop::result_count>{});
  }
  template <std::size_t... K>
  void place_arguments([[maybe_unused]] bool is_first, [[maybe_unused]] std::int64_t left,
                       [[maybe_unused]] std::int64_t slice, std::index_sequence<K...>) {
    ((arguments[K] = argument<K>(is_first, left, slice)), ...);
  }
  template <std::size_t K>
  const std::byte* argument([[maybe_unused]] bool is_first, [[maybe_unused]] std::int64_t left,
                            [[maybe_unused]] std::int64_t slice) const {
    constexpr scan_operand x = loop::operand(K);
    if constexpr (x.role == scan_role::constant) {
      return first_byte(x.buffer);
    } else if constexpr (x.role == scan_role::stacked) {
      return slice_of(x.buffer, x.slice, slice);
    } else {
      constexpr std::size_t carry = loop::carry_of(K);
      if (is_first && !loop::ring(carry).starts_inside()) return first_byte(x.buffer);
      return carry_place<carry>(left + 1);
    }
  }
  template <std::size_t... K>
  void place_results([[maybe_unused]] std::int64_t left, [[maybe_unused]] std::int64_t slice,
                     std::index_sequence<K...>) {
    ((results[K] = result<K>(left, slice)), ...);
  }
  template <std::size_t K>
  std::byte* result([[maybe_unused]] std::int64_t left, [[maybe_unused]] std::int64_t slice) const {
    constexpr scan_result y = loop::result(K);
    if constexpr (loop::is_carry(K)) return carry_place<K>(left);
    else return slice_of(y.buffer, y.slice, slice);
  }
  /// The address of a slice; null if the array has no memory.
  std::byte* slice_of(buffer_id buffer, dim elements, std::int64_t number) const {
    std::byte* const first = first_byte(buffer);
    const auto bytes = static_cast<std::int64_t>(size_of(outer.type_of(buffer)));
    return first == nullptr ? nullptr : first + number * outer.extents[elements] * bytes;
  }
  /// Copies each carry to its result, from the address where a round that is not run would read it.
  template <std::size_t... C>
  void copy_carries([[maybe_unused]] bool is_first, [[maybe_unused]] std::int64_t left, std::index_sequence<C...>) {
    (copy_carry<C>(is_first, left), ...);
  }
  template <std::size_t C> void copy_carry(bool is_first, std::int64_t left) {
    std::byte* const own = first_byte(loop::result(C).buffer);
    const std::byte* const last = argument<loop::operand_of(C)>(is_first, left, 0);
    if (last != own) copy(own, last, carry_bytes<C>());
  }
};

/// Runs the branch that a number chooses.
template <class Program, int Index, class Outer> class nested_cond {
  static constexpr cond_step step = Program::plan.template at<cond_step>(Index);
  static constexpr std::size_t operand_count = index_of(step.operands.count),
                               result_count = index_of(step.results.count);

 public:
  static void run(const Outer& outer) {
    const std::byte* arguments[operand_count + 1];
    std::byte* results[result_count + 1];
    for (std::size_t k = 0; k < operand_count; ++k)
      arguments[k] = outer.first_bytes[index_of(Program::plan[step.operands][k])];
    for (std::size_t k = 0; k < result_count; ++k)
      results[k] = outer.first_bytes[index_of(Program::plan[step.results][k])];
    std::int32_t chosen = 0;
    std::memcpy(&chosen, outer.first_bytes[index_of(step.index)], sizeof chosen);
    run_chosen(outer, chosen, arguments, results, std::make_index_sequence<index_of(step.branches.count)>{});
  }

 private:
  template <std::size_t... B>
  static void run_chosen(const Outer& outer, std::int32_t chosen, const std::byte* const* arguments,
                         std::byte* const* results, std::index_sequence<B...>) {
    ((chosen == std::int32_t{B} ? run_body<Program, Program::plan[step.branches][B]>(outer, arguments, results)
                                : void()),
     ...);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
