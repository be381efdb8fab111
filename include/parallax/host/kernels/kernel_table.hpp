// The host's functions for a program's kernels.
#pragma once

#include <parallax/host/kernels/rows.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/registers.hpp>

#include <array>
#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// The host's function for a kernel.
template <class Kernel> constexpr kernel_function kernel_function_of() {
  if constexpr (Kernel::result == kernel_result::rows) return &run_row_group<Kernel>;
  else if constexpr (Kernel::reduction != primitive_id::input) return &run_reduction<Kernel>;
  else return &run_elementwise<Kernel>;
}

/// In the order of the program's table.
template <class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_function, sizeof...(I)>{
        kernel_function_of<typename program_kernel<Program, I>::type>()...};
  }
  static constexpr auto functions = make(std::make_index_sequence<kernel_count<Program>>{});
};

} // namespace parallax::host::inline PARALLAX_REGISTERS
