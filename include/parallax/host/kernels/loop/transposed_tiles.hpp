// Operands that are read across their rows: they are transposed tile by tile into memory of their own, and read from
// there.
#pragma once

#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/evaluate.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_type.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/kernel_arguments.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

#ifndef __CUDACC__ // cudafe++ loses the expansion in a shuffle
/// Exchanges the upper right and the lower left blocks of `Half` lanes of two rows that are `Half` rows apart.
template <int Half, class Row, int... I>
PARALLAX_INLINE void exchange_blocks(Row& upper, Row& lower, std::integer_sequence<int, I...>) {
  constexpr int count = sizeof...(I);
  const Row a = upper, b = lower;
  upper = __builtin_shufflevector(a, b, ((I & Half) == 0 ? I : I - Half + count)...);
  lower = __builtin_shufflevector(a, b, ((I & Half) == 0 ? I + Half : I + count)...);
}
template <int Half, class Row, std::size_t Count> PARALLAX_INLINE void transpose_registers(Row (&rows)[Count]) {
  if constexpr (Half > 0) {
    PARALLAX_UNROLL(16)
    for (int i = 0; i < static_cast<int>(Count); ++i)
      if ((i & Half) == 0)
        exchange_blocks<Half>(rows[i], rows[i + Half], std::make_integer_sequence<int, static_cast<int>(Count)>{});
    transpose_registers<Half / 2>(rows);
  }
}
#endif

/// to[i][j] = from[j][i] for as many i and j as a register has lanes of T.
template <class T>
PARALLAX_INLINE void transpose_square(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) {
  constexpr int count = register_bytes / static_cast<int>(sizeof(T));
#ifdef __CUDACC__
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < count; ++i) to[i * to_stride + j] = from[j * from_stride + i];
#else
  using row = vector<T, count>;
  row rows[std::size_t{count}];
  for (int j = 0; j < count; ++j) __builtin_memcpy(&rows[j], from + j * from_stride, sizeof(row));
  transpose_registers<count / 2>(rows);
  for (int i = 0; i < count; ++i) __builtin_memcpy(to + i * to_stride, &rows[i], sizeof(row));
#endif
}

/// to[i][j] = from[j][i] for i < rows and j < columns.
template <class T>
inline void transpose_tile(const std::byte* source, std::int64_t from_stride, std::byte* target, std::int64_t to_stride,
                           std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t square = register_bytes / static_cast<int>(sizeof(T));
  const T* const from = reinterpret_cast<const T*>(source);
  T* const to = reinterpret_cast<T*>(target);
  const std::int64_t whole_rows = rows / square * square, whole_columns = columns / square * square;
  for (std::int64_t j = 0; j < whole_columns; j += square) {
    // no prefetcher finds elements that are so far apart
    for (std::int64_t next = j + square; next < std::min(j + 2 * square, columns); ++next)
      for (std::int64_t i = 0; i < whole_rows; i += square) __builtin_prefetch(from + next * from_stride + i);
    for (std::int64_t i = 0; i < whole_rows; i += square)
      transpose_square(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride);
  }
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      __builtin_memcpy(to + i * to_stride + j, from + j * from_stride + i, sizeof(T));
}

/// The operands of a loop with neighbouring elements from row to row, but not within a row.
class transposed_tiles {
 public:
  static constexpr int most = 2;
  static constexpr std::int64_t rows = 32, columns = 128; ///< of a tile

  /// `may_be`: a bit for each of the first operands that is read with a stride and in no other way.
  transposed_tiles(const kernel_arguments& a, std::uint64_t may_be) {
    if (may_be == 0 || a.rank < 2) return;
    const int last = a.rank - 1, before = a.rank - 2;
    if (a.extents[last] < 8 || a.extents[before] < 8) return;
    for (; may_be != 0 && count < most; may_be &= may_be - 1) {
      const int i = std::countr_zero(may_be);
      const operand& o = a.operands[i];
      const bool is_across = o.strides[before] == 1 && o.strides[last] != 1 && o.strides[last] != 0;
      if (is_across && (o.element_bytes == 4 || o.element_bytes == 8)) which[count++] = i;
    }
  }
  bool any() const { return count > 0; }

  /// Calls `compute(part, length)` for the parts, tile by tile, of `number` rows behind one another along the dimension
  /// before the last; `row` is the first of them.
  template <class Compute>
  void run(const kernel_arguments& a, const row_position& row, std::int64_t number, const Compute& compute) const {
    const std::int64_t length = a.extents[a.rank - 1];
    row_position first = row;
    for (std::int64_t r = 0; r < number; r += rows) {
      const std::int64_t here = std::min(rows, number - r);
      for (std::int64_t c = 0; c < length; c += columns)
        run_tile(a, first, here, c, std::min(c + columns, length), compute);
      for (std::int64_t i = 0; i < here; ++i) first.advance(a, a.rank - 2);
    }
  }

 private:
  int count = 0;
  int which[most] = {};

  template <class Compute>
  void run_tile(const kernel_arguments& a, const row_position& first, std::int64_t number, std::int64_t begin,
                std::int64_t end, const Compute& compute) const {
    alignas(register_bytes) std::byte tiles[most][rows * columns * 8];
    row_position row = first;
    row.move(a, begin);
    for (int t = 0; t < count; ++t) {
      const int i = which[t];
      const auto transpose =
          a.operands[i].element_bytes == 4 ? &transpose_tile<std::uint32_t> : &transpose_tile<std::uint64_t>;
      transpose(row.data[i], row.stride[i], tiles[t], columns, number, end - begin);
      row.data[i] = tiles[t];
      row.stride[i] = 1;
    }
    for (std::int64_t r = 0;;) {
      compute(row, end - begin);
      if (++r == number) break;
      row.advance(a, a.rank - 2);
      for (int t = 0; t < count; ++t) row.data[which[t]] = tiles[t] + r * columns * a.operands[which[t]].element_bytes;
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
