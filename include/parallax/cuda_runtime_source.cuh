// The CUDA backend, for one .cu source of a process with files that are compiled with PARALLAX_LINKED_CUDA=1. The
// library parallax::cuda_runtime is a source that includes this header and nothing else.
#pragma once

#define PARALLAX_CUDA_RUNTIME_SOURCE
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#if !PARALLAX_LINKED_CUDA
#error "parallax/cuda_runtime_source.cuh is for programs whose .cu files are compiled with PARALLAX_LINKED_CUDA=1"
#endif

#include <parallax/cuda/devices/device_elements.hpp>
#include <parallax/cuda/nvidia/runtime_api.cuh>
#include <parallax/cuda/run/backend_calls.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template recycled_vector<runtime_value> run_program<runtime_api>(const plan_view&,
                                                                 const program_launchers<runtime_api>&,
                                                                 recycled_vector<runtime_value>&&, given_memory);
template buffer lent_memory<runtime_api>(int, void*, std::size_t, runtime_api::stream);
template bool has_devices<runtime_api>();
template int device_count<runtime_api>();
template void leave_processes<runtime_api>(bool);
template buffer placed<runtime_api>(int, const std::byte*, std::size_t);

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
