// Row sweeps on the host: all passes over a row while it is in the cache. A value that a later pass needs again is
// computed once.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/reductions/reduce.hpp>
#include <parallax/host/kernels/reductions/row_statements.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/row_schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// Elements that the memory of a row has room for: whole registers behind the row too, and each value's part is
/// aligned.
constexpr std::int64_t room_of_row(std::int64_t length) {
  constexpr std::int64_t unit = std::max<std::int64_t>(lanes, sizeof(std::uint64_t));
  return (length + unit - 1) / unit * unit;
}

template <class Kernel> class row_passes;

template <kernel_result Result, class Reduction, class... S> class row_passes<kernel<Result, Reduction, S...>> {
 public:
  using schedule = row_schedule<kernel<Result, Reduction, S...>>;
  using evaluate = evaluator<kernel<Result, Reduction, S...>>;
  using registers = register_file<std::make_index_sequence<sizeof...(S)>, S...>;
  template <row_part Part, int Pass> using numbers = row_statement_numbers<kernel<Result, Reduction, S...>, Part, Pass>;
  template <std::size_t I> using statement = numbered_statement_t<I, S...>;

  /// Whether a value is remembered for later passes. Loaded values are loaded again instead.
  static constexpr bool is_remembered(int i) { return schedule::is_needed_again(i) && !schedule::is_loaded(i); }
  /// Bytes to remember for each element.
  static constexpr std::size_t remembered_bytes = [] {
    std::size_t sizes[] = {sizeof(typename S::value_type)...}, all = 0;
    for (int i = 0; i < schedule::size; ++i)
      if (is_remembered(i)) all += sizes[i];
    return all;
  }();

  /// A row that passes go over. Functions take it by value: no store can change a copy whose address nobody has, so
  /// compilers keep its members in registers.
  struct whole_row {
    const typename evaluate::row& operands;
    const constant_bits* constants;
    std::int64_t length;
    std::byte* memory; ///< `remembered_bytes` for each element of `room_of_row(length)`
  };

  /// All passes over one row. `Divided`: by several threads, in fixed pieces that are combined in order, so that the
  /// result does not depend on the number of threads.
  template <bool Divided, class Work> static void run(whole_row row) {
    registers file;
    start<0>(file, row.operands, row.constants);
    run_passes<Divided, Work>(file, row, std::make_index_sequence<std::size_t{schedule::passes}>{});
  }

 private:
  /// Where the memory of a value begins, in bytes for each element of a row.
  static constexpr std::size_t memory_before(int i) {
    std::size_t sizes[] = {sizeof(typename S::value_type)...}, before = 0;
    for (int k = 0; k < i; ++k)
      if (is_remembered(k)) before += sizes[k];
    return before;
  }

  template <bool Divided, class Work, std::size_t... Pass>
  static void run_passes(registers& file, whole_row row, std::index_sequence<Pass...>) {
    auto one = [&]<int P>() {
      registers totals;
      neutral_totals<P>(totals);
      if constexpr (Divided) go_over_pieces<P, Work>(file, totals, row);
      else go_over<P>(file, totals, row, 0, row.length);
      finish<P>(file, totals);
      start<P + 1>(file, row.operands, row.constants);
    };
    (one.template operator()<Pass>(), ...);
  }
  template <int Pass, class Work> static void go_over_pieces(const registers& file, registers& totals, whole_row row) {
    constexpr int most_pieces = 64;
    const std::int64_t units = (row.length + lanes - 1) / lanes;
    const int pieces = static_cast<int>(std::min<std::int64_t>(units, most_pieces));
    const typename Work::template scratch<registers, std::size_t{most_pieces}> parts(pieces);
    Work::parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        registers own = file, &sums = parts.data()[p];
        neutral_totals<Pass>(sums);
        const std::int64_t first = units * p / pieces * lanes, last = units * (p + 1) / pieces * lanes;
        go_over<Pass>(own, sums, row, first, std::min(last, row.length));
      }
      if (row.operands.past_caches) finish_stores_past_caches();
    });
    for (int p = 0; p < pieces; ++p) add_totals<Pass>(totals, parts.data()[p]);
  }

  /// The uniform statements of a round.
  template <int Round>
  static PARALLAX_INLINE void start(registers& file, const typename evaluate::row& row,
                                    const constant_bits* constants) {
    start_all(file, row, constants, numbers<row_part::uniform, Round>{});
  }
  template <std::size_t... I>
  static PARALLAX_INLINE void start_all([[maybe_unused]] registers& file,
                                        [[maybe_unused]] const typename evaluate::row& row,
                                        [[maybe_unused]] const constant_bits* constants, std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {true, (start_one<I>(statement<I>{}, file, row, constants), true)...};
  }
  template <int I, class Statement>
  static PARALLAX_INLINE void start_one(Statement s, registers& file, const typename evaluate::row& row,
                                        const constant_bits* constants) {
    if constexpr (Statement::record.kind == statement_kind::store_row) store_one(s, file, row);
    else at<I>(file) = detail::evaluate<moved_lanes::all>(s, file, row, constants, 0, lanes);
  }
  template <element_type Type, int Operand, int Array>
  static PARALLAX_INLINE void store_one(store_statement<statement_kind::store_row, Type, Operand, Array>,
                                        registers& file, const typename evaluate::row& row) {
    auto* data = reinterpret_cast<element_t<Type>*>(const_cast<std::byte*>(operand_at<Array>(row).data));
    store(data, at<Operand>(file), 1);
  }

  template <int I, class Statement> struct reduction_at;
  template <int I, class Primitive, element_type Type, int Operand>
  struct reduction_at<I, reduce_statement<Primitive, Type, Operand>> {
    using P = Primitive;
    using T = element_t<Type>;
    static constexpr int operand = Operand;
  };

  /// Calls `use.operator()<I, reduction_at<I, statement>>()` for the reductions of a pass.
  template <int Pass, class Use> static PARALLAX_INLINE void for_reductions(const Use& use) {
    for_reductions_among(use, numbers<row_part::totals, Pass>{});
  }
  template <class Use, std::size_t... I>
  static PARALLAX_INLINE void for_reductions_among([[maybe_unused]] const Use& use, std::index_sequence<I...>) {
    (use.template operator()<I, reduction_at<I, statement<I>>>(), ...);
  }
  template <int Pass> static PARALLAX_INLINE void neutral_totals(registers& totals) {
    for_reductions<Pass>([&]<int I, class R>() PARALLAX_INLINE_LAMBDA {
      at<I>(totals) = broadcast(R::P::template neutral<typename R::T>());
    });
  }
  template <int Pass> static PARALLAX_INLINE void add_totals(registers& totals, registers& others) {
    for_reductions<Pass>([&]<int I, class R>()
                             PARALLAX_INLINE_LAMBDA { at<I>(totals) = R::P::evaluate(at<I>(totals), at<I>(others)); });
  }
  template <int Pass> static PARALLAX_INLINE void finish(registers& file, registers& totals) {
    for_reductions<Pass>([&]<int I, class R>() PARALLAX_INLINE_LAMBDA {
      at<I>(file) = broadcast(reduce_lanes<typename R::P>(at<I>(totals)));
    });
  }

  template <int Pass> static constexpr bool reduces = numbers<row_part::totals, Pass>::size() > 0;

  /// Elements first to last of a pass. Sums are cut into blocks, as in any reduction.
  template <int Pass>
  static void go_over(registers& file, registers& totals, whole_row row, std::int64_t first, std::int64_t last) {
    using whole_kernel = kernel<Result, Reduction, S...>;
    constexpr int streams = reduces<Pass> ? independent_sums<whole_kernel> : 1;
    std::int64_t i = first;
    if constexpr (streams > 1 || is_short<whole_kernel>)
      go_over_blocks<Pass, moved_lanes::all, streams>(file, totals, row, i, last);
    go_over_blocks<Pass, moved_lanes::either, 1>(file, totals, row, i, last);
  }
  /// The elements from `i` on, `Streams` packs at a time, while there are enough of them; then `i` is the next element.
  template <int Pass, moved_lanes Moved, int Streams>
  static PARALLAX_INLINE void go_over_blocks(registers& file, registers& totals, whole_row row, std::int64_t& i,
                                             std::int64_t last) {
    constexpr std::int64_t step = Streams * lanes, least = Moved == moved_lanes::all ? step : 1;
    while (last - i >= least) {
      registers sums[std::size_t{Streams}];
      PARALLAX_UNROLL(4)
      for (int s = 0; s < Streams; ++s) neutral_totals<Pass>(sums[s]);
      for (std::int64_t k = 0; k < block_registers && last - i >= least; ++k, i += step) {
        const int count = Moved == moved_lanes::all ? lanes : lanes_from(i, last);
        PARALLAX_UNROLL(4)
        for (int s = 0; s < Streams; ++s) {
          evaluate_all<Pass, Moved>(file, row, i + s * lanes, count, numbers<row_part::elements, Pass>{});
          for_reductions<Pass>([&]<int I, class R>() PARALLAX_INLINE_LAMBDA {
            const auto& value = at<R::operand>(file);
            at<I>(sums[s]) =
                R::P::evaluate(at<I>(sums[s]), count == lanes ? value : first_lanes<typename R::P>(value, count));
          });
        }
      }
      PARALLAX_UNROLL(4)
      for (int s = 1; s < Streams; ++s) add_totals<Pass>(sums[0], sums[s]);
      add_totals<Pass>(totals, sums[0]);
    }
  }

  template <int Pass, moved_lanes Moved, std::size_t... I>
  static PARALLAX_INLINE void evaluate_all([[maybe_unused]] registers& file, [[maybe_unused]] whole_row row,
                                           [[maybe_unused]] std::int64_t i, [[maybe_unused]] int count,
                                           std::index_sequence<I...>) {
    [[maybe_unused]] const bool done[] = {true,
                                          (evaluate_one<Pass, Moved, I>(statement<I>{}, file, row, i, count), true)...};
  }
  template <int Pass, moved_lanes Moved, int I, class Statement>
  static PARALLAX_INLINE void evaluate_one(Statement s, registers& file, [[maybe_unused]] whole_row row, std::int64_t i,
                                           int count) {
    using T = typename Statement::value_type;
    [[maybe_unused]] auto remembered = [&]() PARALLAX_INLINE_LAMBDA {
      return reinterpret_cast<T*>(row.memory + room_of_row(row.length) * static_cast<std::int64_t>(memory_before(I))) +
             i;
    };
    if constexpr (is_remembered(I) && schedule::first_pass(I) < Pass) {
      at<I>(file) = load(remembered());
    } else {
      at<I>(file) = detail::evaluate<Moved>(s, file, row.operands, row.constants, i, count);
      if constexpr (is_remembered(I)) store(remembered(), at<I>(file));
    }
  }
};

