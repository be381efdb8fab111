// Elementwise kernels that read some operands along another dimension than the innermost, as transposes do: square
// tiles of those operands pass through shared memory, so that neighbouring threads always touch neighbouring elements.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise.hpp>
#include <parallax/cuda/names.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <class Kernel> struct elementwise_tiles;

/// The first dimension of the loop is the one along which the transposed operands are contiguous.
template <template <kernel_result, class, class...> class Form, kernel_result Result, class Reduction, class... S>
struct elementwise_tiles<Form<Result, Reduction, S...>> {
  using kernel_type = Form<Result, Reduction, S...>;
  using evaluate = evaluator<kernel_type>;
  using loop_type = typename evaluate::loop_type;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::elementwise_threads;

  /// The bytes of a block's tiles. A row has one element more, or a column would lie in one bank.
  static constexpr std::size_t bytes_of_tiles(int length) {
    return evaluate::strided_bytes_before(evaluate::operand_count) * static_cast<std::size_t>(length * (length + 1));
  }
  static constexpr std::size_t room = 48 * 1024;
  static constexpr int side = bytes_of_tiles(64) <= room ? 64 : 32, pitch = side + 1;
  static constexpr std::size_t shared_bytes = bytes_of_tiles(side);
  /// Whether a block has room for the tiles.
  static constexpr bool is_possible = shared_bytes > 0 && shared_bytes <= room;
  /// Elements of results that a thread can take together.
  static constexpr int width = evaluate::result_is_vector ? evaluate::width : 1;

  struct arguments {
    loop_type loop;
    std::uint32_t tiles;
    divisor down, across; ///< tiles along the first and the innermost dimension
    bool vectors;         ///< whether results, and operands beside, are vectors
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const loop_type& l = a.loop;
    for (std::uint32_t tile = block_of(block); tile < a.tiles; tile += blocks_of(block)) {
      const std::uint32_t band = a.across.quotient(tile), other = a.down.quotient(band);
      tile_place p;
      move_rows(l, 1, l.rank - 1, other, p);
      p.left = static_cast<std::int32_t>(tile - band * a.across.value) * side;
      const std::int32_t top = static_cast<std::int32_t>(band - other * a.down.value) * side;
      const std::int32_t height = static_cast<std::int32_t>(l.extents[0].value) - top;
      const std::int32_t length = static_cast<std::int32_t>(l.extents[innermost].value) - p.left;
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < loop_type::operand_count; ++i) p.rows[i] += top * l.operands[i].strides[0];
      (stage(S{}, block, l, p, height, length), ...);
      block.barrier();
      if (a.vectors) write<width>(block, l, p, height, length);
      else write<1>(block, l, p, height, length);
      block.barrier(); // the tiles may be overwritten
    }
  }

 private:
  /// An element of an operand's tile: `row` along the innermost dimension, `column` along the first.
  template <int Operand, class T, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE T* element(const Block& block, int row, int column) {
    constexpr std::size_t start = evaluate::strided_bytes_before(Operand) * std::size_t{side * pitch};
    return reinterpret_cast<T*>(block.shared() + start) + row * pitch + column;
  }

  /// A position in the tile that holds the strided operands.
  struct tile_place : place_of<loop_type> {
    std::int32_t column = 0, left = 0; ///< along the first dimension; where the tile begins along the innermost

    template <int Operand, class T, class Block>
    PARALLAX_DEVICE PARALLAX_INLINE T staged(const Block& block, int i) const {
      return block.load(static_cast<const T*>(element<Operand, T>(block, this->inner - left + i, column)));
    }
  };

  template <class Statement, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void stage(Statement, const Block&, const loop_type&, const tile_place&,
                                                    std::int32_t, std::int32_t) {}
  /// Copies an operand's tile, `height` by `length` elements: in vectors if these are aligned.
  template <element_type Type, int Array, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void stage(load_statement<statement_kind::load_strided, Type, Array>,
                                                    const Block& block, const loop_type& l, const tile_place& p,
                                                    std::int32_t height, std::int32_t length) {
    using T = element_t<Type>;
    constexpr int count = 16 / static_cast<int>(sizeof(T)), in_row = side / count;
    using vector = vector_of<T, count>;
    const std::int32_t down = l.operands[Array].strides[0], step = l.operands[Array].strides[innermost];
    const T* const first = detail::address<T>(l, Array, row_offset(l, Array, p) + p.left * step);
    if (height >= side && length >= side && down == 1 && step % count == 0 &&
        reinterpret_cast<std::uintptr_t>(first) % sizeof(vector) == 0) {
      constexpr int vectors = side * in_row / max_threads > 0 ? side * in_row / max_threads : 1;
      vector loaded[std::size_t{vectors}];
      const int row = block.thread() / in_row, column = block.thread() % in_row * count;
      constexpr int rows = max_threads / in_row;
      if (row >= side) return;
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < vectors; ++k)
        loaded[k] = block.load(reinterpret_cast<const vector*>(first + (row + k * rows) * step + column));
      PARALLAX_DEVICE_UNROLL
      for (int k = 0; k < vectors; ++k) {
        PARALLAX_DEVICE_UNROLL
        for (int i = 0; i < count; ++i)
          block.store(element<Array, T>(block, row + k * rows, column + i), loaded[k].values[i]);
      }
    } else {
      const int column = block.thread() % side;
      for (int row = block.thread() / side; row < side; row += max_threads / side)
        if (column < height && row < length)
          block.store(element<Array, T>(block, row, column), block.load(first + row * step + column * down));
    }
  }

  /// Computes the results of a tile.
  template <int Width, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const loop_type& l, const tile_place& tile,
                                                    std::int32_t height, std::int32_t length) {
    constexpr int in_row = side / Width;
    const int inner = block.thread() % in_row * Width;
    if (inner >= length) return;
    for (int column = block.thread() / in_row; column < side && column < height; column += max_threads / in_row) {
      tile_place p = tile;
      p.inner = tile.left + inner;
      p.column = column;
      PARALLAX_DEVICE_UNROLL
      for (int i = 0; i < loop_type::operand_count; ++i) p.rows[i] += column * l.operands[i].strides[0];
      elementwise<kernel_type>::template write<Width>(block, l, p);
    }
  }
};

