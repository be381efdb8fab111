// A kernel's statements evaluated on SIMD registers.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/evaluate_statement.hpp>
#include <parallax/host/kernels/loop/row_operands.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/program/kernel.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Whether a kernel is so short that a test of the number of lanes counts. Longer kernels are compiled once.
template <class Kernel> inline constexpr bool is_short = Kernel::size <= 12;

/// How many of the elements from `i` to `last` one pack takes.
PARALLAX_INLINE int lanes_from(std::int64_t i, std::int64_t last) {
  return last - i < lanes ? static_cast<int>(last - i) : lanes;
}

namespace detail {

/// One more than the number of the array that a statement reads or writes; 0 if it does neither.
constexpr int arrays_up_to(const kernel_statement& s) {
  const bool is_access = is_store(s.kind) || is_gather(s.kind) || is_scatter(s.kind) ||
                         (is_load(s.kind) && s.kind != statement_kind::load_constant);
  return is_access ? s.argument + 1 : 0;
}

/// The first `count` lanes of `x`; the others become neutral: they change nothing when they are combined.
template <class P, class T> PARALLAX_INLINE pack<T> first_lanes(const pack<T>& x, int count) {
  const pack<bool> is_first =
      math::lt(host::lane_index<std::int32_t>(), host::broadcast(static_cast<std::int32_t>(count)));
  return math::select(is_first, x, broadcast(P::template neutral<T>()));
}

/// Evaluates statement `I` if it is wanted. True, for a list of such calls; a lambda for each would take longer to
/// compile.
template <bool Wanted, moved_lanes Moved, int I, class Statement, class Registers, class Row>
PARALLAX_INLINE bool evaluated(Statement statement, Registers& file, const Row& operands,
                               const constant_bits* constants, std::int64_t offset, int count) {
  if constexpr (Wanted) at<I>(file) = evaluate<Moved>(statement, file, operands, constants, offset, count);
  return true;
}

} // namespace detail

template <class Kernel> struct evaluator;

/// Evaluates a kernel's statements and returns the last one's value.
template <kernel_result Result, class Reduction, class... S> struct evaluator<kernel<Result, Reduction, S...>> {
  using indices = std::make_index_sequence<sizeof...(S)>;
  using registers = detail::register_file<indices, S...>;
  static constexpr int last = static_cast<int>(sizeof...(S)) - 1;
  using value_type = std::remove_cvref_t<decltype(detail::at<last>(std::declval<registers&>()))>;
  static constexpr std::size_t operand_count =
      static_cast<std::size_t>(std::max({1, detail::arrays_up_to(S::record)...}));
  using row = detail::row_operands<std::make_index_sequence<operand_count>>;
  using row_steps = detail::row_steps<std::make_index_sequence<operand_count>>;
  /// A bit for each of the first 64 arrays that is read with a stride and in no other way.
  static constexpr std::uint64_t strided_loads = [] {
    std::uint64_t strided = 0, others = 0;
    auto look = [&](const kernel_statement& s) {
      if (detail::arrays_up_to(s) == 0 || s.argument >= 64) return;
      (s.kind == statement_kind::load_strided ? strided : others) |= std::uint64_t{1} << s.argument;
    };
    (look(S::record), ...);
    return strided & ~others;
  }();

  template <moved_lanes Moved>
  static PARALLAX_INLINE value_type run(const row& operands, const constant_bits* constants, std::int64_t offset,
                                        int count) {
    registers file;
    fill<Moved>(file, operands, constants, offset, count);
    return detail::at<last>(file);
  }
  /// Evaluates the statements with one value for all elements of a row. Otherwise compilers would load such values
  /// again for each pack, since stores in between might have changed them.
  static PARALLAX_INLINE void begin(registers& file, const row& operands, const constant_bits* constants) {
    run_statements<statements::uniform, moved_lanes::all>(file, operands, constants, 0, lanes, indices{});
  }
  /// The last statement's value as by `run`, after a call of `begin`.
  template <moved_lanes Moved>
  static PARALLAX_INLINE value_type go_on(registers& file, const row& operands, std::int64_t offset, int count) {
    run_statements<statements::others, Moved>(file, operands, nullptr, offset, count, indices{});
    return detail::at<last>(file);
  }
  /// Evaluates all statements, and keeps their values in `file`.
  template <moved_lanes Moved>
  static PARALLAX_INLINE void fill(registers& file, const row& operands, const constant_bits* constants,
                                   std::int64_t offset, int count) {
    run_statements<statements::all, Moved>(file, operands, constants, offset, count, indices{});
  }

 private:
  enum class statements { all, uniform, others };

  static constexpr bool is_among(statement_kind kind, statements which) {
    const bool is_uniform = kind == statement_kind::load_constant || kind == statement_kind::load_scalar;
    return which == statements::all || is_uniform == (which == statements::uniform);
  }
  template <statements Which, moved_lanes Moved, std::size_t... I>
  static PARALLAX_INLINE void run_statements(registers& file, const row& operands, const constant_bits* constants,
                                             std::int64_t offset, int count, std::index_sequence<I...>) {
    // an array initialiser, because compilers limit the nesting of folds
    [[maybe_unused]] const bool done[] = {
        detail::evaluated<is_among(S::record.kind, Which), Moved, I>(S{}, file, operands, constants, offset, count)...};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
