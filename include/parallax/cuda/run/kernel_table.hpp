// What launches a program's kernels.
#pragma once

#include <parallax/cuda/kernels/launch.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/section_runner.hpp>
#include <parallax/program/kernel.hpp>

#include <array>
#include <utility>

namespace parallax::cuda {

/// In the order of the program's table.
template <device_api Api, class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_launcher<Api>, sizeof...(I)>{
        &launch_kernel<Api, typename program_kernel<Program, I>::type>...};
  }
  static constexpr auto functions = make(std::make_index_sequence<kernel_count<Program>>{});
};

} // namespace parallax::cuda
