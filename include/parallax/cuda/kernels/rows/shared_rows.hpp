// Rows that are held in shared memory, of one block or of a cluster of blocks that see each other's: each is read once
// and its results are written once.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/reductions/row_piece.hpp>
#include <parallax/cuda/kernels/rows/row_passes.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <class Kernel> struct shared_rows {
  using passes = row_passes<Kernel>;
  using totals = typename passes::row_totals;
  static constexpr bool barriers = true;
  static constexpr int max_threads = passes::widest_value <= 4 && totals::reductions <= 2 ? 1024 : 512;
  static constexpr int min_blocks = 1;
  /// The bytes of shared memory that a row takes for each element; 0 if no element is read twice.
  static constexpr std::size_t element_bytes = passes::template held_before<passes::schedule::size>;
  static constexpr std::uint32_t granule = 16; ///< elements: the memory for each operand's is a multiple of so many

  struct arguments {
    typename passes::loop_type loop;
    std::uint32_t rows, length;
    std::uint32_t each;     ///< elements of a block's piece of a row
    std::uint32_t capacity; ///< elements that a block has room for: more than `each`, as vectors are aligned
    thread_group cluster;   ///< the blocks of a row
  };

  // A block's shared memory: accumulators of its warps, accumulators for the other blocks of its cluster, in two turns,
  // and elements.
  static constexpr std::size_t warps_bytes = std::size_t{warp_size} * totals::accumulator_bytes;
  static constexpr std::size_t turn_bytes = std::size_t{totals::reductions} * totals::accumulator_bytes;
  static constexpr std::size_t elements_at = (warps_bytes + 2 * turn_bytes + 15) / 16 * 16;

  /// Room for pieces of so many elements.
  static constexpr std::int64_t capacity_for(std::int64_t each) {
    return (each + passes::piece_width - 1 + granule - 1) / granule * granule;
  }
  static constexpr std::int64_t shared_bytes(std::int64_t each) {
    return static_cast<std::int64_t>(elements_at + element_bytes * static_cast<std::size_t>(capacity_for(each)));
  }

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t rank = block_of(block) & (static_cast<std::uint32_t>(a.cluster.size) - 1);
    std::uint32_t turn = 0;
    const std::uint32_t step = blocks_of(block) >> a.cluster.shift;
    for (std::uint32_t row = block_of(block) >> a.cluster.shift; row < a.rows; row += step) {
      run_row(block, a, row, rank, turn, std::make_index_sequence<std::size_t{passes::schedule::passes}>{});
      // if the next row begins at another alignment, other threads have its elements; a last reduction would have
      // waited
      if constexpr (!reduces<passes::schedule::passes - 1>)
        if (row + step < a.rows) block.barrier();
    }
    // a block's shared memory ends with it, and other blocks may still read there
    if (a.cluster.size > 1) block.cluster_barrier();
  }

 private:
  template <int Pass> static constexpr bool reduces = passes::schedule::reduces(Pass);

  template <class Block, std::size_t... Pass>
  static PARALLAX_DEVICE PARALLAX_INLINE void run_row(const Block& block, const arguments& a, std::uint32_t row,
                                                      std::uint32_t rank, std::uint32_t& turn,
                                                      std::index_sequence<Pass...>) {
    typename passes::place p;
    move_rows(a.loop, 0, a.loop.rank - 1, row, p);
    const row_piece piece = row_piece::of<passes>(a.loop, p, rank * a.each, a.each, a.length);
    // vectors have the same alignment in shared memory as in the operands' memory
    const std::uint32_t ahead = piece.vectors > 0 ? (passes::piece_width - piece.before) % passes::piece_width : 0;
    const elements_in_shared_memory<passes> elements{block.shared() + elements_at, a.capacity,
                                                     static_cast<std::int32_t>(piece.begin - ahead)};
    typename passes::uniform_values uniform{};
    const bool is_first = rank == 0 && block.thread() == 0;
    passes::template start<0>(block, a.loop, p, {}, uniform, is_first);
    [[maybe_unused]] const bool done[] = {
        (run_pass<Pass>(block, a, piece, elements, p, uniform, is_first, turn), true)...};
  }
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void
  run_pass(const Block& block, const arguments& a, const row_piece& piece,
           const elements_in_shared_memory<passes>& elements, typename passes::place& p,
           typename passes::uniform_values& uniform, bool is_first, std::uint32_t& turn) {
    totals all{};
    all.template clear<Pass>();
    piece.template go_over<passes, Pass>(block, a.loop, p, uniform, all, elements);
    if constexpr (reduces<Pass>) {
      all.template combine<Pass>(block, block.threads());
      if (a.cluster.size > 1) combine_blocks<Pass>(block, a, all, turn++);
    }
    passes::template start<Pass + 1>(block, a.loop, p, all, uniform, is_first);
  }

  /// Combines the totals of a cluster's blocks, in the same order in all of them. A block writes its totals where no
  /// other block still reads: all have finished the turn before the last one.
  template <int Pass, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void combine_blocks(const Block& block, const arguments& a, totals& all,
                                                             std::uint32_t turn) {
    const std::size_t at = warps_bytes + (turn & 1) * turn_bytes;
    if (block.thread() == 0) all.template for_each<Pass>(writer<Block>{block, block.shared() + at});
    block.cluster_barrier();
    const int other = block.thread() & (a.cluster.size - 1);
    all.template for_each<Pass>(reader<Block>{block, block.shared_of(other) + at, a.cluster.size});
  }
  template <class Block> struct writer {
    const Block& block;
    std::byte* own;
    template <class R>
    PARALLAX_DEVICE PARALLAX_INLINE void operator()(int reduction, typename R::accumulator& value) const {
      block.store(reinterpret_cast<typename R::accumulator*>(own + static_cast<std::size_t>(reduction) *
                                                                       totals::accumulator_bytes),
                  value);
    }
  };
  template <class Block> struct reader {
    const Block& block;
    const std::byte* other;
    int cluster;
    template <class R>
    PARALLAX_DEVICE PARALLAX_INLINE void operator()(int reduction, typename R::accumulator& value) const {
      value = block.load(reinterpret_cast<const typename R::accumulator*>(other + static_cast<std::size_t>(reduction) *
                                                                                      totals::accumulator_bytes));
      for (int mask = cluster / 2; mask > 0; mask /= 2) value = detail::combine_across<R>(block, value, mask);
    }
  };
};

