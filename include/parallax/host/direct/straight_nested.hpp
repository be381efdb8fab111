// Loops and branches whose bodies are written out number by number: loops whose carries the compiler may keep in
// registers.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/straight_buffers.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/static_carries.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

template <class Program, section_id Section> class straight_steps;

/// The buffers of a loop's body or predicate in a round. `Loop` is a `static_carries`; `Outer` gives the first element
/// of a buffer of the section that has the loop as a step: `data<Buffer>()`.
template <class Loop, class Buffers, class Outer, class Outputs> struct round_frame {
  Outer& outer;
  typename Loop::carries& now;
  Outputs outputs; ///< gives the first element of an output: `data<Number>()`
  std::int64_t slice = 0;
  typename Buffers::memory memory{};

  template <int Buffer> PARALLAX_INLINE auto* data() {
    constexpr buffer_record record = Buffers::record(Buffer);
    constexpr std::size_t number = index_of(record.number);
    if constexpr (record.kind == buffer_kind::bound) return argument<number>();
    else if constexpr (record.kind == buffer_kind::output) return outputs.template data<number>();
    else {
      static_assert(record.kind == buffer_kind::slot);
      return Buffers::template slot<Buffer>(memory);
    }
  }

 private:
  template <std::size_t K> PARALLAX_INLINE auto* argument() {
    constexpr scan_operand x = Loop::operand(K);
    if constexpr (x.role == scan_role::carry) {
      return static_cast<typename Loop::template carry<Loop::carry_of(K)>&>(now).values;
    } else {
      auto* const first = outer.template data<static_cast<int>(x.buffer)>();
      if constexpr (x.role == scan_role::stacked) return first + slice * x.slice.number();
      else return first;
    }
  }
};

/// The destinations of a round's results: carries go to objects of their own.
template <class Loop, class Outer> struct round_outputs {
  Outer& outer;
  typename Loop::carries& now;
  typename Loop::carries& next;
  std::int64_t slice;

  template <std::size_t K> PARALLAX_INLINE auto* data() {
    constexpr scan_result y = Loop::result(K);
    if constexpr (Loop::stays(K)) return static_cast<typename Loop::template carry<K>&>(now).values;
    else if constexpr (y.other != buffer_id::none) return static_cast<typename Loop::template carry<K>&>(next).values;
    else return outer.template data<static_cast<int>(y.buffer)>() + slice * y.slice.number();
  }
};

/// The destination of a predicate's result.
struct answer_output {
  bool* answer;
  template <std::size_t> PARALLAX_INLINE bool* data() const { return answer; }
};

