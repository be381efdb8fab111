// Fused reductions on the host: the elements are computed where they are combined.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/reductions/reduce_columns.hpp>
#include <parallax/host/kernels/reductions/reduce_positions.hpp>
#include <parallax/host/kernels/reductions/reduced_value.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// Sums are cut into blocks of this many registers, and the blocks' sums are added: rounding errors grow with the
/// square root of the length, not with the length.
inline constexpr std::int64_t block_registers = 64;

/// A part of a reduction along rows: positions of the kept dimensions, of the reduced ones, and in the rows.
struct reduction_part {
  std::int64_t kept_begin, kept_end, reduced_begin, reduced_end, first, last;
};

/// Rows along the innermost dimension, each to one value.
template <class Kernel> class row_reduction {
 public:
  using P = typename Kernel::reduction;
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;

  /// Reduces a part. The results go to the result's array, or, if there is only one, to `single` unless that is null.
  static void run(const kernel_arguments& a, const reduction_shape& shape, const reduction_part& part, T* single) {
    row_position row;
    std::int64_t position[max_rank] = {};
    const int outer_rank = a.rank > 0 ? a.rank - 1 : 0;
    const int inner = shape.kept_count > 0 ? shape.kept[shape.kept_count - 1] : -1;
    const bool reads_one_row = part.reduced_begin + 1 == part.reduced_end;
    const bool is_far = shape.kept_size * shape.length >= in_the_caches;
    for (std::int64_t k = part.kept_begin; k < part.kept_end;) {
      reduction_shape::locate(a, shape.kept, shape.kept_count, k, position);
      if (part.reduced_begin < part.reduced_end) // else there is no such position
        reduction_shape::locate(a, shape.reduced, shape.reduced_count, part.reduced_begin, position);
      row.set(a, position, outer_rank);
      // results that follow each other along the innermost of the kept dimensions
      const std::int64_t last =
          inner < 0 ? part.kept_end : std::min(part.kept_end, k + a.extents[inner] - position[inner]);
      typename evaluate::row elements(row);
      const typename evaluate::row_steps steps(a, std::max(inner, 0));
      if (reads_one_row && single == nullptr && part.last - part.first <= longest_of_several)
        for (; k + packs_in_one_go < last; k += packs_in_one_go, position[inner] += packs_in_one_go)
          reduce_several(elements, steps, a.constants, part.first, part.last, is_far);
      for (;;) {
        T* const out =
            single != nullptr ? single : reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<0>(elements).data));
        *out = reduced<is_extreme_of_numbers<P, T>>(a, shape, part, elements, position);
        if constexpr (is_extreme_of_numbers<P, T>)
          if (*out != *out) *out = reduced<false>(a, shape, part, elements, position);
        if (++k == last) break;
        elements.advance(steps);
        ++position[inner];
      }
    }
  }

 private:
  /// The longest rows that are reduced several at a time: longer rows spend little time behind their last element.
  static constexpr std::int64_t longest_of_several = 16 * lanes;
  /// Reductions of fewer elements are not prefetched: they lie in the caches.
  static constexpr std::int64_t in_the_caches = (1 << 20) / static_cast<std::int64_t>(sizeof(T));

  /// Prefetches the first operand's row about 4 KiB ahead: with short rows, the processor's own prefetcher does not
  /// find it.
  static PARALLAX_INLINE void fetch_row(const typename evaluate::row& row, const typename evaluate::row_steps& steps,
                                        std::int64_t length) {
    if constexpr (requires { operand_at<1>(row); }) {
      const std::int64_t bytes =
          std::min<std::int64_t>(step_of<1>(steps).bytes, length * static_cast<std::int64_t>(sizeof(T)));
      for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(operand_at<1>(row).data + 4096 + i);
    }
  }
  /// Several results, each of one row, from `next` on; `next` becomes the row behind them.
  PARALLAX_WITHOUT_LANES static void reduce_several(typename evaluate::row& next,
                                                    const typename evaluate::row_steps& steps,
                                                    const constant_bits* constants, std::int64_t first,
                                                    std::int64_t last, bool is_far) {
    typename evaluate::row row = next;
    pack<T> totals[std::size_t{packs_in_one_go}];
    for (int r = 0; r < packs_in_one_go; ++r) {
      if (is_far) fetch_row(row, steps, last - first);
      totals[r] = total_of_row<is_extreme_of_numbers<P, T>>(row, constants, first, last);
      row.advance(steps);
    }
    T results[std::size_t{packs_in_one_go}];
    reduce_lanes_of_each<P>(totals, results);
    for (int r = 0; r < packs_in_one_go; ++r) {
      T result = results[r];
      if constexpr (is_extreme_of_numbers<P, T>)
        if (result != result) result = reduce_lanes<P>(total_of_row<false>(next, constants, first, last));
      *reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<0>(next).data)) = result;
      next.advance(steps);
    }
  }
  template <bool Quick>
  static PARALLAX_INLINE pack<T> total_of_row(const typename evaluate::row& row, const constant_bits* constants,
                                              std::int64_t first, std::int64_t last) {
    pack<T> total = broadcast(P::template neutral<T>());
    add_row<Quick>(row, constants, first, last, total);
    return total;
  }
  /// One result. `Quick`: see `reduced_value`.
  template <bool Quick>
  static PARALLAX_INLINE T reduced(const kernel_arguments& a, const reduction_shape& shape, const reduction_part& part,
                                   const typename evaluate::row& first, const std::int64_t* position) {
    pack<T> total = broadcast(P::template neutral<T>());
    if (part.reduced_begin < part.reduced_end) add_row<Quick>(first, a.constants, part.first, part.last, total);
    if (part.reduced_begin + 1 < part.reduced_end) add_further_rows<Quick>(a, shape, part, position, total);
    return reduce_lanes<P>(total);
  }
  /// All rows of one result but the first.
  template <bool Quick>
  static void add_further_rows(const kernel_arguments& a, const reduction_shape& shape, const reduction_part& part,
                               const std::int64_t* first, pack<T>& total) {
    row_position row;
    std::int64_t position[max_rank];
    std::copy_n(first, max_rank, position);
    for (std::int64_t r = part.reduced_begin + 1; r < part.reduced_end; ++r) {
      reduction_shape::locate(a, shape.reduced, shape.reduced_count, r, position);
      row.set(a, position, a.rank - 1);
      add_row<Quick>(typename evaluate::row(row), a.constants, part.first, part.last, total);
    }
  }
  /// Combines elements first to last of a row into `total`.
  template <bool Quick>
  static void add_row(const typename evaluate::row& row, const constant_bits* constants, std::int64_t first,
                      std::int64_t last, pack<T>& total) {
    std::int64_t i = first;
    constexpr int streams = independent_sums<Kernel>;
    if constexpr (streams > 1) {
      while (i + streams * lanes <= last) {
        reduced_value<P, T, Quick> partial[std::size_t{streams}];
        for (std::int64_t k = 0; k < block_registers && i + streams * lanes <= last; ++k, i += streams * lanes) {
          PARALLAX_UNROLL(4)
          for (int s = 0; s < streams; ++s)
            partial[s].add(evaluate::template run<moved_lanes::all>(row, constants, i + s * lanes, lanes));
        }
        total = P::evaluate(total, joined(partial));
      }
    }
    while (i < last) {
      reduced_value<P, T, Quick> partial;
      for (std::int64_t k = 0; k < block_registers && i < last; ++k, i += lanes) {
        const int count = lanes_from(i, last);
        pack<T> value = evaluate::template run<moved_lanes::either>(row, constants, i, count);
        partial.add(count == lanes ? value : first_lanes<P>(value, count));
      }
      total = P::evaluate(total, partial.result());
    }
  }
};

