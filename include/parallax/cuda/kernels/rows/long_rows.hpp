// Rows that no blocks can hold: they are cut into pieces that blocks go over once in each pass.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/reductions/row_piece.hpp>
#include <parallax/cuda/kernels/rows/row_passes.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {
inline constexpr int long_row_threads = 256;
} // namespace detail

/// Rows that do not fit: a launch for each of as few passes as possible, and one more if a row has results that are
/// stored last. A block has a piece of a row; the reductions of earlier passes lie in memory, one accumulator for each
/// piece.
template <class Kernel> struct long_rows {
  using passes = row_passes<Kernel, true>;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::long_row_threads;
  /// With more sums, or larger ones, a thread gets as many registers as it needs.
  static constexpr int min_blocks = passes::row_totals::reductions <= 2 && passes::widest_value <= 4 ? 3 : 1;
  static constexpr int launches = std::max(passes::schedule::passes, passes::schedule::rounds);

  struct arguments {
    typename passes::loop_type loop;
    std::uint32_t rows, length;
    divisor pieces;     ///< of each row
    std::uint32_t each; ///< elements of a piece
    std::byte* partial; ///< [reduction][row][piece], each as large as the largest accumulator
    int pass;
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t items = a.rows * a.pieces.value;
    for (std::uint32_t item = block_of(block); item < items; item += blocks_of(block))
      run_item(block, a, item, std::make_index_sequence<std::size_t{launches}>{});
  }

 private:
  template <class Block, std::size_t... Launch>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_item(const Block& block, const arguments& a, std::uint32_t item,
                                                       std::index_sequence<Launch...>) {
    const std::uint32_t row = a.pieces.quotient(item), piece = item - row * a.pieces.value;
    typename passes::place p;
    move_rows(a.loop, 0, a.loop.rank - 1, row, p);
    typename passes::uniform_values uniform{};
    const bool is_first = piece == 0 && block.thread() == 0;
    passes::template start<0>(block, a.loop, p, {}, uniform, is_first && a.pass == 0);
    [[maybe_unused]] const bool done[] = {(run_until<Launch>(block, a, row, piece, p, uniform, is_first), true)...};
  }
  /// Runs the elements of this launch's pass; reads the results of earlier passes from memory.
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_until(const Block& block, const arguments& a, std::uint32_t row,
                                                        std::uint32_t piece, typename passes::place& p,
                                                        typename passes::uniform_values& uniform, bool is_first) {
    if constexpr (Pass < passes::schedule::passes) {
      if (a.pass < Pass) return;
      typename passes::row_totals totals{};
      totals.template clear<Pass>();
      if (a.pass == Pass) {
        row_piece::of<passes>(a.loop, p, piece * a.each, a.each, a.length)
            .template go_over<passes, Pass>(block, a.loop, p, uniform, totals, elements_in_memory{});
        totals.template combine<Pass>(block, block.threads());
        if (block.thread() == 0) totals.template for_each<Pass>(writer<Block>{block, a, row, piece});
        return;
      }
      totals.template for_each<Pass>(reader<Block>{block, a, row});
      totals.template combine<Pass>(block, block.threads());
      passes::template start<Pass + 1>(block, a.loop, p, totals, uniform, is_first && a.pass == Pass + 1);
    }
  }
  template <class T>
  static PARALLAX_DEVICE PARALLAX_INLINE T* partial(const arguments& a, int reduction, std::uint32_t row,
                                                    std::uint32_t piece) {
    const std::size_t slot = (static_cast<std::size_t>(reduction) * a.rows + row) * a.pieces.value + piece;
    return reinterpret_cast<T*>(a.partial + slot * passes::row_totals::accumulator_bytes);
  }
  template <class Block> struct writer {
    const Block& block;
    const arguments& a;
    std::uint32_t row, piece;
    template <class R>
    PARALLAX_DEVICE PARALLAX_INLINE void operator()(int reduction, typename R::accumulator& value) const {
      block.store(partial<typename R::accumulator>(a, reduction, row, piece), value);
    }
  };
  template <class Block> struct reader {
    const Block& block;
    const arguments& a;
    std::uint32_t row;
    template <class R>
    PARALLAX_DEVICE PARALLAX_INLINE void operator()(int reduction, typename R::accumulator& value) const {
      for (std::uint32_t i = thread_of(block); i < a.pieces.value; i += threads_of(block))
        value = R::combine(value, block.load(partial<typename R::accumulator>(a, reduction, row, i)));
    }
  };
};

namespace detail {

template <launch_api Api, class Kernel>
status launch_long_rows(const kernel_arguments& a, const launch_context<Api>& where, std::int64_t rows) {
  using kernel_type = long_rows<Kernel>;
  const std::int64_t length = a.extents[a.rank - 1];
  constexpr std::size_t bytes = kernel_type::passes::row_totals::accumulator_bytes;
  const std::int64_t room =
      static_cast<std::int64_t>(where.scratch_bytes / bytes) / (kernel_type::passes::row_totals::reductions * rows);
  std::int64_t pieces = std::int64_t{where.properties->multiprocessors} * 1024 / (rows * long_row_threads);
  pieces =
      std::clamp<std::int64_t>(std::min(pieces, room), 1, std::max<std::int64_t>(length / (long_row_threads * 8), 1));
  const std::int64_t each = (length + pieces - 1) / pieces;
  pieces = std::max<std::int64_t>((length + each - 1) / std::max<std::int64_t>(each, 1), 1);
  typename kernel_type::arguments arguments{typename kernel_type::passes::loop_type(a),
                                            static_cast<std::uint32_t>(rows),
                                            static_cast<std::uint32_t>(length),
                                            divisor::of(pieces),
                                            static_cast<std::uint32_t>(each),
                                            static_cast<std::byte*>(where.scratch),
                                            0};
  launch_shape shape{block_count(rows * pieces, 1, where), long_row_threads,
                     static_cast<std::size_t>(long_row_threads / warp_size) * bytes};
  status result;
  for (; arguments.pass < kernel_type::launches && result.ok(); ++arguments.pass)
    result = Api::launch(kernel_type{}, shape, where.stream, arguments);
  return result;
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
