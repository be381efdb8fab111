// Positions of extremes along one dimension: argmax and argmin.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/elementwise.hpp>
#include <parallax/host/kernels/loop/evaluate.hpp>
#include <parallax/host/kernels/reductions/reduced_value.hpp>
#include <parallax/host/kernels/reductions/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/host/simd/pack.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// The best value that each lane has met, and its position. The first one wins among equals, and NaN wins over all
/// numbers.
template <class T, bool Largest> struct best_of_lanes {
  using positions = pack<std::int32_t>;

  pack<T> value = broadcast(T{});
  positions where = broadcast(std::int32_t{0});

  static PARALLAX_INLINE pack<bool> beats(const pack<T>& x, const pack<T>& best) {
    const pack<bool> better = Largest ? math::gt(x, best) : math::lt(x, best);
    if constexpr (!math::floating_element<T>) return better;
    else return math::bit_and(math::eq(best, best), math::bit_or(better, math::ne(x, x)));
  }

  /// Looks at the elements `x` of all lanes at position `j`, which is behind all positions so far.
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

 private:
  PARALLAX_INLINE void take(const pack<bool>& these, const pack<T>& x, const positions& at) {
    value = math::select(these, x, value);
    where = math::select(these, at, where);
  }
};

template <class Kernel> class position_reduction {
 public:
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;
  static constexpr bool is_largest = std::is_same_v<typename Kernel::reduction, primitives::argmax>;

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
  /// The results along another dimension: a pack of neighbouring results at a time. `begin` and `end` are numbers of
  /// packs.
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
      best_of_lanes<T, is_largest> all;
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
  using P = std::conditional_t<is_largest, primitives::reduce_max, primitives::reduce_min>;

  /// Finds the best value of some elements, which is quick, and its position only if it beats the values before.
  static std::int32_t of_row(const typename evaluate::row& row, const constant_bits* constants, std::int64_t length) {
    constexpr int streams = 4;
    constexpr std::int64_t step = streams * lanes, most = 16 * step;
    alignas(register_bytes) T values[std::size_t{most}];
    T best{};
    std::int64_t position = 0;
    for (std::int64_t first = 0; first < length; first += most) {
      const std::int64_t count = std::min(most, length - first);
      reduced_value<P, T, is_extreme_of_numbers<P, T>> partial[std::size_t{streams}];
      std::int64_t i = 0;
      for (; i + step <= count; i += step) {
        PARALLAX_UNROLL(4)
        for (int s = 0; s < streams; ++s) {
          const std::int64_t j = i + s * lanes;
          const pack<T> x = evaluate::template run<moved_lanes::either>(row, constants, first + j, lanes);
          store(values + j, x);
          partial[s].add(x);
        }
      }
      for (; i < count; i += lanes) {
        const int some = lanes_from(i, count);
        const pack<T> x =
            first_lanes<P>(evaluate::template run<moved_lanes::either>(row, constants, first + i, some), some);
        store(values + i, x);
        partial[0].add(x);
      }
      T found = reduce_lanes<P>(joined(partial));
      if constexpr (is_extreme_of_numbers<P, T>)
        if (found != found) found = exactly(values, count);
      if (first > 0 && (is_largest ? found <= best : found >= best)) continue;
      best = found;
      position = first + place_of(best, values, count);
      if (best != best) break; // nothing beats NaN
    }
    return static_cast<std::int32_t>(position);
  }
  /// The best of the values, and NaN only if one of them is.
  static T exactly(const T* values, std::int64_t count) {
    reduced_value<P, T> all;
    for (std::int64_t i = 0; i < count; i += lanes) all.add(load(values + i));
    return reduce_lanes<P>(all.result());
  }
  /// The first position of `best` among the values, which are whole registers.
  static std::int64_t place_of(T best, const T* values, std::int64_t count) {
    const pack<T> wanted = broadcast(best);
    for (std::int64_t i = 0; i < count; i += lanes) {
      const pack<T> x = load(values + i);
      const unsigned these = bits_of_lanes(best == best ? math::eq(x, wanted) : math::ne(x, x));
      if (these != 0) return i + std::countr_zero(these);
    }
    return 0;
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

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