/// The part of a reduction along rows that is compiled for each kernel: `row_reduction::run`.
template <class T>
using reduce_rows_function = void (*)(const kernel_arguments&, const reduction_shape&, const reduction_part&,
                                      T* single);

/// Compiled for each primitive and type and not for each kernel.
template <class P, class T, class Work>
void reduce_rows(const kernel_arguments& a, const reduction_shape& shape, reduce_rows_function<T> run) {
  const reduction_part all{0, shape.kept_size, 0, shape.reduced_size, 0, shape.length};
  std::int64_t total_size = shape.kept_size * shape.reduced_size * shape.length;
  if (total_size <= 2 * parallel_grain) return run(a, shape, all, nullptr);
  if (shape.kept_size > 1) {
    std::int64_t each = shape.reduced_size * shape.length;
    Work::parallel_for(shape.kept_size, parallel_grain / (each > 0 ? each : 1) + 1,
                       [&](std::int64_t begin, std::int64_t end) {
                         reduction_part part = all;
                         part.kept_begin = begin, part.kept_end = end;
                         run(a, shape, part, nullptr);
                       });
    return;
  }
  // one result: fixed pieces, combined in order, so that it does not depend on the number of threads
  constexpr int most_pieces = 64;
  T parts[most_pieces];
  parts[0] = T{}; // g++ does not see that there is a first piece
  bool by_rows = shape.reduced_size >= most_pieces;
  std::int64_t units = by_rows ? shape.reduced_size : (shape.length + lanes - 1) / lanes;
  int pieces = units < most_pieces ? static_cast<int>(units) : most_pieces;
  Work::parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      std::int64_t from = units * p / pieces, to = units * (p + 1) / pieces;
      reduction_part part = all;
      if (by_rows) part.reduced_begin = from, part.reduced_end = to;
      else part.first = from * lanes, part.last = std::min(to * lanes, shape.length);
      run(a, shape, part, &parts[p]);
    }
  });
  T result = parts[0];
  for (int p = 1; p < pieces; ++p) result = P::evaluate(result, parts[p]);
  *reinterpret_cast<T*>(a.operands[0].data) = result;
}

} // namespace detail

/// Runs a reduction kernel.
template <class Kernel, class Work> void run_reduction(kernel_arguments& a) {
  if constexpr (std::is_same_v<typename Kernel::reduction, primitives::argmax> ||
                std::is_same_v<typename Kernel::reduction, primitives::argmin>) {
    detail::reduce_positions<Kernel, Work>(a);
  } else {
    using P = typename Kernel::reduction;
    using T = typename evaluator<Kernel>::value_type::value_type;
    a.collapse();
    if (a.rank > 0 && !(a.reduced >> (a.rank - 1) & 1U))
      detail::reduce_columns<P, T, Work>(a, &detail::column_rows<Kernel>::add);
    else detail::reduce_rows<P, T, Work>(a, detail::reduction_shape(a), &detail::row_reduction<Kernel>::run);
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