/// The part of a row sweep that is compiled for each kernel: functions for some of its rows, and the bytes to remember
/// for each element.
struct row_sweep {
  using run_function = void (*)(const kernel_arguments&, std::int64_t begin, std::int64_t end, std::byte* memory);
  run_function run;
  run_function run_divided; ///< each row by several threads; null if there is one thread only
  std::size_t remembered_bytes;
};

/// Rows `begin` to `end`, one after another.
template <class Kernel, bool Divided, class Work>
void run_rows_of_sweep(const kernel_arguments& a, std::int64_t begin, std::int64_t end, std::byte* memory) {
  row_position row;
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < a.rank; ++d) rows *= a.extents[d];
  row.past_caches = are_past_caches(rows, a.extents[a.rank - 1] * std::int64_t{sizeof(float)});
  for_each_run_of_rows(a, begin, end, row, [&](std::int64_t number) {
    typename row_passes<Kernel>::evaluate::row here(row);
    const typename row_passes<Kernel>::evaluate::row_steps steps(a, std::max(a.rank - 2, 0));
    for (;;) {
      row_passes<Kernel>::template run<Divided, Work>({here, a.constants, a.extents[a.rank - 1], memory});
      if (--number == 0) break;
      here.advance(steps);
    }
  });
  if (row.past_caches) finish_stores_past_caches();
}

