// Fused elementwise loops on the host.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/loop/evaluate.hpp>
#include <parallax/host/kernels/loop/transposed_tiles.hpp>
#include <parallax/host/kernels/loop/work.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <algorithm>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

namespace detail {

/// The position of row number `row` in the outer dimensions.
inline void row_to_position(const kernel_arguments& a, std::int64_t row, std::int64_t* position, int outer_rank) {
  for (int d = outer_rank - 1; d >= 0; --d) {
    position[d] = row % a.extents[d];
    row /= a.extents[d];
  }
}

/// Calls `run(number)` for the rows `begin` to `end`: at once for all rows that follow each other along the innermost
/// of the outer dimensions. `row` is then the first of them.
template <class Run>
PARALLAX_INLINE void for_each_run_of_rows(const kernel_arguments& a, std::int64_t begin, std::int64_t end,
                                          row_position& row, const Run& run) {
  const int outer_rank = a.rank > 0 ? a.rank - 1 : 0, inner = outer_rank - 1;
  std::int64_t position[max_rank] = {};
  for (std::int64_t r = begin; r < end;) {
    row_to_position(a, r, position, outer_rank);
    row.set(a, position, outer_rank);
    const std::int64_t last = inner < 0 ? end : std::min(end, r + a.extents[inner] - position[inner]);
    run(last - r);
    r = last;
  }
}

/// The fewest elements of a loop that are worth another thread.
inline constexpr std::int64_t parallel_grain = 1 << 16;

template <class Kernel>
PARALLAX_INLINE void elementwise_row(const typename evaluator<Kernel>::row& row, const constant_bits* constants,
                                     std::int64_t first, std::int64_t last) {
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;
  T* const out = reinterpret_cast<T*>(const_cast<std::byte*>(operand_at<0>(row).data));
  const std::int64_t stride = operand_at<0>(row).stride;
  constexpr bool may_pass = Kernel::result == kernel_result::vector && has_stores_past_caches<T>;
  const bool past_caches [[maybe_unused]] = may_pass && row.past_caches && is_aligned(out + first);
  typename evaluate::registers file;
  evaluate::begin(file, row, constants);
  auto compute = [&]<moved_lanes Moved>(std::int64_t i, int count) PARALLAX_INLINE_LAMBDA {
    auto value = evaluate::template go_on<Moved>(file, row, i, count);
    if constexpr (may_pass && Moved != moved_lanes::first)
      if (past_caches && (Moved == moved_lanes::all || count == lanes)) return store_past_caches(out + i, value);
    if constexpr (Kernel::result == kernel_result::vector) store<Moved>(out + i, value, count);
    else store_strided<Moved>(out + i * stride, stride, value, count);
  };
  std::int64_t i = first;
  if constexpr (is_short<Kernel>) {
    for (; i + lanes <= last; i += lanes) compute.template operator()<moved_lanes::all>(i, lanes);
    if (i < last) compute.template operator()<moved_lanes::first>(i, static_cast<int>(last - i));
  } else {
    for (; i < last; i += lanes) compute.template operator()<moved_lanes::either>(i, lanes_from(i, last));
  }
}
template <class Kernel>
void elementwise_row_at(const row_position& position, const constant_bits* constants, std::int64_t first,
                        std::int64_t last) {
  elementwise_row<Kernel>(typename evaluator<Kernel>::row(position), constants, first, last);
}

/// The elements of a loop of one dimension. Not inlined, so that a kernel is compiled once for short rows and for long
/// ones.
template <class Kernel>
[[gnu::noinline]] void elementwise_elements(const operand* operands, const constant_bits* constants, std::int64_t first,
                                            std::int64_t last, bool past_caches) {
  elementwise_row<Kernel>(typename evaluator<Kernel>::row(operands, past_caches), constants, first, last);
}

/// Computes the elements `first` to `last` of a row.
using row_function = void (*)(const row_position&, const constant_bits*, std::int64_t first, std::int64_t last);

/// Goes over all rows. It is no template of the kernel: only the inner loop differs. `strided_loads`: see `evaluator`.
template <class Work> void run_rows(kernel_arguments& a, row_function compute, std::uint64_t strided_loads) {
  a.collapse();
  const transposed_tiles tiles(a, strided_loads);
  int outer_rank = a.rank > 0 ? a.rank - 1 : 0;
  std::int64_t length = a.rank > 0 ? a.extents[a.rank - 1] : 1, rows = 1;
  for (int d = 0; d < outer_rank; ++d) rows *= a.extents[d];
  if (rows == 0 || length == 0) return;
  const bool past_caches = a.operand_count > 0 && are_past_caches(rows, length * a.operands[0].element_bytes);
  auto some_rows = [&](std::int64_t begin, std::int64_t end) {
    row_position row;
    row.past_caches = past_caches;
    for_each_run_of_rows(a, begin, end, row, [&](std::int64_t number) {
      if (tiles.any())
        return tiles.run(a, row, number,
                         [&](const row_position& part, std::int64_t some) { compute(part, a.constants, 0, some); });
      for (;;) {
        compute(row, a.constants, 0, length);
        if (--number == 0) break;
        row.advance(a, outer_rank - 1);
      }
    });
    if (past_caches) finish_stores_past_caches();
  };
  if (rows * length <= parallel_grain) return some_rows(0, rows);
  if (rows > 1) return Work::parallel_for(rows, parallel_grain / length + 1, some_rows);
  std::int64_t blocks = (length + lanes - 1) / lanes;
  Work::parallel_for(blocks, parallel_grain / lanes, [&](std::int64_t begin, std::int64_t end) {
    row_position row;
    row.past_caches = past_caches;
    std::int64_t position[max_rank] = {};
    row.set(a, position, outer_rank);
    compute(row, a.constants, begin * lanes, end * lanes < length ? end * lanes : length);
    if (past_caches) finish_stores_past_caches();
  });
}

} // namespace detail

/// Runs an elementwise kernel over all positions.
template <class Kernel, class Work> void run_elementwise(kernel_arguments& a) {
  detail::run_rows<Work>(a, &detail::elementwise_row_at<Kernel>, evaluator<Kernel>::strided_loads);
}

/// Runs an elementwise kernel over one row.
template <class Kernel, class Work>
void run_elementwise_row(const operand* operands, const constant_bits* constants, std::int64_t length) {
  if (length <= detail::parallel_grain)
    return detail::elementwise_elements<Kernel>(operands, constants, 0, length, false);
  const bool past_caches = are_past_caches(1, length * operands[0].element_bytes);
  Work::parallel_for((length + lanes - 1) / lanes, detail::parallel_grain / lanes,
                     [&](std::int64_t begin, std::int64_t end) {
                       detail::elementwise_elements<Kernel>(operands, constants, begin * lanes,
                                                            std::min(end * lanes, length), past_caches);
                       if (past_caches) finish_stores_past_caches();
                     });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
