// Reductions whose innermost dimension is kept: a block's threads lie side by side along it and in rows along the
// reduced ones.
#pragma once

#include <parallax/cuda/kernels/reduce_rows.hpp>

namespace parallax::cuda {

/// Dimensions: kept ones, reduced ones, the innermost one, which is kept.
template <class Kernel> struct reduce_columns {
  using evaluate = evaluator<Kernel>;
  using R = reducer<Kernel::reduction, typename evaluate::value_type>;
  using accumulator = typename R::accumulator;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::reduction_threads;
  static constexpr int min_blocks = detail::min_reduction_blocks<accumulator>;

  struct arguments {
    typename evaluate::loop_type loop;
    reduction_items items;
    row_pieces columns;    ///< results, or vectors of them
    std::uint32_t reduced; ///< the elements of a result
    int side;              ///< threads side by side, a power of two
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
    const std::uint32_t thread = thread_of(block);
    const std::uint32_t side = static_cast<std::uint32_t>(a.side), first_row = thread / side;
    const std::uint32_t rows = threads_of(block) / side;
    for (std::uint32_t item = block_of(block); item < items.count; item += blocks_of(block)) {
      const std::uint32_t piece = items.per_piece.quotient(item);
      const std::uint32_t column = (item - piece * items.per_piece.value) * side + thread % side;
      lanes<accumulator, Width> total;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) total.value[k] = R::neutral();
      coordinates p;
      if (column < a.columns.count) {
        a.columns.locate(a.loop, 0, items.kept_rank, column, Width, p);
        const std::uint32_t each = (a.reduced + items.pieces - 1) / items.pieces;
        const std::uint32_t begin = piece * each < a.reduced ? piece * each : a.reduced;
        const std::uint32_t end = a.reduced - begin < each ? a.reduced : begin + each;
        add_rows<Width>(block, a, begin + first_row, end, rows, p, total);
      }
      combine_rows<Width>(block, static_cast<int>(side), static_cast<int>(rows), total);
      if (first_row == 0 && column < a.columns.count) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k) write(block, a, piece, column * Width, k, p, total.value[k]);
      }
    }
  }

  /// Combines reduced positions `begin`, `begin + step`, ... below `end` into `total`.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_rows(const Block& block, const arguments& a, std::uint32_t begin,
                                                       std::uint32_t end, std::uint32_t step, coordinates& p,
                                                       lanes<accumulator, Width>& total) {
    for (std::uint32_t i = begin; i < end;) {
      lanes<accumulator, Width> part;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part.value[k] = R::neutral();
      const std::uint32_t rest = end - i;
      const std::uint32_t stop = rest < detail::longest_sum * step ? end : i + detail::longest_sum * step;
      PARALLAX_DEVICE_UNROLL_BY(evaluate::loads_ahead)
      for (; i < stop; i += step) {
        locate(a.loop, a.items.kept_rank, a.loop.rank - 1, i, p);
        auto values = evaluate::template run<Width>(block, a.loop, p);
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k)
          part.value[k] = R::combine(part.value[k], R::of(values.value[k], a.items.position + i));
      }
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) total.value[k] = R::combine(total.value[k], part.value[k]);
    }
  }

  /// Combines the accumulators of threads one below the other; those of the first row get the whole.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine_rows(const Block& block, int side, int rows,
                                                           lanes<accumulator, Width>& mine) {
    accumulator* shared = reinterpret_cast<accumulator*>(block.shared());
    const int thread = block.thread(), threads = block.threads(), row = thread / side;
    for (int half = rows / 2; half > 0; half /= 2) {
      if (row >= half && row < 2 * half) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k) block.store(shared + k * threads + thread, mine.value[k]);
      }
      block.barrier();
      if (row < half) {
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k)
          mine.value[k] = R::combine(mine.value[k], block.load(shared + k * threads + thread + half * side));
      }
    }
    block.barrier(); // the shared memory may be used again
  }

  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const arguments& a, std::uint32_t piece,
                                                    std::uint32_t result, int k, const coordinates& p,
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

} // namespace parallax::cuda