namespace detail {

/// The cut of a row into pieces for the shared memory of blocks.
struct row_cut {
  int cluster = 0; ///< the blocks of a row; 0 if they have too little shared memory
  std::int64_t each = 0;
  std::int64_t shared_bytes = 0; ///< of a block
};

template <class Kernel> row_cut cut_row(std::int64_t length, int cluster, std::size_t most_shared_bytes) {
  using kernel_type = shared_rows<Kernel>;
  constexpr std::int64_t width = kernel_type::passes::piece_width;
  const std::int64_t each = ((length + cluster - 1) / cluster + width - 1) / width * width;
  const std::int64_t bytes = kernel_type::shared_bytes(each);
  return {bytes <= static_cast<std::int64_t>(most_shared_bytes) ? cluster : 0, each, bytes};
}

/// Elements that a block goes over in about the time of a launch.
inline constexpr std::int64_t elements_of_a_launch = 16384;

/// The best number of pieces for each row, at least as many as shared memory demands. `none` if a row fits no cluster,
/// or if rows are so few that most multiprocessors would be idle.
template <class Kernel> row_cut best_cut(std::int64_t length, std::int64_t rows, const device_properties& device) {
  const auto cut_for = [&](int cluster) { return cut_row<Kernel>(length, cluster, device.shared_bytes_per_block); };
  row_cut cut;
  for (int cluster = 1; cluster <= device.largest_cluster && cut.cluster == 0; cluster *= 2) cut = cut_for(cluster);
  if (cut.cluster == 0) return {};
  // a multiprocessor has as much as one block may have, and what it reserves for each block
  constexpr std::int64_t kept_for_block = 1024;
  const std::int64_t half = (static_cast<std::int64_t>(device.shared_bytes_per_block) - kept_for_block) / 2;
  while (cut.cluster * 2 <= std::min(device.largest_cluster, portable_cluster)) {
    // a block loads and stores while another one of the same multiprocessor computes, if both fit
    const bool is_alone = cut.shared_bytes > half;
    const bool leaves_idle = rows * cut.cluster * 2 <= device.multiprocessors && cut.each > elements_of_a_launch / 4;
    if (!is_alone && !leaves_idle) break;
    cut = cut_for(cut.cluster * 2);
  }
  const bool leaves_idle = rows * cut.cluster * 4 < device.multiprocessors && cut.each > elements_of_a_launch;
  return leaves_idle ? row_cut{} : cut;
}

/// Launches rows that are held in shared memory. `launched` says whether the device can hold them.
template <launch_api Api, class Kernel>
status launch_shared_rows(const kernel_arguments& a, const launch_context<Api>& where, std::int64_t rows,
                          bool& launched) {
  using kernel_type = shared_rows<Kernel>;
  constexpr std::int64_t width = kernel_type::passes::piece_width;
  const std::int64_t length = a.extents[a.rank - 1];
  const device_properties& device = *where.properties;
  launched = false;
  row_cut cut = best_cut<Kernel>(length, rows, device);
  for (; cut.cluster > 0; cut = cut_row<Kernel>(length, cut.cluster / 2, device.shared_bytes_per_block)) {
    const std::int64_t most_rows = std::max(device.multiprocessors * 32 / cut.cluster, 1);
    // a thread for every 8 vectors or more
    const int threads =
        std::max(power_of_two(cut.each / width / 16 + 1, kernel_type::max_threads), std::int32_t{4 * warp_size});
    const launch_shape shape{static_cast<unsigned>(std::min(rows, most_rows) * cut.cluster),
                             static_cast<unsigned>(threads), static_cast<std::size_t>(cut.shared_bytes),
                             static_cast<unsigned>(cut.cluster)};
    int at_once = 1;
    if (cut.cluster > 1)
      if (const status s = Api::clusters_at_once(at_once, kernel_type{}, shape); !s.ok()) return s;
    if (at_once > 0) {
      launched = true;
      return Api::launch(kernel_type{}, shape, where.stream,
                         {typename kernel_type::passes::loop_type(a), static_cast<std::uint32_t>(rows),
                          static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(cut.each),
                          static_cast<std::uint32_t>(kernel_type::capacity_for(cut.each)), cut.cluster});
    }
  }
  return {};
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
