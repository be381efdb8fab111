// Copies slices of stacked arrays to and from fixed addresses, by the number of a round that only the device knows.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/copies/copy_pieces.hpp>

#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

struct copy_slices {
  static constexpr bool barriers = false;
  static constexpr int max_threads = copy_pieces::max_threads;
  static constexpr int most_pieces = 32;

  struct piece {
    std::byte* stacked; ///< the first slice
    std::byte* place;
    std::uint32_t bytes; ///< of a slice
    std::uint32_t first_tile;
    bool is_read; ///< from the slice to `place`, otherwise from `place` to the slice
  };
  struct arguments {
    const std::int64_t* count;
    std::int64_t added, rounds; ///< the round is `count` + `added`
    bool reverse;               ///< it reads the slice of the same number from the end
    int pieces;
    std::uint32_t tiles;
    piece piece_at[most_pieces];

    void add(std::byte* stacked, std::byte* place, std::uint32_t bytes, bool is_read) {
      piece_at[pieces++] = {stacked, place, bytes, tiles, is_read};
      tiles += copy_pieces::tiles_of(bytes);
    }
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::int64_t round = block.load(a.count) + a.added, slice = a.reverse ? a.rounds - 1 - round : round;
    for (std::int64_t tile = block.block(); tile < a.tiles; tile += block.blocks()) {
      int i = 0;
      while (i + 1 < a.pieces && a.piece_at[i + 1].first_tile <= tile) ++i;
      const piece& p = a.piece_at[i];
      const std::uint32_t at = (static_cast<std::uint32_t>(tile) - p.first_tile) * copy_pieces::tile_bytes +
                               thread_of(block) * copy_pieces::word_bytes;
      if (at >= p.bytes) continue;
      std::byte* const stacked = p.stacked + slice * std::int64_t{p.bytes};
      if (p.is_read) copy_pieces::copy_some(block, p.place, stacked, at, p.bytes);
      else copy_pieces::copy_some(block, stacked, p.place, at, p.bytes);
    }
  }

  /// How these pieces are launched.
  template <launch_api Api> static launch_shape shape(const arguments& a, const launch_context<Api>& where) {
    return {detail::block_count(a.tiles, 1, where), detail::elementwise_threads};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
