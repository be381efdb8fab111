// Reductions whose innermost dimension is kept: whole rows are combined with each other. This code is compiled for each
// primitive and type; `column_rows` is compiled for each kernel.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/reductions/column_rows.hpp>
#include <parallax/host/kernels/reductions/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// The part of a reduction of columns that is compiled for each kernel: `column_rows::add`.
template <class T>
using add_rows_function = void (*)(row_cursor&, std::int64_t kept, std::int64_t begin, std::int64_t end,
                                   std::int64_t first, std::int64_t last, T* out);

/// Rows are halved again and again and the halves combined, so that rounding errors grow with the logarithm of their
/// number.
template <class P, class T> class column_reduction {
 public:
  static constexpr std::int64_t most_columns = 64 * lanes; ///< of one call

  column_reduction(const kernel_arguments& a, const reduction_shape& shape, add_rows_function<T> add)
      : cursor(a, shape), add_rows(add) {}

  /// Combines the reduced positions `begin` to `end` of kept position `kept` into columns `first` to `last` of `out`.
  void run(std::int64_t kept, std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last, T* out) {
    if (end - begin > rows_in_turn) {
      alignas(register_bytes) T upper[most_columns];
      std::int64_t middle = begin + (end - begin) / 2 / rows_in_turn * rows_in_turn;
      if (middle == begin) middle += rows_in_turn;
      run(kept, begin, middle, first, last, out);
      run(kept, middle, end, first, last, upper);
      combine(last - first, out, upper);
      return;
    }
    for (std::int64_t i = 0; i < last - first; i += lanes)
      store_some(out + i, broadcast(P::template neutral<T>()), last - first - i);
    add_rows(cursor, kept, begin, end, first, last, out);
  }
  /// Combines `count` columns of `more` into those of `out`.
  static void combine(std::int64_t count, T* out, const T* more) {
    for (std::int64_t i = 0; i < count; i += lanes)
      store_some(out + i, P::evaluate(load_some(out + i, count - i), load_some(more + i, count - i)), count - i);
  }
  /// Writes columns of kept position `kept` to the result.
  void write(std::int64_t kept, std::int64_t first, std::int64_t last, const T* columns) {
    cursor.locate(kept, 0);
    const row_position& row = cursor.row;
    T* out = reinterpret_cast<T*>(const_cast<std::byte*>(row.data[0]));
    for (std::int64_t i = first; i < last; i += lanes)
      store_strided(out + i * row.stride[0], row.stride[0], load_some(columns + (i - first), last - i),
                    last - i < lanes ? static_cast<int>(last - i) : lanes);
  }

 private:
  static constexpr std::int64_t rows_in_turn = 256;

  row_cursor cursor;
  add_rows_function<T> add_rows;
};

/// Few columns leave registers empty. If rows follow each other in memory, `lanes` of them are taken for one long row,
/// whose sums are combined in the end.
struct joined_rows {
  std::int64_t factor = 1;    ///< the number of rows that are taken for one
  std::int64_t remaining = 0; ///< elements of the last one, if it is not whole

  /// Changes the loop of `a` if that serves.
  static joined_rows make(kernel_arguments& a) {
    if (a.rank != 2 || a.reduced != 1 || a.extents[0] < 4 * lanes) return {};
    if (a.extents[1] >= 4 * lanes) return {};
    for (int i = 1; i < a.operand_count; ++i)
      if (a.operands[i].strides[0] != a.operands[i].strides[1] * a.extents[1]) return {};
    joined_rows result{lanes, a.extents[0] % lanes * a.extents[1]};
    a.extents[0] = (a.extents[0] + lanes - 1) / lanes;
    a.extents[1] *= lanes;
    for (int i = 1; i < a.operand_count; ++i) a.operands[i].strides[0] *= lanes;
    return result;
  }
};

template <class P, class T, class Work> void reduce_columns(kernel_arguments& a, add_rows_function<T> add) {
  using columns = column_reduction<P, T>;
  constexpr std::int64_t most = columns::most_columns;
  const joined_rows joined = joined_rows::make(a);
  const reduction_shape shape(a);
  std::int64_t chunks = (shape.length + most - 1) / most, units = shape.kept_size * chunks;
  if (units == 0) return;
  std::int64_t rows = shape.reduced_size - (joined.remaining > 0 ? 1 : 0); // the whole ones
  std::int64_t size = shape.kept_size * rows * shape.length;
  // few columns: the rows are divided too, into pieces that do not depend on the number of threads
  constexpr std::int64_t most_pieces = 64;
  std::int64_t pieces = 1;
  if constexpr (!Work::is_alone)
    pieces = std::max<std::int64_t>(1, std::min({most_pieces / units, size / parallel_grain, rows}));
  bool direct = pieces == 1 && joined.factor == 1;
  std::int64_t results = shape.kept_size * shape.length;
  // joined rows have less than 4 registers of columns, which `lanes` of them make longer
  const typename Work::template scratch<T, std::size_t{4 * lanes * lanes}> memory(direct ? 0 : pieces * results);
  T* const parts = memory.data();
  auto some = [&](std::int64_t begin, std::int64_t end) {
    columns work(a, shape, add);
    alignas(register_bytes) T whole[std::size_t{most}];
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t piece = k / units, kept = k % units / chunks, first = k % chunks * most;
      std::int64_t last = std::min(first + most, shape.length);
      T* out = direct ? whole : parts + piece * results + kept * shape.length + first;
      work.run(kept, rows * piece / pieces, rows * (piece + 1) / pieces, first, last, out);
      if (direct) work.write(kept, first, last, whole);
    }
  };
  std::int64_t all = units * pieces, each = size / all;
  if (size <= parallel_grain) some(0, all);
  else Work::parallel_for(all, parallel_grain / std::max<std::int64_t>(each, 1) + 1, some);
  if (direct) return;
  columns work(a, shape, add);
  T* total = parts;
  for (std::int64_t p = 1; p < pieces; ++p) columns::combine(results, total, total + p * results);
  if (joined.remaining > 0) {
    alignas(register_bytes) T whole[std::size_t{most}];
    work.run(0, rows, rows + 1, 0, joined.remaining, whole);
    columns::combine(joined.remaining, total, whole);
  }
  std::int64_t length = shape.length / joined.factor;
  for (std::int64_t half = joined.factor / 2; half > 0; half /= 2)
    columns::combine(half * length, total, total + half * length);
  for (std::int64_t kept = 0; kept < shape.kept_size; ++kept) work.write(kept, 0, length, total + kept * length);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
