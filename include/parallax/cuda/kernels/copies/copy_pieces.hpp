// Copies many pieces of memory in one launch. Small ones may come with the launch itself, as part of its arguments, so
// that values of the host need no copy of their own.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Pieces that begin at multiples of 16 bytes are copied fast; pieces that come with the launch must have such
/// destinations.
struct copy_pieces {
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::elementwise_threads;

  static constexpr int most_pieces = 32;
  using word = vector_of<std::uint32_t, 4>;
  static constexpr std::uint32_t word_bytes = 16;
  static constexpr std::uint32_t most_given = 64; ///< words
  static constexpr std::uint32_t tile_bytes = max_threads * word_bytes;

  struct piece {
    const std::byte* from;    ///< null: the words from `given` on
    std::byte* to;            ///< null: the address in the launch's `targets` for this piece
    std::uint32_t bytes;      ///< of given ones, a multiple of 16
    std::uint32_t given;      ///< the first of them
    std::uint32_t first_tile; ///< the work of all pieces, counted on
  };
  struct arguments {
    int count;
    std::uint32_t tiles;
    std::byte* const* targets; ///< in the device's memory
    piece pieces[most_pieces];
    word given[most_given];
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    for (std::int64_t tile = block.block(); tile < a.tiles; tile += block.blocks()) {
      int i = 0;
      while (i + 1 < a.count && a.pieces[i + 1].first_tile <= tile) ++i;
      const piece& p = a.pieces[i];
      std::uint32_t at = (static_cast<std::uint32_t>(tile) - p.first_tile) * tile_bytes + thread_of(block) * word_bytes;
      if (at >= p.bytes) continue;
      std::byte* to = p.to == nullptr ? block.load(a.targets + i) : p.to;
      if (p.from == nullptr) {
        block.store(reinterpret_cast<word*>(to + at), a.given[p.given + at / word_bytes]);
        continue;
      }
      copy_some(block, to, p.from, at, p.bytes);
    }
  }

  /// Copies the 16 bytes from `at` on, or as many as there are of `bytes`.
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void copy_some(const Block& block, std::byte* to, const std::byte* from,
                                                        std::uint32_t at, std::uint32_t bytes) {
    const auto misaligned = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    const std::uint32_t end = bytes - at < word_bytes ? bytes : at + word_bytes;
    if (end - at == word_bytes && misaligned % word_bytes == 0) {
      copy<word>(block, to, from, at);
    } else { // the last few, or memory of others
      if (misaligned % 4 == 0)
        for (; end - at >= 4; at += 4) copy<std::uint32_t>(block, to, from, at);
      for (; at < end; ++at) copy<std::uint8_t>(block, to, from, at);
    }
  }

  /// How many tiles a piece takes.
  static std::uint32_t tiles_of(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + tile_bytes - 1) / tile_bytes);
  }
  static std::uint32_t words_of(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + word_bytes - 1) / word_bytes);
  }

  /// How these pieces are launched.
  template <launch_api Api> static launch_shape shape(const arguments& a, const launch_context<Api>& where) {
    return {detail::block_count(a.tiles, 1, where), detail::elementwise_threads};
  }

 private:
  template <class T, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void copy(const Block& block, std::byte* to, const std::byte* from,
                                                   std::uint32_t at) {
    block.store(reinterpret_cast<T*>(to + at), block.load(reinterpret_cast<const T*>(from + at)));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
