// Reductions along the innermost dimension: neighbouring threads, from one to a whole block, share each result.
#pragma once

#include <parallax/cuda/kernels/evaluate.hpp>
#include <parallax/cuda/kernels/reducer.hpp>

namespace parallax::cuda {

namespace detail {
inline constexpr int reduction_threads = 256;
inline constexpr int most_reduction_threads = 512; ///< where a block computes one result

/// The blocks that a multiprocessor is to hold at least. The compiler would make room for more by spilling registers.
template <class Accumulator> inline constexpr int min_reduction_blocks = sizeof(Accumulator) > 4 ? 1 : 2;
} // namespace detail

/// How a reduction is divided: `pieces` of each result's elements, whose accumulators are combined by another kernel
/// where there are several. An item of work is one piece of as many results as a block has at a time.
struct reduction_items {
  std::uint32_t count = 0;
  divisor per_piece;
  std::uint32_t results = 0;
  std::uint32_t pieces = 1;
  int kept_rank = 0;         ///< the dimensions before the reduced ones
  std::int64_t position = 0; ///< of the first reduced element
  void* partial = nullptr;   ///< accumulators, [piece][result]; null where there is one piece
};

/// Dimensions: kept ones, reduced ones, the innermost of which is the last.
template <class Kernel> struct reduce_rows {
  using evaluate = evaluator<Kernel>;
  using R = reducer<Kernel::reduction, typename evaluate::value_type>;
  using accumulator = typename R::accumulator;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::most_reduction_threads;
  static constexpr int min_blocks = detail::min_reduction_blocks<accumulator>;

  struct arguments {
    typename evaluate::loop_type loop;
    cut_rows rows; ///< of one result
    reduction_items items;
    int group; ///< threads for each result: a power of two, up to a warp, or the whole block
  };

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const reduction_items& items = a.items;
    const int thread = block.thread();
    const std::uint32_t together = static_cast<std::uint32_t>(block.threads() / a.group);
    for (std::uint32_t item = block_of(block); item < items.count; item += blocks_of(block)) {
      const std::uint32_t piece = items.per_piece.quotient(item);
      const std::uint32_t result =
          (item - piece * items.per_piece.value) * together + static_cast<std::uint32_t>(thread / a.group);
      accumulator total = R::neutral();
      coordinates p;
      if (result < items.results) {
        locate(a.loop, 0, items.kept_rank, result, p);
        if constexpr (evaluate::has_vectors) add_pieces<evaluate::width>(block, a, a.rows.vectors, piece, p, total);
        add_pieces<1>(block, a, a.rows.singles, piece, p, total);
      }
      total = detail::combine_group<R>(block, total, a.group);
      if (result < items.results && thread % a.group == 0) {
        using result_type = typename R::result_type;
        if (items.partial)
          block.store(static_cast<accumulator*>(items.partial) + piece * items.results + result, total);
        else block.store(detail::address<result_type>(a.loop, 0, row_offset(a.loop, 0, p)), R::result(total));
      }
    }
  }

 private:
  /// Combines this thread's share of some pieces of a result's rows into `total`.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_pieces(const Block& block, const arguments& a, const row_pieces& work,
                                                         std::uint32_t piece, coordinates& p, accumulator& total) {
    const std::uint32_t each = (work.count + a.items.pieces - 1) / a.items.pieces;
    const std::uint32_t begin = piece * each < work.count ? piece * each : work.count;
    const std::uint32_t end = work.count - begin < each ? work.count : begin + each;
    const std::uint32_t step = static_cast<std::uint32_t>(a.group);
    for (std::uint32_t i = begin + static_cast<std::uint32_t>(block.thread() % a.group); i < end;) {
      lanes<accumulator, Width> part;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < Width; ++k) part.value[k] = R::neutral();
      const std::uint32_t rest = end - i;
      const std::uint32_t stop = rest < detail::longest_sum * step ? end : i + detail::longest_sum * step;
      PARALLAX_DEVICE_UNROLL_BY(evaluate::loads_ahead)
      for (; i < stop; i += step) {
        work.locate(a.loop, a.items.kept_rank, a.loop.rank - 1, i, Width, p);
        auto values = evaluate::template run<Width>(block, a.loop, p);
        std::int64_t position = a.items.position + p.inner;
        PARALLAX_DEVICE_UNROLL
        for (int k = 0; k < Width; ++k) part.value[k] = R::combine(part.value[k], R::of(values.value[k], position + k));
      }
      total = R::combine(total, detail::combine_lanes<R, Width>(part));
    }
  }
};

} // namespace parallax::cuda
