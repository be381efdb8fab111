// Rows that are held in the registers of neighbouring threads, from a few to a block: each is read once and its results
// are written once.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/rows/row_passes.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {
inline constexpr int row_threads = 128; ///< of a block that several rows share
inline constexpr int most_row_threads = 512;
} // namespace detail

/// Rows that fit the registers.
template <class Kernel, int Width> struct held_rows {
  using passes = row_passes<Kernel>;
  static constexpr bool barriers = true;
  /// Whether neither the held values nor the loaded ones are spilled.
  static constexpr bool takes_few_registers =
      passes::widest_value <= 4 && passes::kept_count <= 2 && passes::loaded_count <= 4;
  /// Live values of an element: the most at a time if ptxas can reuse registers (vectors of small values), otherwise
  /// all.
  static constexpr int kept_values = Width > 1 && passes::widest_value <= 4 ? passes::schedule::most_remembered()
                                                                            : passes::kept_count;
  /// The elements that a thread holds, as far as registers allow: at least four vectors are loaded together, of one
  /// array or of two.
  static constexpr int elements = Width == 8 && takes_few_registers && kept_values <= 1 ? 32 : kept_values > 3 ? 8 : 16;
  static constexpr int vectors = std::max(elements / Width, 1);
  /// If a thread holds more elements, fewer threads hold rows of the same length.
  static constexpr int max_threads = elements > 16 ? detail::most_row_threads / 2 : detail::most_row_threads;
  static constexpr int min_blocks = Width == 1 || !takes_few_registers ? 1 : elements > 16 ? 3 : 2;

  struct arguments {
    typename passes::loop_type loop;
    std::uint32_t rows, length;
    thread_group group; ///< for each row: up to a warp, or the whole block
  };

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const std::uint32_t together = a.group.count(block);
    for (std::uint32_t first = block_of(block) * together; first < a.rows; first += blocks_of(block) * together) {
      std::uint32_t row = first + a.group.number(block);
      // threads without a row go along, since all threads meet at barriers, but store nothing
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
        // beyond the end the last elements are loaded again, without a branch
        const std::int32_t start = start_of(a, first + k, lane), last = static_cast<std::int32_t>(a.length - Width);
        p.inner = start < last ? start : last;
        passes::template load<Pass, Width, Kept>(block, a.loop, p, loaded[k]);
      }
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < together; ++k) {
        p.inner = start_of(a, first + k, lane);
        const bool is_inside = p.inner < static_cast<std::int32_t>(a.length);
        // a branch would delay the loads for it
        if (!passes::template loads<Kept, Pass> && !is_inside) continue;
        auto with = totals;
        passes::template finish<Pass, Width>(uniform, loaded[k], kept, first + k, with);
        if (stores && is_inside) passes::template store<Pass, Width>(block, a.loop, p, loaded[k]);
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

/// The number of threads for each row of `work` vectors; 0 if the row does not fit. As few as possible, since the
/// threads of a row wait for each other, unless the device would have idle threads.
template <class HeldRows> int threads_of_row(std::int64_t work, std::int64_t rows, std::int64_t wanted_threads) {
  constexpr int held = HeldRows::vectors;
  int group = power_of_two((work + held - 1) / held, warp_size);
  while (group < HeldRows::max_threads &&
         (work > std::int64_t{group} * held || (work >= 2 * std::int64_t{group} && rows * group < wanted_threads)))
    group *= 2;
  return work <= std::int64_t{group} * held ? group : 0;
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
