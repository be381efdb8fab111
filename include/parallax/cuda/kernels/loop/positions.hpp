// Positions of a loop, and the pieces of rows that threads work on.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/loop.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A position of a loop: the coordinates in the dimensions before the innermost, and that along it.
struct coordinates {
  std::int32_t outer[max_rank - 1] = {};
  std::int32_t inner = 0;
};

/// Sets the coordinates in dimensions `first` to `last` to those of row-major number `number`.
template <class Loop>
PARALLAX_DEVICE PARALLAX_INLINE void locate(const Loop& l, int first, int last, std::uint32_t number, coordinates& p) {
  PARALLAX_DEVICE_UNROLL
  for (int d = max_rank - 2; d >= 0; --d) {
    if (d < first || d >= last) continue;
    std::uint32_t rest = d > first ? l.extents[d].quotient(number) : 0;
    p.outer[d] = static_cast<std::int32_t>(number - rest * l.extents[d].value);
    number = rest;
  }
}

/// The distance in elements from an operand's first element to its row at a position.
template <class Loop>
PARALLAX_DEVICE PARALLAX_INLINE std::int32_t row_offset(const Loop& l, int operand, const coordinates& p) {
  std::int32_t offset = 0;
  PARALLAX_DEVICE_UNROLL
  for (int d = 0; d < max_rank - 1; ++d) {
    if (d >= l.rank - 1) break;
    offset += p.outer[d] * l.operands[operand].strides[d];
  }
  return offset;
}

/// A position as operands see it: the distances from each one's first element to its row, and the coordinate along the
/// innermost dimension.
template <int Operands> struct place {
  std::int32_t rows[std::size_t{Operands > 0 ? Operands : 1}] = {};
  std::int32_t inner = 0;
};
template <class Loop> using place_of = place<Loop::operand_count>;
/// A position from which an operand's vectors may be unaligned.
template <int Operands> struct unaligned_place : place<Operands> {
  using unaligned = void;
};

/// Moves the rows by the coordinates of row-major number `number` in dimensions `first` to `last`; in most loops this
/// is at most one dimension.
template <class Loop>
PARALLAX_DEVICE PARALLAX_INLINE void move_rows(const Loop& l, int first, int last, std::uint32_t number,
                                               place_of<Loop>& p) {
  if (last - first == 1) {
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Loop::operand_count; ++i)
      p.rows[i] += static_cast<std::int32_t>(number) * l.operands[i].strides[first];
    return;
  }
  PARALLAX_DEVICE_UNROLL_BY(1)
  for (int d = last - 1; d >= first; --d) {
    const std::uint32_t rest = d > first ? l.extents[d].quotient(number) : 0;
    const auto coordinate = static_cast<std::int32_t>(number - rest * l.extents[d].value);
    number = rest;
    PARALLAX_DEVICE_UNROLL
    for (int i = 0; i < Loop::operand_count; ++i) p.rows[i] += coordinate * l.operands[i].strides[d];
  }
}

template <class Loop>
PARALLAX_DEVICE PARALLAX_INLINE std::int32_t row_offset(const Loop&, int operand, const place_of<Loop>& p) {
  return p.rows[operand];
}

/// Pieces of rows, each the work of one thread at a time: `per_row` of them follow each other in a row from `start` on.
struct row_pieces {
  std::uint32_t count = 0;
  divisor per_row;
  std::int32_t start = 0;

  row_pieces() = default;
  constexpr row_pieces(std::int64_t rows, std::int64_t in_row, std::int64_t first)
      : count(static_cast<std::uint32_t>(rows * in_row)),
        per_row(divisor::of(std::max<std::int64_t>(in_row, 1))),
        start(static_cast<std::int32_t>(first)) {}

  /// Moves `p` to piece `number`, of `width` elements; rows are counted in dimensions `first` to `last`.
  template <class Loop>
  PARALLAX_DEVICE PARALLAX_INLINE void move(const Loop& l, int first, int last, std::uint32_t number, int width,
                                            place_of<Loop>& p) const {
    if (last > first) {
      const std::uint32_t row = per_row.quotient(number);
      number -= row * per_row.value;
      move_rows(l, first, last, row, p);
    }
    p.inner = start + static_cast<std::int32_t>(number) * width;
  }
};

/// Rows cut into vectors and, behind them, single elements. If rows begin at addresses where no vector may, some of the
/// single elements come before the vectors.
struct cut_rows {
  row_pieces vectors, singles;
  bool peeled = false;

  cut_rows() = default;
  /// `width`: the elements of a vector; 0 for no vectors.
  constexpr cut_rows(std::int64_t rows, std::int64_t length, int width) {
    std::int64_t in_row = width > 0 ? length / width : 0;
    vectors = row_pieces(rows, in_row, 0);
    singles = row_pieces(rows, length - in_row * width, in_row * width);
  }
  /// Rows that may begin at any address.
  static constexpr cut_rows peeled_of(std::int64_t rows, std::int64_t length, int width) {
    if (length < 4 * width) return cut_rows(rows, length, 0);
    cut_rows result;
    const std::int64_t in_row = (length - (width - 1)) / width;
    result.vectors = row_pieces(rows, in_row, 0);
    result.singles = row_pieces(rows, length - in_row * width, in_row * width);
    result.peeled = true;
    return result;
  }
  /// Moves a position in `vectors`, or in `singles` if `Width` is 1, if `before` single elements come before the
  /// vectors.
  template <int Width, class Place> PARALLAX_DEVICE PARALLAX_INLINE void peel(std::int32_t before, Place& p) const {
    if constexpr (Width > 1) p.inner += before;
    else if (p.inner - singles.start < before) p.inner -= singles.start;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
