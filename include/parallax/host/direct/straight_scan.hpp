// Scans whose body is written out number by number: a loop whose carries the compiler may keep in registers.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/host/direct/straight_buffers.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

template <class Program, section_id Section> class straight_steps;

/// What is known of a scan while compiling.
template <class Program, int Step> struct static_scan {
  static constexpr scan_step step = Program::plan.template at<scan_step>(Step);
  using body = straight_buffers<Program, step.body>;

  static constexpr const scan_operand& operand(std::size_t k) { return Program::plan[step.operands][k]; }
  static constexpr const scan_result& result(std::size_t k) { return Program::plan[step.results][k]; }
  static constexpr std::size_t carry_count = [] {
    std::size_t carries = 0;
    for (const scan_operand& x : Program::plan[step.operands]) carries += x.role == scan_role::carry ? 1U : 0U;
    return carries;
  }();
  /// The operand that is carry number `carry`.
  static constexpr std::size_t operand_of(std::size_t carry) {
    std::size_t k = 0, before = 0;
    while (operand(k).role != scan_role::carry || before++ != carry) ++k;
    return k;
  }
  /// Which carry an operand is.
  static constexpr std::size_t carry_of(std::size_t operand_number) {
    std::size_t carries = 0;
    for (std::size_t k = 0; k < operand_number; ++k) carries += operand(k).role == scan_role::carry ? 1U : 0U;
    return carries;
  }
  /// The body's buffer of an output.
  static constexpr const buffer_record& output(std::size_t number) {
    for (const buffer_record& buffer : Program::plan[body::section.buffers])
      if (buffer.kind == buffer_kind::output && index_of(buffer.number) == number) return buffer;
    return Program::plan[body::section.buffers][0];
  }

  template <std::size_t Carry> struct carry {
    element_t<output(Carry).type>
        values[output(Carry).count.number() == 0 ? 1 : index_of(output(Carry).count.number())];
  };
  template <class Indices> struct carries_of;
  template <std::size_t... C> struct carries_of<std::index_sequence<C...>> : carry<C>... {};
  using carries = carries_of<std::make_index_sequence<carry_count>>;
};

/// Where a round's buffers are.
template <class Program, int Step, class Outer> struct round_frame {
  using scan = static_scan<Program, Step>;
  using buffers = typename scan::body;
  Outer& outer;
  typename scan::carries& now;
  typename scan::carries& next;
  std::int64_t slice;
  typename buffers::memory memory;

  template <int Buffer> PARALLAX_INLINE auto* data() {
    constexpr buffer_record record = buffers::record(Buffer);
    constexpr std::size_t number = index_of(record.number);
    if constexpr (record.kind == buffer_kind::value) return argument<number>();
    else if constexpr (record.kind == buffer_kind::output) return output<number>();
    else return buffers::template slot<Buffer>(memory);
  }

 private:
  template <std::size_t K> PARALLAX_INLINE auto* argument() {
    constexpr scan_operand x = scan::operand(K);
    if constexpr (x.role == scan_role::carry) {
      return static_cast<typename scan::template carry<scan::carry_of(K)>&>(now).values;
    } else {
      auto* const first = outer.template data<static_cast<int>(x.buffer)>();
      if constexpr (x.role == scan_role::stacked) return first + slice * x.slice.number();
      else return first;
    }
  }
  template <std::size_t K> PARALLAX_INLINE auto* output() {
    constexpr scan_result y = scan::result(K);
    if constexpr (y.other != buffer_id::none) return static_cast<typename scan::template carry<K>&>(next).values;
    else return outer.template data<static_cast<int>(y.buffer)>() + slice * y.slice.number();
  }
};

/// Runs a scan. `Outer` gives the first element of a buffer of the section that it is a step of: `data<Buffer>()`.
template <class Program, int Step, class Outer> class straight_scan {
  using scan = static_scan<Program, Step>;
  using carries = typename scan::carries;
  using all_carries = std::make_index_sequence<scan::carry_count>;

 public:
  static PARALLAX_INLINE void run(Outer& outer, std::int64_t rounds) {
    carries now;
    load(outer, now, all_carries{});
    for (std::int64_t round = 0; round < rounds; ++round) {
      carries next;
      round_frame<Program, Step, Outer> frame{outer, now, next, scan::step.reverse ? rounds - 1 - round : round, {}};
      straight_steps<Program, scan::step.body>::run(frame);
      now = next;
    }
    store(outer, now, all_carries{});
  }

 private:
  template <std::size_t C> static constexpr std::size_t count = index_of(scan::output(C).count.number());

  template <class T, std::size_t... I>
  static PARALLAX_INLINE void copy(T* to, const T* from, std::index_sequence<I...>) {
    ((to[I] = from[I]), ...);
  }
  template <std::size_t... C>
  static PARALLAX_INLINE void load(Outer& outer, [[maybe_unused]] carries& to, std::index_sequence<C...>) {
    (copy(static_cast<typename scan::template carry<C>&>(to).values,
          outer.template data<static_cast<int>(scan::operand(scan::operand_of(C)).buffer)>(),
          std::make_index_sequence<count<C>>{}),
     ...);
  }
  template <std::size_t... C>
  static PARALLAX_INLINE void store(Outer& outer, [[maybe_unused]] carries& from, std::index_sequence<C...>) {
    (copy(outer.template data<static_cast<int>(scan::result(C).buffer)>(),
          static_cast<typename scan::template carry<C>&>(from).values, std::make_index_sequence<count<C>>{}),
     ...);
  }
};

} // namespace parallax::host::inline PARALLAX_REGISTERS
