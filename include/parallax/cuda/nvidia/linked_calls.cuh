// The CUDA backend of the library parallax::cuda_runtime, as the files see it that are linked with the library.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>

#include <cuda_runtime.h>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// `backend_calls` of real GPUs, compiled once.
struct linked_calls {
  using stream = cudaStream_t;

  static recycled_vector<runtime_value> run(const plan_view& plan, const launchers_by<kernel_launches>& launchers,
                                            recycled_vector<runtime_value>&& arguments, given_memory given);
  static buffer lend(int device, void* first, std::size_t bytes, stream used_by);
  static bool has_devices();
  static int device_count();
  static void leave_processes(bool has_failed);
  static buffer place(int device, const std::byte* first, std::size_t bytes);
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
