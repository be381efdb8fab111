// A program's way to the host backend.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/kernels/kernel_table.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/runtime/result_memory.hpp>

#include <utility>

#if !PARALLAX_LINKED_RUNTIME
#include <parallax/host/run/program_run.hpp>
#endif

#if PARALLAX_LINKED_RUNTIME
namespace parallax::PARALLAX_INLINE_VERSION::host::linked {
/// The library's function, compiled for the library's own registers.
recycled_vector<runtime_value> run_program(const plan_view& plan, const kernel_function* kernels, const char* registers,
                                           recycled_vector<runtime_value>&& arguments, given_memory given);
} // namespace parallax::PARALLAX_INLINE_VERSION::host::linked
#endif

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS {

/// Runs a program on the host, with the kernels of this file.
template <class Program>
recycled_vector<runtime_value> run(recycled_vector<runtime_value>&& arguments, given_memory given = {}) {
  const kernel_function* const kernels = kernel_table<Program>::functions.data();
#if PARALLAX_LINKED_RUNTIME
  return linked::run_program(Program::plan, kernels, registers_name, std::move(arguments), given);
#else
  return program_run(Program::plan, kernels, registers_name, std::move(arguments)).run(given);
#endif
}

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS
