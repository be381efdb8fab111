// Row groups on a device. A row that fits is held in the registers of neighbouring threads, from a few to a block: it
// is read once and its results are written once. Longer rows are cut into pieces that blocks go over once in each pass.
#pragma once

#include <parallax/cuda/kernels/launch_context.hpp>
#include <parallax/cuda/kernels/row_passes.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>

namespace parallax::cuda {

namespace detail {
inline constexpr int row_threads = 128; ///< of a block that several rows share
inline constexpr int most_row_threads = 512;
inline constexpr int long_row_threads = 256;
} // namespace detail

/// Rows that fit.
template <class Kernel, int Width> struct held_rows {
  using passes = row_passes<Kernel>;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::most_row_threads;
  /// What is held must not be spilled.
  static constexpr int min_blocks = Width > 1 && passes::widest_value <= 4 && passes::kept_count <= 2 ? 2 : 1;
  /// The vectors that a thread holds, as registers allow.
  static constexpr int vectors = std::max((passes::kept_count > 3 ? 8 : 16) / Width, 1);

  struct arguments {
    typename passes::loop_type loop;
    std::uint32_t rows, length;
    thread_group group; ///< for each row: up to a warp, or the whole block
  };

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const std::uint32_t together = a.group.count(block);
    for (std::uint32_t first = block_of(block) * together; first < a.rows; first += blocks_of(block) * together) {
      std::uint32_t row = first + a.group.number(block);
      // threads that have no row go along, since all meet, and store nothing
      const bool stores = row < a.rows;
      if (!stores) row = a.rows - 1;
      typename passes::place p;
      move_rows(a.loop, 0, a.loop.rank - 1, row, p);
      typename passes::uniform_values uniform{};
      typename passes::template kept<Width, vectors> kept;
      const bool is_first = stores && a.group.rank(block) == 0;
      passes::template start<0>(block, a.loop, p, {}, uniform, is_first);
      run_passes(block, a, p, uniform, kept, stores, is_first,
                 std::make_index_sequence<std::size_t{passes::schedule::passes}>{});
    }
  }

 private:
  template <class Block, class Kept, std::size_t... Pass>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_passes(const Block& block, const arguments& a,
                                                         typename passes::place& p,
                                                         typename passes::uniform_values& uniform, Kept& kept,
                                                         bool stores, bool is_first, std::index_sequence<Pass...>) {
    [[maybe_unused]] const bool done[] = {(run_pass<Pass>(block, a, p, uniform, kept, stores, is_first), true)...};
  }
  template <int Pass, class Block, class Kept>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  run_pass(const Block& block, const arguments& a, typename passes::place& p, typename passes::uniform_values& uniform,
           Kept& kept, bool stores, bool is_first) {
    typename passes::row_totals totals{};
    totals.template clear<Pass>();
    const std::uint32_t lane = a.group.rank(block);
    constexpr int together = passes::template vectors_together<Kept, Pass, Width, vectors>;
    PARALLAX_DEVICE_UNROLL
    for (int first = 0; first < (a.length > 0 ? vectors : 0); first += together) {
      typename passes::template state<Width> loaded[std::size_t{together}];
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < together; ++k) {
        // behind the end the last ones are loaded once more, without a branch
        const std::int32_t start = start_of(a, first + k, lane), last = static_cast<std::int32_t>(a.length - Width);
        p.inner = start < last ? start : last;
        passes::template load<Pass, Width, Kept>(block, a.loop, p, loaded[k]);
      }
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < together; ++k) {
        p.inner = start_of(a, first + k, lane);
        const bool is_inside = p.inner < static_cast<std::int32_t>(a.length);
        // a branch would take what is loaded for it with it
        if (!passes::template loads<Kept, Pass> && !is_inside) continue;
        auto with = totals;
        passes::template finish<Pass, Width>(block, a.loop, p, uniform, loaded[k], kept, first + k, with,
                                             stores && is_inside);
        if (is_inside) totals = with;
      }
    }
    totals.template combine<Pass>(block, a.group.size);
    passes::template start<Pass + 1>(block, a.loop, p, totals, uniform, is_first);
  }
  /// Where a thread's vector begins.
  static PARALLAX_DEVICE PARALLAX_INLINE std::int32_t start_of(const arguments& a, int vector, std::uint32_t lane) {
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(vector << a.group.shift) + lane) * Width);
  }
};

/// Rows that do not fit: a launch for each pass, of which there are as few as can be, and one more where a row's last
/// results are stored. A block has a piece of a row; what earlier passes reduced lies in memory, one accumulator for
/// each piece.
template <class Kernel> struct long_rows {
  using passes = row_passes<Kernel, true>;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::long_row_threads;
  /// With more sums, or larger ones, a thread takes the registers that it needs.
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
  static constexpr int width = passes::evaluate::has_vectors ? passes::evaluate::width : 1;
  /// Vectors of a thread that are loaded together in a pass, as registers allow.
  template <int Pass>
  static constexpr int together = static_cast<int>(
      std::clamp<std::size_t>(64 / std::max<std::size_t>(passes::schedule::bytes_in(Pass) * width, 1), 1, 4));

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
  /// In the launch of this pass its elements, in later ones what it left.
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_until(const Block& block, const arguments& a, std::uint32_t row,
                                                        std::uint32_t piece, typename passes::place& p,
                                                        typename passes::uniform_values& uniform, bool is_first) {
    if constexpr (Pass < passes::schedule::passes) {
      if (a.pass < Pass) return;
      typename passes::row_totals totals{};
      totals.template clear<Pass>();
      if (a.pass == Pass) {
        go_over<Pass>(block, a, piece, p, uniform, totals);
        totals.template combine<Pass>(block, block.threads());
        if (block.thread() == 0) totals.template for_each<Pass>(writer<Block>{block, a, row, piece});
        return;
      }
      totals.template for_each<Pass>(reader<Block>{block, a, row});
      totals.template combine<Pass>(block, block.threads());
      passes::template start<Pass + 1>(block, a.loop, p, totals, uniform, is_first && a.pass == Pass + 1);
    }
  }
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  go_over(const Block& block, const arguments& a, std::uint32_t piece, typename passes::place& p,
          const typename passes::uniform_values& uniform, typename passes::row_totals& totals) {
    const std::uint32_t threads = threads_of(block);
    const std::uint32_t begin = piece * a.each, rest = a.length - begin;
    const std::uint32_t count = rest < a.each ? rest : a.each;
    p.inner = static_cast<std::int32_t>(begin);
    const int steps = width > 1 ? passes::evaluate::steps_to_vectors(a.loop, p) : 0;
    const std::uint32_t before =
        steps < 0 || static_cast<std::uint32_t>(steps) > count ? count : static_cast<std::uint32_t>(steps);
    const std::uint32_t vectors = (count - before) / width;
    constexpr std::int32_t stride = width;
    for (std::uint32_t i = thread_of(block); i < vectors;) {
      typename passes::row_totals part{};
      part.template clear<Pass>();
      const std::uint32_t left = vectors - i;
      const std::uint32_t stop = left < detail::longest_sum * threads ? vectors : i + detail::longest_sum * threads;
      for (; i + (together<Pass> - 1) * threads < stop; i += together<Pass> * threads) {
        p.inner = static_cast<std::int32_t>(begin + before + i * width);
        passes::template run_apart<Pass, width, together<Pass>>(block, a.loop, p, block.threads() * stride, uniform,
                                                                part);
      }
      for (; i < stop; i += threads) {
        p.inner = static_cast<std::int32_t>(begin + before + i * width);
        passes::template run_apart<Pass, width, 1>(block, a.loop, p, 0, uniform, part);
      }
      totals.template add<Pass>(part);
    }
    if constexpr (width > 1) {
      // single elements before the vectors and behind them
      const std::uint32_t singles = count - vectors * width;
      for (std::uint32_t i = thread_of(block); i < singles;) {
        typename passes::row_totals part{};
        part.template clear<Pass>();
        for (std::uint32_t n = 0; n < detail::longest_sum && i < singles; ++n, i += threads) {
          p.inner = static_cast<std::int32_t>(begin + (i < before ? i : i + vectors * width));
          passes::template run_apart<Pass, 1, 1>(block, a.loop, p, 0, uniform, part);
        }
        totals.template add<Pass>(part);
      }
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

template <launch_api Api, class Kernel, int Width>
status launch_held_rows(const kernel_arguments& a, const launch_context<Api>& where, std::int64_t rows, int group) {
  using kernel_type = held_rows<Kernel, Width>;
  const std::int64_t length = a.extents[a.rank - 1];
  const int threads = group > warp_size ? group : row_threads;
  typename kernel_type::arguments arguments{typename kernel_type::passes::loop_type(a),
                                            static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(length),
                                            group};
  launch_shape shape{block_count(rows * group, threads, where), static_cast<unsigned>(threads),
                     group > warp_size ? static_cast<std::size_t>(group / warp_size) * 8 : 0};
  return Api::launch(kernel_type{}, shape, where.stream, arguments);
}

/// The threads for each row of so many vectors, of which a thread holds `held`: 0 if the row does not fit. As few as
/// can be, since those of a row wait for each other, unless the device has more.
inline int row_group(std::int64_t work, int held, std::int64_t rows, std::int64_t wanted_threads) {
  int group = power_of_two((work + held - 1) / held, warp_size);
  while (group < most_row_threads &&
         (work > std::int64_t{group} * held || (work >= 2 * std::int64_t{group} && rows * group < wanted_threads)))
    group *= 2;
  return work <= std::int64_t{group} * held ? group : 0;
}

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

/// Launches a row kernel.
template <launch_api Api, class Kernel>
status launch_row_group(kernel_arguments& whole, const launch_context<Api>& where) {
  using totals = typename long_rows<Kernel>::passes::row_totals;
  using evaluate = evaluator<Kernel>;
  whole.collapse_rows();
  const int last = whole.rank - 1;
  auto row_count = [last](const kernel_arguments& a) {
    std::int64_t rows = 1;
    for (int d = 0; d < last; ++d) rows *= a.extents[d];
    return rows;
  };
  if (row_count(whole) == 0) return {};
  // rows are never cut: the limit for their parts is that of the indices
  const bool may_be_long = whole.extents[last] > std::int64_t{most_row_threads} * held_rows<Kernel, 1>::vectors;
  auto done = [&](const kernel_arguments& a) {
    const std::int64_t partial_bytes = row_count(a) * totals::reductions * std::int64_t{totals::accumulator_bytes};
    return fits(a, where.largest) && (!may_be_long || partial_bytes <= static_cast<std::int64_t>(where.scratch_bytes));
  };
  return for_each_part(whole, (1U << last) - 1U, done, [&](const kernel_arguments& a, std::int64_t) -> status {
    if (!fits(a, largest_loop))
      return {status::kind::failure, 0, "parallax", "launch_kernel", "a row of more than 2^30 elements"};
    const std::int64_t rows = row_count(a), length = a.extents[last];
    const std::int64_t wanted_threads = std::int64_t{where.properties->multiprocessors} * 1024;
    if (const int width = evaluate::vector_width(a); width > 0 && length % width == 0) {
      using vectors = held_rows<Kernel, evaluate::width>;
      if (int group = row_group(length / width, vectors::vectors, rows, wanted_threads); group > 0) {
        if constexpr (evaluate::has_vectors)
          return launch_held_rows<Api, Kernel, evaluate::width>(a, where, rows, group);
      }
    } else if (int group = row_group(length, held_rows<Kernel, 1>::vectors, rows, wanted_threads); group > 0) {
      return launch_held_rows<Api, Kernel, 1>(a, where, rows, group);
    }
    return launch_long_rows<Api, Kernel>(a, where, rows);
  });
}

} // namespace detail

} // namespace parallax::cuda
