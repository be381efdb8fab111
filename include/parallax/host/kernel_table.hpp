// The host's functions for a program's kernels.
#pragma once

#include <parallax/host/rows.hpp>

#include <array>
#include <utility>

namespace parallax::host {

/// In the order of the program's table.
template <class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_function, sizeof...(I)>{
        kernel_function_of<typename parallax::detail::program_kernel<Program, I>::type>()...};
  }
  static constexpr auto functions = make(std::make_index_sequence<parallax::detail::kernel_count<Program>>{});
};

} // namespace parallax::host
