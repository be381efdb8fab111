// Reductions whose innermost dimension is kept: a block's threads are neighbours along it, in rows along the reduced
// dimensions.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/reductions/reduce_rows.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Dimensions: kept ones, reduced ones, the innermost one, which is kept.
template <class Kernel> struct reduce_columns {
  using evaluate = evaluator<Kernel>;
  using loop_type = typename evaluate::loop_type;
  using R = reducer<typename Kernel::reduction, typename evaluate::value_type>;
  using accumulator = typename R::accumulator;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::reduction_threads;
  /// A thread has a total for each element of a vector: with more blocks on a multiprocessor it could load less at a
  /// time.
  static constexpr int most_threads = evaluate::width <= 4 ? 1536 : detail::most_threads == 2048 ? 1280 : 1024;
  static constexpr int min_blocks = std::min(detail::wanted_threads<evaluate, accumulator>, most_threads) / max_threads;

  struct arguments {
    loop_type loop;
    reduction_items items;
    row_pieces columns;    ///< results, or vectors of them
    std::uint32_t reduced; ///< the elements of a result
    thread_group side;     ///< threads side by side
    bool vectors;          ///< whether each takes a vector rather than one element
  };

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    if constexpr (evaluate::has_vectors) {
      if (a.vectors) return run_items<evaluate::width>(block, a);
    }
    run_items<1>(block, a);
  }

 private:
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_items(const Block& block, const arguments& a) {
    const reduction_items& items = a.items;
    const std::uint32_t first_row = a.side.number(block), rows = a.side.count(block);
    for (std::uint32_t item = block_of(block); item < items.count; item += blocks_of(block)) {
      const std::uint32_t piece = items.per_piece.quotient(item);
      const std::uint32_t column =
          (item - piece * items.per_piece.value) * static_cast<std::uint32_t>(a.side.size) + a.side.rank(block);
      lanes<accumulator, Width> total;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) total.value[k] = R::neutral();
      place_of<loop_type> p;
      if (column < a.columns.count) {
        a.columns.move(a.loop, 0, items.kept_rank, column, Width, p);
        const std::uint32_t each = items.pieces.quotient(a.reduced + items.pieces.value - 1);
        const std::uint32_t begin = piece * each < a.reduced ? piece * each : a.reduced;
        const std::uint32_t end = a.reduced - begin < each ? a.reduced : begin + each;
        add_rows<Width>(block, a, begin + first_row, end, rows, p, total);
      }
      combine_rows<Width>(block, a.side, total);
      if (first_row == 0 && column < a.columns.count) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k) write(block, a, piece, column * Width, k, p, total.value[k]);
      }
    }
  }

  /// Combines reduced positions `begin`, `begin + step`, ... below `end` into `total`.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  add_rows(const Block& block, const arguments& a, std::uint32_t begin, std::uint32_t end, std::uint32_t step,
           const place_of<loop_type>& first, lanes<accumulator, Width>& total) {
    for (std::uint32_t i = begin; i < end;) {
      lanes<accumulator, Width> part;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part.value[k] = R::neutral();
      const std::uint32_t rest = end - i;
      const std::uint32_t stop = rest < detail::longest_sum * step ? end : i + detail::longest_sum * step;
      constexpr int together = evaluate::together;
      for (; i + (together - 1) * step < stop; i += together * step)
        add_together<Width, together>(block, a, i, step, first, part);
      for (; i < stop; i += step) add_together<Width, 1>(block, a, i, step, first, part);
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) total.value[k] = R::combine(total.value[k], part.value[k]);
    }
  }

  /// Combines reduced positions `i`, `i + step`, ... into `part`: all are loaded before the first is used.
  template <int Width, int Count, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_together(const Block& block, const arguments& a, std::uint32_t i,
                                                           std::uint32_t step, const place_of<loop_type>& first,
                                                           lanes<accumulator, Width>& part) {
    place_of<loop_type> at[std::size_t{Count}];
    typename evaluate::template state<Width> loaded[std::size_t{Count}];
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      at[n] = first;
      move_rows(a.loop, a.items.kept_rank, a.loop.rank - 1, i + static_cast<std::uint32_t>(n) * step, at[n]);
    }
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) evaluate::template load<Width>(block, a.loop, at[n], loaded[n]);
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      auto values = evaluate::template finish<Width>(block, a.loop, at[n], loaded[n]);
      const std::int64_t position = a.items.position + i + static_cast<std::uint32_t>(n) * step;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part.value[k] = R::combine(part.value[k], R::of(values.value[k], position));
    }
  }

  /// Combines the accumulators of the threads of a column; those of the first row get the total.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine_rows(const Block& block, const thread_group& side,
                                                           lanes<accumulator, Width>& mine) {
    accumulator* shared = reinterpret_cast<accumulator*>(block.shared());
    const int thread = block.thread(), threads = block.threads(), row = thread >> side.shift;
    for (int half = threads >> (side.shift + 1); half > 0; half /= 2) {
      if (row >= half && row < 2 * half) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k) block.store(shared + k * threads + thread, mine.value[k]);
      }
      block.barrier();
      if (row < half) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k)
          mine.value[k] = R::combine(mine.value[k], block.load(shared + k * threads + thread + half * side.size));
      }
    }
    block.barrier(); // the shared memory may be used again
  }

  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const arguments& a, std::uint32_t piece,
                                                    std::uint32_t result, int k, const place_of<loop_type>& p,
                                                    accumulator total) {
    if (a.items.partial) {
      std::uint32_t number = piece * a.items.results + result + static_cast<std::uint32_t>(k);
      block.store(static_cast<accumulator*>(a.items.partial) + number, total);
    } else {
      std::int32_t offset = row_offset(a.loop, 0, p) + (p.inner + k) * a.loop.operands[0].strides[innermost];
      block.store(detail::address<typename R::result_type>(a.loop, 0, offset), R::result(total));
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
