// The host's functions for a program's kernels.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/host/kernels/kernel_function.hpp>
#include <parallax/host/kernels/loop/all_threads.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>

#include <array>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// The functions, in the order of the program's kernels.
template <class Program> struct kernel_table {
  template <std::size_t... I> static constexpr auto make(std::index_sequence<I...>) {
    return std::array<kernel_function, sizeof...(I)>{
        kernel_function_of<typename program_kernel<Program, I>::type, all_threads>()...};
  }
  static constexpr auto functions = make(std::make_index_sequence<kernel_count<Program>>{});
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
