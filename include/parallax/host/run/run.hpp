// A program's way to the host backend.
#pragma once

#include <parallax/host/kernels/kernel_table.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/run/program_run.hpp>
#include <parallax/host/simd/registers.hpp>

#include <utility>

namespace parallax::host::inline PARALLAX_REGISTERS {

/// Runs a program on the host, with the kernels of this file.
template <class Program>
recycled_vector<runtime_value> run(recycled_vector<runtime_value>&& arguments, given_memory given = {}) {
  return program_run(Program::plan, kernel_table<Program>::functions.data(), std::move(arguments)).run(given);
}

} // namespace parallax::host::inline PARALLAX_REGISTERS
