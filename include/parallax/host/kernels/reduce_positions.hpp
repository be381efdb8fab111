// Positions of extremes along one dimension: argmax and argmin.
#pragma once

#include <parallax/host/kernels/elementwise.hpp>
#include <parallax/host/kernels/evaluate.hpp>
#include <parallax/host/kernels/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/pack.hpp>
#include <parallax/host/simd/registers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace parallax::host::inline PARALLAX_REGISTERS::detail {

/// The best value that each lane has met, and where. The first one wins among equals, and NaN over all numbers.
template <class T, bool Largest> struct best_of_lanes {
  using positions = pack<std::int32_t>;

  pack<T> value = broadcast(T{});
  positions where = broadcast(std::int32_t{0});

  static PARALLAX_INLINE pack<bool> beats(const pack<T>& x, const pack<T>& best) {
    const pack<bool> better = Largest ? math::gt(x, best) : math::lt(x, best);
    if constexpr (!math::floating_element<T>) return better;
    else return math::bit_and(math::eq(best, best), math::bit_or(better, math::ne(x, x)));
  }

  /// All lanes are at `j`, which is behind what they have seen.
  PARALLAX_INLINE void look(const pack<T>& x, std::int64_t j) {
    const positions at = broadcast(static_cast<std::int32_t>(j));
    if constexpr (sizeof(T) == 4 && !std::is_same_v<T, bool>) {
      // registers are chosen without a pack of booleans in between
      const auto best = value.template part<0>(), next = x.template part<0>();
      const auto before = where.template part<0>(), here = at.template part<0>();
      const auto stays = Largest ? next <= best : next >= best; // false where one is NaN
      if constexpr (math::floating_element<T>) {
        const auto is_number = best == best;
        value.template set_part<0>(choose(stays, best, choose(is_number, next, best)));
        where.template set_part<0>(choose(stays, before, choose(is_number, here, before)));
      } else {
        value.template set_part<0>(choose(stays, best, next));
        where.template set_part<0>(choose(stays, before, here));
      }
    } else {
      take(beats(x, value), x, at);
    }
  }
  /// The first `count` lanes alone are there.
  PARALLAX_INLINE void look(const pack<T>& x, std::int64_t j, int count) {
    if (count == lanes) return look(x, j);
    take(math::bit_and(first_of(count), beats(x, value)), x, broadcast(static_cast<std::int32_t>(j)));
  }
  /// What other lanes have met, of which any may be the earlier ones.
  PARALLAX_INLINE void join(const best_of_lanes& other) {
    const pack<bool> better = beats(other.value, value), worse = beats(value, other.value);
    const pack<bool> is_earlier = math::bit_and(math::eq(better, worse), math::lt(other.where, where));
    take(math::bit_or(better, is_earlier), other.value, other.where);
  }
  /// The position in a row of the best of the first `count` lanes, each of which is so many elements behind `where`.
  std::int32_t of_row(int count) const {
    const pack<bool> is_there = first_of(count);
    const pack<T> own = math::select(is_there, value, broadcast(stored_lanes(value).lanes[0]));
    const T best =
        host::reduce(own, [](const pack<T>& x, const pack<T>& y) { return math::select(beats(y, x), y, x); });
    pack<bool> is_best = math::eq(own, broadcast(best));
    if constexpr (math::floating_element<T>) is_best = math::bit_or(is_best, math::ne(own, own)); // NaN is the best
    const positions found =
        math::select(math::bit_and(is_there, is_best), math::add(where, host::lane_index<std::int32_t>()),
                     broadcast(std::numeric_limits<std::int32_t>::max()));
    return host::reduce_min(found);
  }

 private:
  static PARALLAX_INLINE pack<bool> first_of(int count) {
    return math::lt(host::lane_index<std::int32_t>(), broadcast(std::int32_t{count}));
  }
  PARALLAX_INLINE void take(const pack<bool>& these, const pack<T>& x, const positions& at) {
    value = math::select(these, x, value);
    where = math::select(these, at, where);
  }
};

