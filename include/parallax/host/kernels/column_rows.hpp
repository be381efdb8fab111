// The rows of a reduction whose innermost dimension is kept: computed and added to one another.
#pragma once

#include <parallax/host/kernels/elementwise.hpp>
#include <parallax/host/kernels/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace parallax::host::inline PARALLAX_REGISTERS::detail {

/// How many registers of elements are combined side by side, each waiting for the one before it only. The longer a
/// kernel is, the less a wait matters, and each copy of its statements is compiled.
template <class Kernel> inline constexpr int independent_sums = Kernel::size <= 12 ? 4 : Kernel::size <= 24 ? 2 : 1;

/// All of `partial` combined, in pairs.
template <class P, class T, std::size_t Count> PARALLAX_INLINE pack<T> combined(const pack<T> (&partial)[Count]) {
  if constexpr (Count == 1) return partial[0];
  else if constexpr (Count == 2) return P::evaluate(partial[0], partial[1]);
  else {
    static_assert(Count == 4);
    return P::evaluate(P::evaluate(partial[0], partial[1]), P::evaluate(partial[2], partial[3]));
  }
}

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
  /// How many rows from number `reduced` on follow each other at one stride.
  std::int64_t run_length(std::int64_t reduced) const {
    std::int64_t extent = shape.reduced_count > 0 ? a.extents[last_reduced] : 1;
    return extent - reduced % extent;
  }
  /// How far these are apart.
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

/// A kernel's rows, read a few at a time, so that memory is walked through along them.
template <class Kernel> class column_rows {
 public:
  using P = primitives::primitive_at<Kernel::reduction>;
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;

  /// Combines columns `first` to `last` of the reduced positions `begin` to `end` of kept position `kept` into `out`.
  static void add(row_cursor& cursor, std::int64_t kept, std::int64_t begin, std::int64_t end, std::int64_t first,
                  std::int64_t last, T* out) {
    column_rows some(cursor.constants());
    std::int64_t following = 0; // rows at one stride, the next one first
    cursor.locate(kept, begin);
    typename evaluate::row next(cursor.row);
    const auto steps = cursor.template steps<typename evaluate::row_steps>();
    for (std::int64_t r = begin; r < end;) {
      some.row_count = end - r < rows_together ? static_cast<int>(end - r) : rows_together;
      for (int k = 0; k < some.row_count; ++k, ++r, --following) {
        if (following == 0) {
          cursor.locate(kept, r);
          following = cursor.run_length(r);
          next = typename evaluate::row(cursor.row);
        } else {
          next.advance(steps);
        }
        ::new (static_cast<void*>(&some.rows[k])) typename evaluate::row(next);
      }
      some.add_rows(first, last, out);
    }
  }

 private:
  static constexpr int rows_together = 16;

  explicit column_rows(const constant_bits* of) : constants(of) {}

  void add_rows(std::int64_t first, std::int64_t last, T* out) const {
    constexpr int width = independent_sums<Kernel>;
    std::int64_t i = first;
    if constexpr (width > 1) {
      for (; i + width * lanes <= last; i += width * lanes) {
        pack<T> partial[std::size_t{width}];
        for (auto& p : partial) p = broadcast(P::template neutral<T>());
        for (int r = 0; r < row_count; ++r) {
          PARALLAX_UNROLL(4)
          for (int w = 0; w < width; ++w)
            partial[w] = P::evaluate(
                partial[w], evaluate::template run<moved_lanes::all>(rows[r], constants, i + w * lanes, lanes));
        }
        for (int w = 0; w < width; ++w) {
          T* to = out + (i - first) + w * lanes;
          store(to, P::evaluate(load(to), partial[w]));
        }
      }
    }
    for (; i < last; i += lanes) add_register(i, lanes_from(i, last), out + (i - first));
  }
  /// One register of columns: several rows side by side, since each sum waits for the one before.
  void add_register(std::int64_t column, int count, T* to) const {
    constexpr int streams = independent_sums<Kernel>;
    pack<T> partial[std::size_t{streams}];
    for (auto& p : partial) p = broadcast(P::template neutral<T>());
    for (int r = 0; r < row_count; r += streams) {
      PARALLAX_UNROLL(4)
      for (int s = 0; s < streams; ++s)
        if (r + s < row_count)
          partial[s] = P::evaluate(partial[s],
                                   evaluate::template run<moved_lanes::either>(rows[r + s], constants, column, count));
    }
    const pack<T> total = combined<P>(partial);
    store_some(to, P::evaluate(load_some(to, count), total), count);
  }

  const constant_bits* constants;
  int row_count = 0;
  union {
    typename evaluate::row rows[rows_together]; ///< the first `row_count` live
  };
};

} // namespace parallax::host::inline PARALLAX_REGISTERS::detail