/// Goes over all rows. No template of the kernel.
template <class Work> void run_row_sweep(kernel_arguments& a, const row_sweep& kernel) {
  a.collapse_rows();
  const std::int64_t length = a.extents[a.rank - 1];
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < a.rank; ++d) rows *= a.extents[d];
  if (rows == 0) return;
  auto some_rows = [&](std::int64_t begin, std::int64_t end, row_sweep::run_function run) {
    const typename Work::template row_memory<std::uint64_t> memory(
        a, index_of(room_of_row(length)) * kernel.remembered_bytes / sizeof(std::uint64_t));
    run(a, begin, end, reinterpret_cast<std::byte*>(memory.data()));
  };
  constexpr std::int64_t few_rows = 8;
  if (rows * length <= 2 * parallel_grain) return some_rows(0, rows, kernel.run);
  if (!Work::is_alone && rows < few_rows && length > 2 * parallel_grain) return some_rows(0, rows, kernel.run_divided);
  Work::parallel_for(rows, parallel_grain / length + 1,
                     [&](std::int64_t begin, std::int64_t end) { some_rows(begin, end, kernel.run); });
}

} // namespace detail

/// Runs a row kernel: many rows are divided among threads, a few long ones each.
template <class Kernel, class Work> void run_row_sweep(kernel_arguments& a) {
  detail::row_sweep sweep{&detail::run_rows_of_sweep<Kernel, false, Work>, nullptr,
                          detail::row_passes<Kernel>::remembered_bytes};
  if constexpr (!Work::is_alone) sweep.run_divided = &detail::run_rows_of_sweep<Kernel, true, Work>;
  detail::run_row_sweep<Work>(a, sweep);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
