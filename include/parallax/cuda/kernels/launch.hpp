// Launches a program's kernel, of whichever kind, on a device.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise.hpp>
#include <parallax/cuda/kernels/elementwise/elementwise_tiles.hpp>
#include <parallax/cuda/kernels/order/scatter.hpp>
#include <parallax/cuda/kernels/order/sort.hpp>
#include <parallax/cuda/kernels/reductions/cumulative.hpp>
#include <parallax/cuda/kernels/reductions/reduce.hpp>
#include <parallax/cuda/kernels/rows/rows.hpp>
#include <parallax/cuda/names.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {

template <launch_api Api, class Kernel>
status launch_elementwise(kernel_arguments& whole, const launch_context<Api>& where) {
  for (int d = 0; d < whole.rank; ++d)
    if (whole.extents[d] == 0) return {};
  bool tiled = false;
  if constexpr (elementwise_tiles<Kernel>::is_possible) tiled = arrange_for_tiles(whole);
  auto done = [&](const kernel_arguments& a) { return fits(a, where.largest); };
  return for_each_part(whole, ~0U, done, [&](const kernel_arguments& a, std::int64_t) {
    if constexpr (elementwise_tiles<Kernel>::is_possible)
      if (tiled) return launch_tiles<Api, Kernel>(a, where);
    return launch_rows<Api, Kernel>(a, where);
  });
}

} // namespace detail

/// Launches `Kernel` on the loop that `a` describes, with operands in memory of the current device; changes the
/// description. Launches nothing if there are no results. Returns the first failing status.
template <launch_api Api, class Kernel> status launch_kernel(kernel_arguments& a, const launch_context<Api>& where) {
  if constexpr (Kernel::result == kernel_result::rows) {
    return detail::launch_row_sweep<Api, Kernel>(a, where);
  } else if constexpr (Kernel::result == kernel_result::sorted) {
    return detail::launch_sort<Api, Kernel>(a, where);
  } else if constexpr (Kernel::result == kernel_result::scattered) {
    return detail::launch_scatter<Api, Kernel>(a, where);
  } else {
    a.collapse();
    if constexpr (is_cumulative(Kernel::result)) return detail::launch_cumulative<Api, Kernel>(a, where);
    else if constexpr (Kernel::has_reduction) return detail::reduction_launch<Api, Kernel>(a, where).run(a);
    else {
      static_assert(Kernel::result == kernel_result::vector || Kernel::result == kernel_result::strided);
      return detail::launch_elementwise<Api, Kernel>(a, where);
    }
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
