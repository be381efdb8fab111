// Cumulative kernels on the host: along rows a pack of elements at a time, and down columns a block of neighbours.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/elementwise.hpp>
#include <parallax/host/kernels/reductions/reduction_shape.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/pack_scan.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// The elements that a cumulative kernel combines: those of its expression.
template <class Kernel> struct cumulated {
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;
  static constexpr std::size_t parts = 1; ///< of an element

  static PARALLAX_INLINE void load(const row_position& row, const constant_bits* constants, std::int64_t i, int count,
                                   pack<T>* element) {
    *element = evaluate::template run<moved_lanes::either>(typename evaluate::row(row), constants, i, count);
  }
  template <class V> static PARALLAX_INLINE V combine(const V& before, const V* element) {
    return Kernel::reduction::evaluate(before, *element);
  }
};
/// The elements of a linear recurrence: factors and terms.
template <kernel_result Result, class Factor, class Term, class Last>
struct cumulated<kernel<Result, primitives::linear_recurrence, Factor, Term, Last>> {
  using T = typename Term::value_type;
  static constexpr std::size_t parts = 2;

  static PARALLAX_INLINE void load(const row_position& row, const constant_bits* constants, std::int64_t i, int count,
                                   pack<T>* element) {
    load_part<Factor>(row, constants, i, count, element[0]);
    load_part<Term>(row, constants, i, count, element[1]);
  }
  template <class V> static PARALLAX_INLINE V combine(const V& before, const V* element) {
    return primitives::linear_recurrence::evaluate(before, element[0], element[1]);
  }

 private:
  template <class Load>
  static PARALLAX_INLINE void load_part(const row_position& row, const constant_bits* constants, std::int64_t i,
                                        int count, pack<T>& part) {
    using evaluate = evaluator<kernel<kernel_result::vector, no_reduction, Load>>;
    part = evaluate::template run<moved_lanes::either>(typename evaluate::row(row), constants, i, count);
  }
};

