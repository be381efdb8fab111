// What .cu files call of the CUDA backend, which is compiled with each of them, or once, in the library
// parallax::cuda_runtime.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>

#include <cstddef>

#if PARALLAX_DEFINES_CUDA
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/run/program_run.hpp>

#include <utility>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Runs a program on the devices, with the kernels of its file. Throws what `program_run` throws.
template <device_api Api>
recycled_vector<runtime_value> run_program(const plan_view& plan, const program_launchers<Api>& launchers,
                                           recycled_vector<runtime_value>&& arguments, given_memory given);

// For all files of a process

template <device_api Api> bool has_devices();
template <device_api Api> int device_count();
template <device_api Api> void leave_processes(bool has_failed);
template <device_api Api> buffer placed(int device, const std::byte* first, std::size_t bytes);

#if PARALLAX_DEFINES_CUDA
template <device_api Api>
recycled_vector<runtime_value> run_program(const plan_view& plan, const program_launchers<Api>& launchers,
                                           recycled_vector<runtime_value>&& arguments, given_memory given) {
  return program_run<Api>(plan, launchers, std::move(arguments)).run(given);
}

template <device_api Api> int device_count() { return backend<Api>::instance().device_count(); }
template <device_api Api> void leave_processes(bool has_failed) { backend<Api>::leave_processes(has_failed); }
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