template <class Kernel> class position_reduction {
 public:
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;
  using best = best_of_lanes<T, Kernel::reduction == primitives::id_of<primitives::argmax>>;

  /// The results from number `begin` to `end`, along the innermost dimension of the loop.
  static void along_rows(const kernel_arguments& a, const int* kept, int kept_count, std::int64_t begin,
                         std::int64_t end) {
    const int axis = a.rank - 1;
    const std::int64_t length = a.extents[axis];
    row_position row;
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t position[max_rank] = {};
      reduction_shape::locate(a, kept, kept_count, k, position);
      row.set(a, position, axis);
      *reinterpret_cast<std::int32_t*>(const_cast<std::byte*>(row.data[0])) =
          of_row(typename evaluate::row(row), a.constants, length);
    }
  }
  /// Those of another dimension: a pack of neighbouring results at a time. `begin` and `end` are numbers of packs.
  static void down_columns(const kernel_arguments& a, int axis, const int* kept, int kept_count, std::int64_t begin,
                           std::int64_t end) {
    const std::int64_t length = a.extents[a.rank - 1], packs = packs_of(length);
    const typename evaluate::row_steps steps(a, axis);
    row_position row;
    for (std::int64_t k = begin; k < end; ++k) {
      std::int64_t position[max_rank] = {};
      reduction_shape::locate(a, kept, kept_count - 1, k / packs, position); // the last one is the innermost
      const std::int64_t first = k % packs * lanes, stride = a.operands[0].strides[a.rank - 1];
      const int count = lanes_from(first, length);
      row.set(a, position, a.rank - 1);
      typename evaluate::row elements(row);
      best all;
      for (std::int64_t j = 0; j < a.extents[axis]; ++j) {
        const pack<T> x = evaluate::template run<moved_lanes::either>(elements, a.constants, first, count);
        if (j == 0) all.value = x;
        else all.look(x, j);
        elements.advance(steps);
      }
      auto* const out = reinterpret_cast<std::int32_t*>(const_cast<std::byte*>(row.data[0]));
      const auto where = stored_lanes(all.where);
      for (int i = 0; i < count; ++i) out[(first + i) * stride] = where.lanes[i];
    }
  }
  static std::int64_t packs_of(std::int64_t length) { return (length + lanes - 1) / lanes; }

 private:
  static std::int32_t of_row(const typename evaluate::row& row, const constant_bits* constants, std::int64_t length) {
    constexpr int streams = 4; // each waits for itself only
    constexpr std::int64_t step = streams * lanes;
    auto read = [&](std::int64_t j) PARALLAX_INLINE_LAMBDA {
      return evaluate::template run<moved_lanes::either>(row, constants, j, lanes_from(j, length));
    };
    best all[std::size_t{streams}];
    std::int64_t j = lanes;
    all[0].value = read(0);
    if (length >= 4 * step) {
      for (int s = 1; s < streams; ++s) {
        all[s].value = read(s * lanes);
        all[s].where = broadcast(static_cast<std::int32_t>(s * lanes));
      }
      for (j = step; j + step <= length; j += step) {
        PARALLAX_UNROLL(4)
        for (int s = 0; s < streams; ++s) all[s].look(read(j + s * lanes), j + s * lanes);
      }
      for (int s = 1; s < streams; ++s) all[0].join(all[s]);
    }
    for (; j < length; j += lanes) all[0].look(read(j), j, lanes_from(j, length));
    return all[0].of_row(lanes_from(0, length));
  }
};

template <class Kernel, class Work> void reduce_positions(const kernel_arguments& a) {
  using reduction = position_reduction<Kernel>;
  int axis = 0;
  while (axis < a.rank && !(a.reduced >> axis & 1U)) ++axis;
  const bool is_innermost = axis == a.rank - 1;
  std::int64_t results = 1, units = 1;
  int kept[max_rank] = {}, kept_count = 0;
  for (int d = 0; d < a.rank; ++d) {
    if (d == axis) continue;
    kept[kept_count++] = d;
    results *= a.extents[d];
    units *= d == a.rank - 1 ? reduction::packs_of(a.extents[d]) : a.extents[d];
  }
  auto some = [&](std::int64_t begin, std::int64_t end) {
    if (is_innermost) reduction::along_rows(a, kept, kept_count, begin, end);
    else reduction::down_columns(a, axis, kept, kept_count, begin, end);
  };
  if (results == 0) return;
  if (results * a.extents[axis] <= parallel_grain) return some(0, units);
  Work::parallel_for(units, parallel_grain / ((is_innermost ? 1 : lanes) * a.extents[axis] + 1) + 1, some);
}

} // namespace parallax::host::inline PARALLAX_REGISTERS::detail
