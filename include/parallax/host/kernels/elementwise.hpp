// Fused elementwise loops on the host.
#pragma once

#include <parallax/host/devices/parallel_for.hpp>
#include <parallax/host/kernels/evaluate.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

namespace parallax::host::inline PARALLAX_REGISTERS {

namespace detail {

/// The position of row number `row` in the outer dimensions.
inline void row_to_position(const kernel_arguments& a, std::int64_t row, std::int64_t* position, int outer_rank) {
  for (int d = outer_rank - 1; d >= 0; --d) {
    position[d] = row % a.extents[d];
    row /= a.extents[d];
  }
}

/// Elements below which a loop is not worth another thread.
inline constexpr std::int64_t parallel_grain = 1 << 16;

template <class Kernel>
void elementwise_row(const row_position& position, const constant_bits* constants, std::int64_t first,
                     std::int64_t last) {
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type::value_type;
  const typename evaluate::row row(position);
  T* out = reinterpret_cast<T*>(const_cast<std::byte*>(position.data[0]));
  const std::int64_t stride = position.stride[0];
  std::int64_t i = first;
  for (; i + lanes <= last; i += lanes) {
    auto value = evaluate::template run<true>(row, constants, i, lanes);
    if constexpr (Kernel::result == kernel_result::vector) store(out + i, value);
    else store_strided(out + i * stride, stride, value);
  }
  if (i < last) {
    int count = static_cast<int>(last - i);
    auto value = evaluate::template run<false>(row, constants, i, count);
    if constexpr (Kernel::result == kernel_result::vector) store(out + i, value, count);
    else store_strided(out + i * stride, stride, value, count);
  }
}

/// Computes the elements `first` to `last` of a row.
using row_function = void (*)(const row_position&, const constant_bits*, std::int64_t first, std::int64_t last);

/// Goes over all rows. Not a template: only the inner loop differs from kernel to kernel.
inline void run_rows(kernel_arguments& a, row_function compute) {
  a.collapse();
  int outer_rank = a.rank > 0 ? a.rank - 1 : 0;
  std::int64_t length = a.rank > 0 ? a.extents[a.rank - 1] : 1, rows = 1;
  for (int d = 0; d < outer_rank; ++d) rows *= a.extents[d];
  if (rows == 0 || length == 0) return;
  auto some_rows = [&](std::int64_t begin, std::int64_t end) {
    row_position row;
    std::int64_t position[max_rank] = {};
    for (std::int64_t r = begin; r < end; ++r) {
      row_to_position(a, r, position, outer_rank);
      row.set(a, position, outer_rank);
      compute(row, a.constants, 0, length);
    }
  };
  if (rows * length <= parallel_grain) return some_rows(0, rows);
  if (rows > 1) return parallel_for(rows, parallel_grain / length + 1, some_rows);
  std::int64_t blocks = (length + lanes - 1) / lanes;
  parallel_for(blocks, parallel_grain / lanes, [&](std::int64_t begin, std::int64_t end) {
    row_position row;
    std::int64_t position[max_rank] = {};
    row.set(a, position, outer_rank);
    compute(row, a.constants, begin * lanes, end * lanes < length ? end * lanes : length);
  });
}

} // namespace detail

/// Runs an elementwise kernel over all positions.
template <class Kernel> void run_elementwise(kernel_arguments& a) {
  detail::run_rows(a, &detail::elementwise_row<Kernel>);
}

} // namespace parallax::host::inline PARALLAX_REGISTERS