/// Runs a scan or a while loop. `Step` is its record's type.
template <class Program, class Step, int Index, class Outer> class straight_loop_step {
  using loop = static_carries<Program, Step, Index>;
  using carries = typename loop::carries;
  using all_carries = std::make_index_sequence<loop::carry_count>;

 public:
  /// Rounds wait for one another: each move of numbers between registers and their lanes would lengthen them all.
  static PARALLAX_WITHOUT_LANES void run_scan(Outer& outer, std::int64_t rounds) {
    carries now;
    load(outer, now, all_carries{});
    for (std::int64_t round = 0; round < rounds; ++round)
      run_round(outer, now, loop::step.reverse ? rounds - 1 - round : round);
    store(outer, now, all_carries{});
  }
  static PARALLAX_WITHOUT_LANES void run_while(Outer& outer) {
    carries now;
    load(outer, now, all_carries{});
    while (holds(outer, now)) run_round(outer, now, 0);
    store(outer, now, all_carries{});
  }

 private:
  static PARALLAX_INLINE void run_round(Outer& outer, carries& now, std::int64_t slice) {
    using outputs = round_outputs<loop, Outer>;
    carries next;
    round_frame<loop, straight_buffers<Program, loop::step.body>, Outer, outputs> frame{
        outer, now, outputs{outer, now, next, slice}, slice};
    straight_steps<Program, loop::step.body>::run(frame);
    hand_on(now, next, all_carries{});
    advance(now, next, all_carries{});
  }
  static PARALLAX_INLINE bool holds(Outer& outer, carries& now) {
    bool answer = false;
    round_frame<loop, straight_buffers<Program, loop::step.predicate>, Outer, answer_output> frame{
        outer, now, answer_output{&answer}};
    straight_steps<Program, loop::step.predicate>::run(frame);
    return answer;
  }

  template <std::size_t C> static constexpr std::size_t count = index_of(loop::output(C).count.number());

  template <std::size_t... C>
  static PARALLAX_INLINE void advance([[maybe_unused]] carries& now, [[maybe_unused]] const carries& next,
                                      std::index_sequence<C...>) {
    (advance_one<C>(now, next), ...);
  }
  template <std::size_t C> static PARALLAX_INLINE void advance_one(carries& now, const carries& next) {
    using carry = typename loop::template carry<C>;
    if constexpr (!loop::stays(C)) static_cast<carry&>(now) = static_cast<const carry&>(next);
  }
  /// Copies the carries that are handed on to others.
  template <std::size_t... C>
  static PARALLAX_INLINE void hand_on([[maybe_unused]] const carries& now, [[maybe_unused]] carries& next,
                                      std::index_sequence<C...>) {
    (hand_on_one<C>(now, next), ...);
  }
  template <std::size_t C> static PARALLAX_INLINE void hand_on_one(const carries& now, carries& next) {
    constexpr std::size_t source = loop::source(C);
    if constexpr (source != loop::result_count)
      copy<count<C>>(static_cast<typename loop::template carry<C>&>(next).values,
                     static_cast<const typename loop::template carry<source>&>(now).values);
  }
  /// The most numbers that are copied by name: few numbers then stay in registers. Many would take compilers long, and
  /// are in memory anyway.
  static constexpr std::size_t most_named = 64;
  template <class T, std::size_t... I>
  static PARALLAX_INLINE void copy_named(T* to, const T* from, std::index_sequence<I...>) {
    ((to[I] = from[I]), ...);
  }
  template <std::size_t Count, class T> static PARALLAX_INLINE void copy(T* to, const T* from) {
    if constexpr (Count <= most_named) copy_named(to, from, std::make_index_sequence<Count>{});
    else std::copy_n(from, Count, to);
  }
  template <std::size_t... C>
  static PARALLAX_INLINE void load(Outer& outer, [[maybe_unused]] carries& to, std::index_sequence<C...>) {
    (copy<count<C>>(static_cast<typename loop::template carry<C>&>(to).values,
                    outer.template data<static_cast<int>(loop::operand(loop::operand_of(C)).buffer)>()),
     ...);
  }
  template <std::size_t... C>
  static PARALLAX_INLINE void store(Outer& outer, [[maybe_unused]] carries& from, std::index_sequence<C...>) {
    (copy<count<C>>(outer.template data<static_cast<int>(loop::result(C).buffer)>(),
                    static_cast<typename loop::template carry<C>&>(from).values),
     ...);
  }
};

/// The buffers of a branch.
template <class Program, int Index, section_id Branch, class Outer> struct branch_frame {
  using buffers = straight_buffers<Program, Branch>;
  static constexpr cond_step step = Program::plan.template at<cond_step>(Index);
  Outer& outer;
  typename buffers::memory memory{};

  template <int Buffer> PARALLAX_INLINE auto* data() {
    constexpr buffer_record record = buffers::record(Buffer);
    constexpr std::size_t number = index_of(record.number);
    if constexpr (record.kind == buffer_kind::slot) return buffers::template slot<Buffer>(memory);
    else if constexpr (record.kind == buffer_kind::bound)
      return outer.template data<static_cast<int>(Program::plan[step.operands][number])>();
    else {
      static_assert(record.kind == buffer_kind::output);
      return outer.template data<static_cast<int>(Program::plan[step.results][number])>();
    }
  }
};

/// Runs the branch that a number chooses.
template <class Program, int Index, class Outer> class straight_cond {
  static constexpr cond_step step = Program::plan.template at<cond_step>(Index);

 public:
  static PARALLAX_INLINE void run(Outer& outer) {
    const std::int32_t chosen = *outer.template data<static_cast<int>(step.index)>();
    run_chosen(outer, chosen, std::make_index_sequence<index_of(step.branches.count)>{});
  }

 private:
  template <std::size_t... B>
  static PARALLAX_INLINE void run_chosen(Outer& outer, std::int32_t chosen, std::index_sequence<B...>) {
    ((chosen == std::int32_t{B} ? run_branch<B>(outer) : void()), ...);
  }
  template <std::size_t B> static PARALLAX_INLINE void run_branch(Outer& outer) {
    constexpr section_id branch = Program::plan[step.branches][B];
    branch_frame<Program, Index, branch, Outer> frame{outer};
    straight_steps<Program, branch>::run(frame);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