namespace detail {

/// The smallest extents for which tiles are worth it.
inline constexpr std::int64_t smallest_tiled = 8;

/// Puts a dimension first for tiles: the one along which most operands are contiguous, not counting operands that are
/// contiguous along the innermost one. Returns whether there is such a dimension, and both are long enough for tiles.
inline bool arrange_for_tiles(kernel_arguments& a) {
  if (a.rank < 2 || a.extents[a.rank - 1] < smallest_tiled) return false;
  int best = -1, most = 0;
  for (int d = 0; d + 1 < a.rank; ++d) {
    int count = 0;
    for (int i = 0; i < a.operand_count; ++i)
      if (a.operands[i].data && a.operands[i].strides[d] == 1 && a.operands[i].strides[a.rank - 1] != 1) ++count;
    if (count > most && a.extents[d] >= smallest_tiled) most = count, best = d;
  }
  if (best < 0) return false;
  int order[max_rank] = {best};
  for (int d = 0, next = 1; d < a.rank; ++d)
    if (d != best) order[next++] = d;
  reorder(a, order);
  return true;
}

template <launch_api Api, class Kernel>
status launch_tiles(const kernel_arguments& a, const launch_context<Api>& where) {
  using kernel_type = elementwise_tiles<Kernel>;
  auto tiles_along = [&](int d) { return (a.extents[d] + kernel_type::side - 1) / kernel_type::side; };
  std::int64_t down = tiles_along(0), across = tiles_along(a.rank - 1), tiles = down * across;
  for (int d = 1; d + 1 < a.rank; ++d) tiles *= a.extents[d];
  typename kernel_type::arguments arguments{typename kernel_type::evaluate::loop_type(a),
                                            static_cast<std::uint32_t>(tiles), divisor::of(down), divisor::of(across),
                                            kernel_type::width > 1 && kernel_type::evaluate::is_aligned(a) &&
                                                a.extents[a.rank - 1] % kernel_type::width == 0};
  launch_shape shape{block_count(tiles, 1, where), elementwise_threads, kernel_type::shared_bytes};
  return Api::launch(kernel_type{}, shape, where.stream, arguments);
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
