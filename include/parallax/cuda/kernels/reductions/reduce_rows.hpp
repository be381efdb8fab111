// Reductions along the innermost dimension: neighbouring threads, from one to a whole block, share each result.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {
inline constexpr int reduction_threads = 256;
inline constexpr int most_reduction_threads = 512; ///< if a block computes one result

/// The most threads of a multiprocessor. Before sm_90, whose instructions need fewer registers, more threads would make
/// sums spill registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr int most_threads = 1536;
#else
inline constexpr int most_threads = 2048;
#endif

/// The threads that a multiprocessor must be able to hold: for more, the compiler would spill registers. All of its
/// threads if there is little work before a sum and few accumulators.
template <class Evaluate, class Accumulator>
inline constexpr int wanted_threads = Evaluate::is_light && sizeof(Accumulator) == 4 ? most_threads
                                      : sizeof(Accumulator) > 4                      ? 512
                                                                                     : 1024;
} // namespace detail

/// How a reduction is divided: `pieces` of each result's elements, whose accumulators another kernel combines if there
/// are several. An item of work is one piece of the results that a block computes at a time.
struct reduction_items {
  std::uint32_t count = 0;
  divisor per_piece;
  std::uint32_t results = 0;
  divisor pieces;
  int kept_rank = 0;         ///< the dimensions before the reduced ones
  std::int64_t position = 0; ///< of the first reduced element
  void* partial = nullptr;   ///< accumulators, [piece][result]; null if there is one piece
};

/// Dimensions: kept ones, reduced ones, the innermost of which is the last.
template <class Kernel> struct reduce_rows {
  using evaluate = evaluator<Kernel>;
  using loop_type = typename evaluate::loop_type;
  using R = reducer<typename Kernel::reduction, typename evaluate::value_type>;
  using accumulator = typename R::accumulator;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::most_reduction_threads;
  static constexpr int min_blocks = detail::wanted_threads<evaluate, accumulator> / max_threads;

  struct arguments {
    loop_type loop;
    cut_rows rows; ///< of one result
    reduction_items items;
    thread_group group; ///< for each result: up to a warp, or the whole block
  };

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const reduction_items& items = a.items;
    for (std::uint32_t item = block_of(block); item < items.count; item += blocks_of(block)) {
      const std::uint32_t piece = items.per_piece.quotient(item);
      const std::uint32_t result =
          (item - piece * items.per_piece.value) * a.group.count(block) + a.group.number(block);
      accumulator total = R::neutral();
      place_of<loop_type> p;
      if (result < items.results) {
        move_rows(a.loop, 0, items.kept_rank, result, p);
        if constexpr (evaluate::has_vectors) add_pieces<evaluate::width>(block, a, a.rows.vectors, piece, p, total);
        add_pieces<1>(block, a, a.rows.singles, piece, p, total);
      }
      total = detail::combine_group<R>(block, total, a.group.size);
      if (result < items.results && a.group.rank(block) == 0) {
        using result_type = typename R::result_type;
        if (items.partial)
          block.store(static_cast<accumulator*>(items.partial) + piece * items.results + result, total);
        else block.store(detail::address<result_type>(a.loop, 0, row_offset(a.loop, 0, p)), R::result(total));
      }
    }
  }

 private:
  /// Combines this thread's share of some pieces of the rows from `first` on into `total`.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void add_pieces(const Block& block, const arguments& a, const row_pieces& work,
                                                         std::uint32_t piece, const place_of<loop_type>& first,
                                                         accumulator& total) {
    const std::uint32_t each = a.items.pieces.quotient(work.count + a.items.pieces.value - 1);
    const std::uint32_t begin = piece * each < work.count ? piece * each : work.count;
    const std::uint32_t end = work.count - begin < each ? work.count : begin + each;
    const std::uint32_t step = static_cast<std::uint32_t>(a.group.size);
    constexpr int together = evaluate::together;
    for (std::uint32_t i = begin + a.group.rank(block); i < end;) {
      lanes<accumulator, accumulators<Width>> part;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < accumulators<Width>; ++k) part.value[k] = R::neutral();
      const std::uint32_t rest = end - i;
      const std::uint32_t stop = rest < detail::longest_sum * step ? end : i + detail::longest_sum * step;
      for (; i + (together - 1) * step < stop; i += together * step)
        add_together<Width, together>(block, a, work, i, step, first, part);
      for (; i < stop; i += step) add_together<Width, 1>(block, a, work, i, step, first, part);
      total = R::combine(total, detail::combine_lanes<R, accumulators<Width>>(part));
    }
  }
  /// The accumulators of a thread: one for each element of a vector, or for every two.
  template <int Width> static constexpr int accumulators = Width > 4 ? Width / 2 : Width;

  /// Combines pieces `i`, `i + step`, ... into `part`: all are loaded before the first is used.
  template <int Width, int Count, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  add_together(const Block& block, const arguments& a, const row_pieces& work, std::uint32_t i, std::uint32_t step,
               const place_of<loop_type>& first, lanes<accumulator, accumulators<Width>>& part) {
    place_of<loop_type> at[std::size_t{Count}];
    typename evaluate::template state<Width> loaded[std::size_t{Count}];
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      at[n] = first;
      work.move(a.loop, a.items.kept_rank, a.loop.rank - 1, i + static_cast<std::uint32_t>(n) * step, Width, at[n]);
    }
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) evaluate::template load<Width>(block, a.loop, at[n], loaded[n]);
    PARALLAX_DEVICE_UNROLL
    for (int n = 0; n < Count; ++n) {
      auto values = evaluate::template finish<Width>(block, a.loop, at[n], loaded[n]);
      const std::int64_t position = a.items.position + at[n].inner;
      constexpr int count = accumulators<Width>;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < count; ++k) {
        accumulator own = R::of(values.value[k], position + k);
        if constexpr (Width > count) own = R::combine(own, R::of(values.value[k + count], position + k + count));
        part.value[k] = R::combine(part.value[k], own);
      }
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
