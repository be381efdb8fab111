// A piece of a row that a block goes over in passes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/block.hpp>
#include <parallax/cuda/kernels/reductions/reducer.hpp>
#include <parallax/cuda/names.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The piece from element `begin` of a row on: single elements until vectors are aligned, vectors, single elements.
struct row_piece {
  std::uint32_t begin, count, before, vectors;

  /// The piece of the row at `p`, which has `length` elements.
  template <class Passes, class Place>
  static PARALLAX_DEVICE PARALLAX_INLINE row_piece of(const typename Passes::loop_type& l, Place p, std::uint32_t begin,
                                                      std::uint32_t most, std::uint32_t length) {
    row_piece piece;
    piece.begin = begin < length ? begin : length;
    const std::uint32_t rest = length - piece.begin;
    piece.count = rest < most ? rest : most;
    p.inner = static_cast<std::int32_t>(piece.begin);
    const int steps = Passes::piece_width > 1 ? Passes::evaluate::steps_to_vectors(l, p) : 0;
    piece.before =
        steps < 0 || static_cast<std::uint32_t>(steps) > piece.count ? piece.count : static_cast<std::uint32_t>(steps);
    piece.vectors = (piece.count - piece.before) / Passes::piece_width;
    return piece;
  }

  /// Runs a pass over the piece by all threads of the block, and adds their elements to their totals. Each thread has
  /// the same elements in every pass.
  template <class Passes, int Pass, class Block, class Elements>
  PARALLAX_DEVICE PARALLAX_INLINE void go_over(const Block& block, const typename Passes::loop_type& l,
                                               typename Passes::place& p,
                                               const typename Passes::uniform_values& uniform,
                                               typename Passes::row_totals& totals, const Elements& elements) const {
    constexpr int width = Passes::piece_width, together = Passes::template pieces_together<Pass>;
    const std::uint32_t threads = threads_of(block);
    for (std::uint32_t i = thread_of(block); i < vectors;) {
      typename Passes::row_totals part{};
      part.template clear<Pass>();
      const std::uint32_t left = vectors - i;
      const std::uint32_t stop = left < detail::longest_sum * threads ? vectors : i + detail::longest_sum * threads;
      for (; i + (together - 1) * threads < stop; i += together * threads) {
        p.inner = static_cast<std::int32_t>(begin + before + i * width);
        Passes::template run_apart<Pass, width, together>(block, l, p, block.threads() * width, uniform, part,
                                                          elements);
      }
      for (; i < stop; i += threads) {
        p.inner = static_cast<std::int32_t>(begin + before + i * width);
        Passes::template run_apart<Pass, width, 1>(block, l, p, 0, uniform, part, elements);
      }
      totals.template add<Pass>(part);
    }
    if constexpr (width > 1) {
      const std::uint32_t singles = count - vectors * width;
      for (std::uint32_t i = thread_of(block); i < singles;) {
        typename Passes::row_totals part{};
        part.template clear<Pass>();
        for (std::uint32_t n = 0; n < detail::longest_sum && i < singles; ++n, i += threads) {
          p.inner = static_cast<std::int32_t>(begin + (i < before ? i : i + vectors * width));
          Passes::template run_apart<Pass, 1, 1>(block, l, p, 0, uniform, part, elements);
        }
        totals.template add<Pass>(part);
      }
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
