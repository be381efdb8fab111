// The host's function for each kind of kernel.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/order/scatter.hpp>
#include <parallax/host/kernels/order/sort.hpp>
#include <parallax/host/kernels/reductions/cumulative.hpp>
#include <parallax/host/kernels/reductions/rows.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// The host's function for a kernel.
template <class Kernel, class Work> constexpr kernel_function kernel_function_of() {
  if constexpr (Kernel::result == kernel_result::rows) return &run_row_sweep<Kernel, Work>;
  else if constexpr (Kernel::result == kernel_result::sorted) return &run_sort<Kernel, Work>;
  else if constexpr (Kernel::result == kernel_result::scattered) return &run_scatter<Kernel, Work>;
  else if constexpr (is_cumulative(Kernel::result)) return &run_cumulative<Kernel, Work>;
  else if constexpr (Kernel::has_reduction) return &run_reduction<Kernel, Work>;
  else {
    static_assert(Kernel::result == kernel_result::vector || Kernel::result == kernel_result::strided);
    return &run_elementwise<Kernel, Work>;
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
