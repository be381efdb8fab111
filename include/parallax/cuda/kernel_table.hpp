// What launches a program's kernels.
#pragma once

#include <parallax/compile/kernel.hpp>
#include <parallax/cuda/block_runner.hpp>
#include <parallax/cuda/launch.hpp>

#include <array>
#include <utility>

namespace parallax::cuda {

/// In the order of the program's table.
template <device_api Api, class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_launcher<Api>, sizeof...(I)>{
        &launch_kernel<Api, typename parallax::detail::program_kernel<Program, I>::type>...};
  }
  static constexpr auto functions = make(std::make_index_sequence<parallax::detail::kernel_count<Program>>{});
};

} // namespace parallax::cuda
