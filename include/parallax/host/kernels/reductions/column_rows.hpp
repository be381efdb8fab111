// The rows of a reduction whose innermost dimension is kept: computed and added to one another.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/elementwise.hpp>
#include <parallax/host/kernels/reductions/reduced_value.hpp>
#include <parallax/host/kernels/reductions/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// Goes over the rows of a reduction.
class row_cursor {
 public:
  row_position row; ///< where it is

  row_cursor(const kernel_arguments& arguments, const reduction_shape& dimensions) : a(arguments), shape(dimensions) {
    if (shape.reduced_count > 0) last_reduced = shape.reduced[shape.reduced_count - 1];
  }

  const constant_bits* constants() const { return a.constants; }
  void locate(std::int64_t kept, std::int64_t reduced) {
    reduction_shape::locate(a, shape.kept, shape.kept_count, kept, position);
    if (shape.reduced_size > 0) reduction_shape::locate(a, shape.reduced, shape.reduced_count, reduced, position);
    row.set(a, position, a.rank - 1);
  }
  /// The number of rows, from number `reduced` on, that follow each other at one stride.
  std::int64_t run_length(std::int64_t reduced) const {
    std::int64_t extent = shape.reduced_count > 0 ? a.extents[last_reduced] : 1;
    return extent - reduced % extent;
  }
  /// The distances between these rows.
  template <class Steps> Steps steps() const { return {a, last_reduced}; }

 private:
  const kernel_arguments& a;
  const reduction_shape& shape;
  int last_reduced = 0;
  std::int64_t position[max_rank] = {};
};

template <class T> PARALLAX_INLINE pack<T> load_some(const T* from, std::int64_t rest) {
  return rest >= lanes ? load(from) : load(from, static_cast<int>(rest));
}
template <class T> PARALLAX_INLINE void store_some(T* to, const pack<T>& x, std::int64_t rest) {
  if (rest >= lanes) store(to, x);
  else store(to, x, static_cast<int>(rest));
}

/// A kernel's rows, a few at a time, so that memory is read along them.
template <class Kernel> class column_rows {
 public:
  using P = typename Kernel::reduction;
  using evaluate = evaluator<Kernel>;
  using row = typename evaluate::row;
  using T = typename evaluate::value_type::value_type;

  /// Combines columns `first` to `last` of the reduced positions `begin` to `end` of kept position `kept` into `out`.
  static void add(row_cursor& cursor, std::int64_t kept, std::int64_t begin, std::int64_t end, std::int64_t first,
                  std::int64_t last, T* out) {
    const column_rows rows(cursor.template steps<typename evaluate::row_steps>(), cursor.constants());
    // as many rows at a time as fit the nearest cache: each is read a few registers at a time
    constexpr std::int64_t cached = (32 << 10) / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t most = std::max<std::int64_t>(8, cached / std::max<std::int64_t>(last - first, 1));
    while (begin < end) {
      cursor.locate(kept, begin);
      row next(cursor.row);
      for (std::int64_t following = std::min(cursor.run_length(begin), end - begin); following > 0;) {
        const std::int64_t count = std::min(following, most);
        next = rows.add_rows(next, count, first, last, out);
        following -= count, begin += count;
      }
    }
  }

 private:
  static constexpr int width = independent_sums<Kernel>;

  column_rows(const typename evaluate::row_steps& between, const constant_bits* of) : steps(between), constants(of) {}

  /// Combines `count` rows from `begin` on, and returns the row behind them.
  row add_rows(const row& begin, std::int64_t count, std::int64_t first, std::int64_t last, T* out) const {
    row next = begin;
    std::int64_t i = first;
    constexpr bool is_tiny = Kernel::size <= 4;
    if constexpr (is_tiny)
      for (; i + 2 * width * lanes <= last; i += 2 * width * lanes)
        next = add_registers<2 * width, 1, moved_lanes::all>(begin, count, i, lanes, out + (i - first));
    if constexpr (width > 1)
      for (; i + width * lanes <= last; i += width * lanes)
        next = add_registers<width, is_tiny ? 2 : 1, moved_lanes::all>(begin, count, i, lanes, out + (i - first));
    for (; i < last; i += lanes)
      next = add_registers<1, width, moved_lanes::either>(begin, count, i, lanes_from(i, last), out + (i - first));
    return next;
  }
  /// Combines `Width` registers of columns, `Beside` rows side by side, since each sum waits for the one before.
  template <int Width, int Beside, moved_lanes Moved>
  PARALLAX_INLINE row add_registers(row next, std::int64_t count, std::int64_t column, int lane_count, T* to) const {
    reduced_value<P, T> partial[std::size_t{Width}][std::size_t{Beside}];
    auto add_row = [&](int number) PARALLAX_INLINE_LAMBDA {
      PARALLAX_UNROLL(8)
      for (int w = 0; w < Width; ++w)
        partial[w][number].add(evaluate::template run<Moved>(next, constants, column + w * lanes, lane_count));
      next.advance(steps);
    };
    for (; count >= Beside; count -= Beside) {
      PARALLAX_UNROLL(4)
      for (int k = 0; k < Beside; ++k) add_row(k);
    }
    if constexpr (Beside > 1)
      for (; count > 0; --count) add_row(0);
    for (int w = 0; w < Width; ++w, to += lanes)
      store_some(to, P::evaluate(load_some(to, lane_count), joined(partial[w])), lane_count);
    return next;
  }

  const typename evaluate::row_steps steps;
  const constant_bits* constants;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