template <class Kernel> struct cumulative_loop {
  using elements = cumulated<Kernel>;
  using T = typename elements::T;
  using P = typename Kernel::reduction;
  static constexpr bool reverse = Kernel::result == kernel_result::reverse_cumulative;
  static constexpr std::size_t parts = elements::parts;
  static constexpr std::int64_t block = 8 * lanes; ///< neighbouring columns that are gone down together
  /// Sums of `rows_of_piece` rows begin with 0 and are then added to the sum before: small numbers, added to a large
  /// sum one by one, would change nothing.
  static constexpr bool sums_in_pieces = std::is_same_v<P, primitives::cumsum> && floating_element<T>;
  static constexpr std::int64_t rows_of_piece = 64;

  static PARALLAX_INLINE std::byte* result_of(const row_position& row) { return const_cast<std::byte*>(row.data[0]); }
  static PARALLAX_INLINE void write(const row_position& row, std::int64_t i, int count, const pack<T>& values) {
    T* const out = reinterpret_cast<T*>(result_of(row)) + i * row.stride[0];
    if (row.stride[0] == 1) store<moved_lanes::either>(out, values, count);
    else store_strided<moved_lanes::either>(out, row.stride[0], values, count);
  }

  /// One row along the innermost dimension: the elements of a pack are first combined with one another.
  static void run_row(const row_position& row, const constant_bits* constants, std::int64_t length) {
    if constexpr (parts == 1) {
      const pack<T> neutral = broadcast(P::template neutral<T>());
      constexpr auto both = []<class V>(const V& x, const V& y) PARALLAX_INLINE_LAMBDA { return P::evaluate(x, y); };
      T total = P::template neutral<T>();
      const std::int64_t packs = (length + lanes - 1) / lanes;
      for (std::int64_t p = 0; p < packs; ++p) {
        const std::int64_t first = (reverse ? packs - 1 - p : p) * lanes;
        const int count = lanes_from(first, length);
        pack<T> element;
        elements::load(row, constants, first, count, &element);
        if (count < lanes) element = first_lanes<P>(element, count);
        const pack<T> within = inclusive_scan<reverse>(element, neutral, both);
        write(row, first, count, P::evaluate(broadcast(total), within));
        total = P::evaluate(total, edge_of(within, reverse ? 0 : count - 1));
      }
    } else {
      run_row_one_by_one(row, constants, length);
    }
  }
  static PARALLAX_INLINE T edge_of(const pack<T>& x, int lane) { return stored_lanes(x).lanes[lane]; }
  /// One row of an operation that is not associative on single numbers.
  static void run_row_one_by_one(const row_position& row, const constant_bits* constants, std::int64_t length) {
    alignas(register_bytes) T numbers[parts][lanes];
    T total = P::template neutral<T>();
    T* const out = reinterpret_cast<T*>(result_of(row));
    const std::int64_t packs = (length + lanes - 1) / lanes;
    for (std::int64_t p = 0; p < packs; ++p) {
      const std::int64_t first = (reverse ? packs - 1 - p : p) * lanes;
      const int count = lanes_from(first, length);
      pack<T> element[parts];
      elements::load(row, constants, first, count, element);
      for (std::size_t part = 0; part < parts; ++part) store(numbers[part], element[part]);
      for (int k = 0; k < count; ++k) {
        const int lane = reverse ? count - 1 - k : k;
        T one[parts];
        for (std::size_t part = 0; part < parts; ++part) one[part] = numbers[part][lane];
        total = elements::combine(total, one);
        out[(first + lane) * row.stride[0]] = total;
      }
    }
  }
  /// Columns `first` to `last`, at most a block of them.
  static void run_columns(const kernel_arguments& a, int axis, std::int64_t* position, std::int64_t first,
                          std::int64_t last) {
    constexpr std::size_t most = block / lanes;
    pack<T> totals[most], before[most];
    for (pack<T>& total : totals) total = broadcast(P::template neutral<T>());
    for (pack<T>& sum : before) sum = totals[0];
    row_position row;
    for (std::int64_t j = 0; j < a.extents[axis]; ++j) {
      if constexpr (sums_in_pieces) {
        for (std::size_t k = 0; k < most && j > 0 && j % rows_of_piece == 0; ++k) {
          before[k] = P::evaluate(before[k], totals[k]);
          totals[k] = broadcast(P::template neutral<T>());
        }
      }
      position[axis] = reverse ? a.extents[axis] - 1 - j : j;
      row.set(a, position, a.rank - 1);
      pack<T>* total = totals;
      for (std::int64_t i = first; i < last; i += lanes, ++total) {
        const int count = lanes_from(i, last);
        pack<T> element[parts];
        elements::load(row, a.constants, i, count, element);
        *total = elements::combine(*total, element);
        if constexpr (sums_in_pieces) write(row, i, count, P::evaluate(before[total - totals], *total));
        else write(row, i, count, *total);
      }
    }
    position[axis] = 0;
  }
};

} // namespace detail

/// Runs a cumulative kernel.
template <class Kernel, class Work> void run_cumulative(kernel_arguments& a) {
  using loop = detail::cumulative_loop<Kernel>;
  a.collapse();
  const int axis = a.reduced_dimension(), last = a.rank - 1;
  int kept[max_rank] = {}, kept_count = 0;
  std::int64_t outer = 1;
  for (int d = 0; d < last; ++d)
    if (d != axis) kept[kept_count++] = d, outer *= a.extents[d];
  const bool along_rows = axis == last;
  const std::int64_t length = a.extents[axis], width = along_rows ? 1 : a.extents[last];
  const std::int64_t blocks = (width + loop::block - 1) / loop::block;
  if (outer * blocks == 0 || length == 0) return;
  auto some = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t position[max_rank] = {};
    for (std::int64_t k = begin; k < end; ++k) {
      detail::reduction_shape::locate(a, kept, kept_count, k / blocks, position);
      if (along_rows) {
        row_position row;
        row.set(a, position, last);
        loop::run_row(row, a.constants, length);
      } else {
        const std::int64_t first = k % blocks * loop::block;
        loop::run_columns(a, axis, position, first, std::min(first + loop::block, width));
      }
    }
  };
  const std::int64_t each = length * std::min(width, loop::block);
  if (outer * blocks * each <= detail::parallel_grain) return some(0, outer * blocks);
  Work::parallel_for(outer * blocks, detail::parallel_grain / each + 1, some);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
