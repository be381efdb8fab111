// The CUDA backend, for one .cu source of a process whose .cu files are compiled with PARALLAX_LINKED_CUDA=1. The
// library parallax::cuda_runtime is a source that includes this header and nothing else.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#if !PARALLAX_LINKED_CUDA
#error "parallax/cuda_runtime_source.cuh is for programs whose .cu files are compiled with PARALLAX_LINKED_CUDA=1"
#endif

#include <parallax/cuda/nvidia/linked_calls.cuh>
#include <parallax/cuda/nvidia/runtime_api.cuh>
#include <parallax/cuda/run/backend_calls.hpp>

#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

recycled_vector<runtime_value> linked_calls::run(const plan_view& plan, const launchers_by<kernel_launches>& launchers,
                                                 recycled_vector<runtime_value>&& arguments, given_memory given) {
  return backend_calls<runtime_api>::run(plan, launchers, std::move(arguments), given);
}
buffer linked_calls::lend(int device, void* first, std::size_t bytes, stream used_by) {
  return backend_calls<runtime_api>::lend(device, first, bytes, used_by);
}
bool linked_calls::has_devices() { return backend_calls<runtime_api>::has_devices(); }
int linked_calls::device_count() { return backend_calls<runtime_api>::device_count(); }
void linked_calls::leave_processes(bool has_failed) { backend_calls<runtime_api>::leave_processes(has_failed); }
buffer linked_calls::place(int device, const std::byte* first, std::size_t bytes) {
  return backend_calls<runtime_api>::place(device, first, bytes);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
