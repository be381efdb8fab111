// Elementwise kernels that read some operands along another dimension than the innermost, as transposes do: square
// tiles of those operands pass through shared memory, so that neighbouring threads always touch neighbouring elements.
#pragma once

#include <parallax/cuda/kernels/elementwise.hpp>
#include <parallax/cuda/names.hpp>

namespace parallax::cuda {

template <class Kernel> struct elementwise_tiles;

/// The first dimension of the loop is that along which the operands lie.
template <template <kernel_result, primitive_id, class...> class Form, kernel_result Result, primitive_id Reduction,
          class... S>
struct elementwise_tiles<Form<Result, Reduction, S...>> {
  using kernel_type = Form<Result, Reduction, S...>;
  using evaluate = evaluator<kernel_type>;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::elementwise_threads;
  static constexpr int side = warp_size, pitch = side + 1; ///< one more, or a column would lie in one bank
  static constexpr std::size_t shared_bytes =
      evaluate::strided_bytes_before(evaluate::operand_count) * std::size_t{side * pitch};
  /// Whether a block has room for the tiles.
  static constexpr bool is_possible = shared_bytes > 0 && shared_bytes <= std::size_t{48 * 1024};

  struct arguments {
    typename evaluate::loop_type loop;
    std::uint32_t tiles;
    divisor down, across; ///< tiles along the first and the innermost dimension
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const auto& l = a.loop;
    const int column = block.thread() % side, first_row = block.thread() / side, rows = block.threads() / side;
    for (std::uint32_t tile = block_of(block); tile < a.tiles; tile += blocks_of(block)) {
      const std::uint32_t band = a.across.quotient(tile), other = a.down.quotient(band);
      staged_coordinates p;
      locate(l, 1, l.rank - 1, other, p);
      p.top = static_cast<std::int32_t>(band - other * a.down.value) * side;
      p.left = static_cast<std::int32_t>(tile - band * a.across.value) * side;
      p.outer[0] = p.top + column;
      for (int row = first_row; row < side; row += rows)
        if (p.outer[0] < height(l) && p.left + row < length(l)) (stage(S{}, block, l, p, row, column), ...);
      block.barrier();
      p.inner = p.left + column;
      for (int row = first_row; row < side; row += rows) {
        p.outer[0] = p.top + row;
        if (p.outer[0] < height(l) && p.inner < length(l)) elementwise<kernel_type>::template write<1>(block, l, p);
      }
      block.barrier(); // the tiles may be overwritten
    }
  }

 private:
  using loop_type = typename evaluate::loop_type;

  static PARALLAX_DEVICE PARALLAX_INLINE std::int32_t height(const loop_type& l) {
    return static_cast<std::int32_t>(l.extents[0].value);
  }
  static PARALLAX_DEVICE PARALLAX_INLINE std::int32_t length(const loop_type& l) {
    return static_cast<std::int32_t>(l.extents[innermost].value);
  }
  /// An element of an operand's tile: `row` along the innermost dimension, `column` along the first.
  template <int Operand, class T, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE T* element(const Block& block, int row, int column) {
    constexpr std::size_t start = evaluate::strided_bytes_before(Operand) * std::size_t{side * pitch};
    return reinterpret_cast<T*>(block.shared() + start) + row * pitch + column;
  }

  /// A position whose strided operands lie in their tiles.
  struct staged_coordinates : coordinates {
    std::int32_t top = 0, left = 0; ///< of the tile

    template <int Operand, class T, class Block> PARALLAX_DEVICE PARALLAX_INLINE T staged(const Block& block) const {
      return block.load(static_cast<const T*>(element<Operand, T>(block, inner - left, outer[0] - top)));
    }
  };

  template <class Statement, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void stage(Statement, const Block&, const loop_type&,
                                                    const staged_coordinates&, int, int) {}
  /// Copies an element of an operand to its tile.
  template <element_type Type, int Array, class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void stage(load_statement<statement_kind::load_strided, Type, Array>,
                                                    const Block& block, const loop_type& l, const staged_coordinates& p,
                                                    int row, int column) {
    using T = element_t<Type>;
    std::int32_t offset = row_offset(l, Array, p) + (p.left + row) * l.operands[Array].strides[innermost];
    block.store(element<Array, T>(block, row, column),
                block.load(static_cast<const T*>(detail::address<T>(l, Array, offset))));
  }
};

namespace detail {

/// Extents below which tiles are not worth it.
inline constexpr std::int64_t smallest_tiled = 8;

/// Puts the dimension first along which most operands lie that do not lie along the innermost one. Returns whether
/// there is one, and both are long enough for tiles.
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
                                            static_cast<std::uint32_t>(tiles), divisor::of(down), divisor::of(across)};
  launch_shape shape{block_count(tiles, 1, where), elementwise_threads, kernel_type::shared_bytes};
  return Api::launch(kernel_type{}, shape, where.stream, arguments);
}

} // namespace detail

} // namespace parallax::cuda
