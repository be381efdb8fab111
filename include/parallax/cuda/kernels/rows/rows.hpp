// Row sweeps on a device. A row that fits is held in the registers of neighbouring threads, a longer one in the shared
// memory of one block or of several that run together. Even longer rows are read once in each pass.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/rows/held_rows.hpp>
#include <parallax/cuda/kernels/rows/long_rows.hpp>
#include <parallax/cuda/kernels/rows/shared_rows.hpp>
#include <parallax/cuda/names.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// Launches a row kernel.
template <launch_api Api, class Kernel>
status launch_row_sweep(kernel_arguments& whole, const launch_context<Api>& where) {
  using totals = typename long_rows<Kernel>::passes::row_totals;
  using evaluate = evaluator<Kernel>;
  whole.collapse_rows();
  const int last = whole.rank - 1;
  auto row_count = [last](const kernel_arguments& a) {
    std::int64_t rows = 1;
    for (int d = 0; d < last; ++d) rows *= a.extents[d];
    return rows;
  };
  if (row_count(whole) == 0) return {};
  // rows are never cut: the limit for their parts is that of the indices
  const bool may_be_long = whole.extents[last] > std::int64_t{most_row_threads} * held_rows<Kernel, 1>::vectors;
  auto done = [&](const kernel_arguments& a) {
    const std::int64_t partial_bytes = row_count(a) * totals::reductions * std::int64_t{totals::accumulator_bytes};
    return fits(a, where.largest) && (!may_be_long || partial_bytes <= static_cast<std::int64_t>(where.scratch_bytes));
  };
  return for_each_part(whole, (1U << last) - 1U, done, [&](const kernel_arguments& a, std::int64_t) -> status {
    if (!fits(a, largest_loop))
      return {status::kind::failure, 0, "parallax", "launch_kernel", "a row of more than 2^30 elements"};
    const std::int64_t rows = row_count(a), length = a.extents[last];
    const std::int64_t wanted_threads = std::int64_t{where.properties->multiprocessors} * 1024;
    if (const int width = evaluate::vector_width(a); width > 0 && length % width == 0) {
      if (int group = threads_of_row<held_rows<Kernel, evaluate::width>>(length / width, rows, wanted_threads);
          group > 0) {
        if constexpr (evaluate::has_vectors)
          return launch_held_rows<Api, Kernel, evaluate::width>(a, where, rows, group);
      }
    } else if (int group = threads_of_row<held_rows<Kernel, 1>>(length, rows, wanted_threads); group > 0) {
      return launch_held_rows<Api, Kernel, 1>(a, where, rows, group);
    }
    if constexpr (shared_rows<Kernel>::element_bytes > 0) {
      bool launched = false;
      if (const status s = launch_shared_rows<Api, Kernel>(a, where, rows, launched); launched || !s.ok()) return s;
    }
    return launch_long_rows<Api, Kernel>(a, where, rows);
  });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
