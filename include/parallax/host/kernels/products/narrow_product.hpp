// Products of few rows, or of a short depth, without a library. A library copies operands before it multiplies, or goes
// over the result more than once, and for such products this takes as long as the multiplication.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/core/config.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/transposed_tiles.hpp>
#include <parallax/host/kernels/products/blas.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_fused.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

template <class T> using register_of = typename pack<T>::part_type;

template <class T> PARALLAX_INLINE register_of<T> load_register(const T* from) {
  register_of<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <int I, class T> struct tile_row {
  register_of<T> first{}, second{};
};
/// Sums of a few rows and of two registers of columns: members of their own, since compilers keep arrays in memory.
template <class T, class Indices> struct tile_sums;
template <class T, int... I> struct tile_sums<T, std::integer_sequence<int, I...>> : tile_row<I, T>... {
  /// Adds a row of the right operand times one number for each row of the left one; these are `step` apart.
  PARALLAX_INLINE void add(const T* factors, std::int64_t step, register_of<T> first, register_of<T> second) {
    (add_to<I>(broadcast(factors[I * step]).template part<0>(), first, second), ...);
  }
  /// Calls `put(row, first, second)` for each of the first `rows`.
  template <class Put> PARALLAX_INLINE void for_each_row(std::int64_t rows, const Put& put) const {
    ((I < rows ? put(I, tile_row<I, T>::first, tile_row<I, T>::second) : void()), ...);
  }

 private:
  template <int Row> PARALLAX_INLINE void add_to(register_of<T> factor, register_of<T> first, register_of<T> second) {
    tile_row<Row, T>::first = plus_product(tile_row<Row, T>::first, factor, first);
    tile_row<Row, T>::second = plus_product(tile_row<Row, T>::second, factor, second);
  }
};

template <std::floating_point T> class narrow_product {
 public:
  /// Whether this is faster than a library, which has kernels that copy nothing for small products: with as many
  /// registers as the tiles need, rows of the right operand that lie in one piece each, and columns that fill the
  /// tiles.
  static bool serves(const blas_product<T>& p) {
    constexpr double least_work = 1e6; // multiply-adds
    const std::int64_t padding = (tile_columns - p.columns % tile_columns) % tile_columns;
    const bool fills_tiles = (p.rows <= 32 ? 8 : 32) * padding <= p.columns;
    const bool is_narrow = p.rows <= 128 || p.depth <= 128;
    return lanes >= 16 && fuses_products && lies_in_pieces(p.right) && p.rows > 1 && is_narrow && fills_tiles &&
           static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.depth) > least_work;
  }
  /// The most rows of the left operand that fit the caches while they are copied.
  static constexpr std::int64_t rows_at_once = 512;

  explicit narrow_product(const blas_product<T>& of)
      : p(of),
        memory(buffer::allocate(static_cast<std::size_t>((padded_rows() + tile_columns) * terms_in_turn) * sizeof(T))) {
  }

  void multiply() const {
    for (std::int64_t first = 0; first < p.depth; first += terms_in_turn)
      add_terms(first, std::min(terms_in_turn, p.depth - first));
  }

 private:
  static constexpr int register_lanes = pack<T>::part_lanes;
  static constexpr std::int64_t tile_rows = 8, tile_columns = 2 * register_lanes;
  /// The number of terms that are added one after another: few enough for small rounding errors, and for the caches.
  static constexpr std::int64_t terms_in_turn = 256;
  using sums = tile_sums<T, std::make_integer_sequence<int, tile_rows>>;

  /// The numbers of the left operand: their address, and the distances between neighbouring rows, terms and tiles.
  struct left_factors {
    const T* first;
    std::int64_t row, term, tile;
  };

  const blas_product<T> p;
  buffer
      memory; ///< for the left operand's part in the order in which it is read, and a tile's columns of the right one

  static bool lies_in_pieces(const matrix<T>& right) { return right.column == 1 || right.row == 1; }
  std::int64_t padded_rows() const { return (p.rows + tile_rows - 1) / tile_rows * tile_rows; }
  T* copied_factors() const { return reinterpret_cast<T*>(memory.data()); }
  T* copied_columns() const { return copied_factors() + padded_rows() * terms_in_turn; }

  void add_terms(std::int64_t first, std::int64_t count) const {
    const left_factors left = factors_of(first, count);
    const std::int64_t tiles = padded_rows() / tile_rows, share = (count + tiles - 1) / tiles;
    for (std::int64_t column = 0; column < p.columns; column += tile_columns) {
      const T* const right = p.right.at(first, column).data;
      const std::int64_t columns = std::min(tile_columns, p.columns - column);
      const bool is_whole = columns == tile_columns && p.right.column == 1; // such tiles are copied while they are read
      if (!is_whole) copy_columns(right, columns, count);
      const bool is_last = column + tile_columns >= p.columns;
      const T* const next = (is_last ? p.right.at(first + count, 0) : p.right.at(first, column + tile_columns)).data;
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const T* const factors = left.first + tile * left.tile;
        const T* const ahead = next + tile * share * p.right.row;
        const sums added = tile == 0 && is_whole
                               ? terms<true>(factors, left, right, p.right.row, count, tiles, ahead)
                               : terms<false>(factors, left, copied_columns(), tile_columns, count, tiles, ahead);
        put(added, tile * tile_rows, column, columns, first > 0);
      }
    }
  }

  /// The left operand's numbers. They stay in place if they are read once, or if neighbouring rows are contiguous;
  /// otherwise they are copied in the order in which they are read.
  left_factors factors_of(std::int64_t first, std::int64_t count) const {
    const bool is_read_once = p.columns <= tile_columns, is_in_order = p.left.row == 1;
    if ((is_read_once || is_in_order) && p.rows % tile_rows == 0)
      return {p.left.at(0, first).data, p.left.row, p.left.column, tile_rows * p.left.row};
    T* to = copied_factors();
    for (std::int64_t tile = 0; tile < p.rows; tile += tile_rows) {
      const T* rows[tile_rows]; // if there are fewer rows, the last one again: nobody reads its sums
      for (std::int64_t row = 0; row < tile_rows; ++row)
        rows[row] = p.left.at(std::min(tile + row, p.rows - 1), first).data;
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t row = 0; row < tile_rows; ++row) *to++ = rows[row][k * p.left.column];
    }
    return {copied_factors(), 1, tile_rows, tile_rows * count};
  }
  void copy_columns(const T* from, std::int64_t columns, std::int64_t count) const {
    T* to = copied_columns();
    if (columns < tile_columns) std::fill_n(to, tile_columns * count, T{});
    if (p.right.column != 1) {
      using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      return transpose_tile<bits>(reinterpret_cast<const std::byte*>(from), p.right.column,
                                  reinterpret_cast<std::byte*>(to), tile_columns, count, columns);
    }
    for (std::int64_t k = 0; k < count; ++k, to += tile_columns, from += p.right.row) std::copy_n(from, columns, to);
  }

  /// The sums of a tile. The first tile also copies the columns that it reads. Meanwhile the memory that the next tiles
  /// read is prefetched: one row, from `ahead` on, for every `period` terms.
  template <bool IsFirst>
  PARALLAX_INLINE sums terms(const T* factors, const left_factors& left, const T* right, std::int64_t right_row,
                             std::int64_t count, std::int64_t period, const T* ahead) const {
    sums added;
    T* copies = copied_columns();
    const std::int64_t row_step = left.row, term_step = left.term, ahead_step = p.right.row;
    while (count > 0) {
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + register_lanes);
      ahead += ahead_step;
      for (std::int64_t several = std::min(count, period); several > 0; --several, --count) {
        const register_of<T> one = load_register(right), two = load_register(right + register_lanes);
        if constexpr (IsFirst) {
          __builtin_memcpy(copies, &one, sizeof one);
          __builtin_memcpy(copies + register_lanes, &two, sizeof two);
          copies += tile_columns;
        }
        added.add(factors, row_step, one, two);
        factors += term_step, right += right_row;
      }
    }
    return added;
  }

  PARALLAX_INLINE void put(const sums& added, std::int64_t row, std::int64_t column, std::int64_t columns,
                           bool is_later) const {
    const std::int64_t place = row * p.result_row + column;
    const bool is_added = p.is_added || is_later;
    const T* const base = (is_later || p.base == nullptr ? p.result : p.base) + place;
    added.for_each_row(p.rows - row, [&](int i, register_of<T> first, register_of<T> second) PARALLAX_INLINE_LAMBDA {
      T* const to = p.result + place + i * p.result_row;
      const T* const from = base + i * p.result_row;
      if (columns == tile_columns) {
        put_register(to, from, first, is_added);
        put_register(to + register_lanes, from + register_lanes, second, is_added);
        return;
      }
      T all[std::size_t{tile_columns}] = {}; // in registers too, so that an element has the same bits in any tile
      if (is_added) std::copy_n(from, columns, all);
      put_register(all, all, first, is_added);
      put_register(all + register_lanes, all + register_lanes, second, is_added);
      std::copy_n(all, columns, to);
    });
  }
  PARALLAX_INLINE void put_register(T* to, const T* from, register_of<T> value, bool is_added) const {
    if (is_added) value = load_register(from) + p.scale * value;
    __builtin_memcpy(to, &value, sizeof value);
  }
};

/// One product that is within the limits of the library.
template <std::floating_point T> void multiply_within_limits(const blas_product<T>& p) {
  if (!p.is_narrow) return call_blas<T>(p.with_base_in_result());
  in_pieces(p.rows, narrow_product<T>::rows_at_once,
            [&](std::int64_t begin, std::int64_t count) { narrow_product<T>(p.some_rows(begin, count)).multiply(); });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
