// Reductions whose innermost dimension is kept: whole rows are combined with each other.
#pragma once

#include <parallax/host/kernels/elementwise.hpp>
#include <parallax/host/kernels/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <algorithm>
#include <new>

namespace parallax::host::inline PARALLAX_REGISTERS::detail {

/// Rows are read a few at a time, so that memory is walked through along them, and combined in pairs of halves, so that
/// rounding errors grow with the logarithm of their number.
template <class Kernel> class column_reduction {
 public:
  using P = primitives::primitive_at<Kernel::reduction>;
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;

  static constexpr std::int64_t most_columns = 64 * lanes; ///< of one call

  column_reduction(const kernel_arguments& arguments, const reduction_shape& dimensions)
      : a(arguments), shape(dimensions) {
    if (shape.reduced_count > 0) last_reduced = shape.reduced[shape.reduced_count - 1];
  }

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
    std::int64_t following = 0; // rows at one stride, the next one first
    for (std::int64_t r = begin; r < end;) {
      row_count = end - r < rows_together ? static_cast<int>(end - r) : rows_together;
      for (int k = 0; k < row_count; ++k, ++r, --following) {
        if (following == 0) locate(kept, r), following = run_length(r);
        ::new (static_cast<void*>(&rows[k])) typename evaluate::row(row);
        if (following > 1) row.advance(a, last_reduced);
      }
      add_rows(first, last, out);
    }
  }
  /// Combines `count` columns of `more` into those of `out`.
  static void combine(std::int64_t count, T* out, const T* more) {
    for (std::int64_t i = 0; i < count; i += lanes)
      store_some(out + i, P::evaluate(load_some(out + i, count - i), load_some(more + i, count - i)), count - i);
  }
  /// Writes columns of kept position `kept` to the result.
  void write(std::int64_t kept, std::int64_t first, std::int64_t last, const T* columns) {
    locate(kept, 0);
    T* out = reinterpret_cast<T*>(const_cast<std::byte*>(row.data[0]));
    for (std::int64_t i = first; i < last; i += lanes)
      store_strided(out + i * row.stride[0], row.stride[0], load_some(columns + (i - first), last - i),
                    last - i < lanes ? static_cast<int>(last - i) : lanes);
  }

 private:
  static constexpr int rows_together = 16;
  static constexpr std::int64_t rows_in_turn = 256;

  static PARALLAX_INLINE pack<T> load_some(const T* from, std::int64_t rest) {
    return rest >= lanes ? load(from) : load(from, static_cast<int>(rest));
  }
  static PARALLAX_INLINE void store_some(T* to, const pack<T>& x, std::int64_t rest) {
    if (rest >= lanes) store(to, x);
    else store(to, x, static_cast<int>(rest));
  }
  void locate(std::int64_t kept, std::int64_t reduced) {
    reduction_shape::locate(a, shape.kept, shape.kept_count, kept, position);
    if (shape.reduced_size > 0) reduction_shape::locate(a, shape.reduced, shape.reduced_count, reduced, position);
    row.set(a, position, a.rank - 1);
  }
  /// How many rows from number `reduced` on follow each other at one stride.
  std::int64_t run_length(std::int64_t reduced) const {
    std::int64_t extent = shape.reduced_count > 0 ? a.extents[last_reduced] : 1;
    return extent - reduced % extent;
  }
  void add_rows(std::int64_t first, std::int64_t last, T* out) const {
    constexpr int width = 4;
    std::int64_t i = first;
    for (; i + width * lanes <= last; i += width * lanes) {
      pack<T> partial[width];
      for (auto& p : partial) p = broadcast(P::template neutral<T>());
      for (int r = 0; r < row_count; ++r) {
        PARALLAX_UNROLL(4)
        for (int w = 0; w < width; ++w)
          partial[w] =
              P::evaluate(partial[w], evaluate::template run<true>(rows[r], a.constants, i + w * lanes, lanes));
      }
      for (int w = 0; w < width; ++w) {
        T* to = out + (i - first) + w * lanes;
        store(to, P::evaluate(load(to), partial[w]));
      }
    }
    for (; i + lanes <= last; i += lanes) add_register<true>(i, lanes, out + (i - first));
    if (i < last) add_register<false>(i, static_cast<int>(last - i), out + (i - first));
  }
  /// One register of columns: several rows side by side, since each sum waits for the one before.
  template <bool Whole> void add_register(std::int64_t column, int count, T* to) const {
    constexpr int streams = 4;
    pack<T> partial[streams];
    for (auto& p : partial) p = broadcast(P::template neutral<T>());
    int r = 0;
    for (; r + streams <= row_count; r += streams) {
      PARALLAX_UNROLL(4)
      for (int s = 0; s < streams; ++s)
        partial[s] = P::evaluate(partial[s], evaluate::template run<Whole>(rows[r + s], a.constants, column, count));
    }
    for (; r < row_count; ++r)
      partial[0] = P::evaluate(partial[0], evaluate::template run<Whole>(rows[r], a.constants, column, count));
    pack<T> total = P::evaluate(P::evaluate(partial[0], partial[1]), P::evaluate(partial[2], partial[3]));
    store_some(to, P::evaluate(load_some(to, count), total), count);
  }

  const kernel_arguments& a;
  const reduction_shape& shape;
  int last_reduced = 0;
  row_position row;
  std::int64_t position[max_rank] = {};
  int row_count = 0;
  union {
    typename evaluate::row rows[rows_together]; ///< the first `row_count` live
  };
};

/// Few columns leave registers empty: where rows follow each other in memory, `lanes` of them are taken for one long
/// row. Its sums are then combined.
struct joined_rows {
  std::int64_t factor = 1;    ///< how many rows are one
  std::int64_t remaining = 0; ///< elements of the last one, where it is not whole

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

template <class Kernel, class Work> void reduce_columns(kernel_arguments& a) {
  using columns = column_reduction<Kernel>;
  using T = typename columns::T;
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
    columns work(a, shape);
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
  columns work(a, shape);
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

} // namespace parallax::host::inline PARALLAX_REGISTERS::detail
