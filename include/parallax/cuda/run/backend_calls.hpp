// What programs and their callers ask of a CUDA backend.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/run/program_run.hpp>
#include <parallax/cuda/run/steps/launchers.hpp>
#include <parallax/program/plan.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The calls of the backend for one policy. Files that are linked with the library parallax::cuda_runtime have
/// `linked_calls` instead.
template <device_api Api> struct backend_calls {
  using stream = typename Api::stream;

  /// Runs a program on the devices, with its file's kernels. Throws what `program_run` throws.
  static recycled_vector<runtime_value> run(const plan_view& plan, const program_launchers<Api>& launchers,
                                            recycled_vector<runtime_value>&& arguments, given_memory given) {
    return program_run<Api>(plan, launchers, std::move(arguments)).run(given);
  }
  /// Others' memory on a device, which they use on this stream. Throws errors of the device's calls.
  static buffer lend(int device, void* first, std::size_t bytes, stream used_by) {
    std::lock_guard lock(backend<Api>::mutex());
    return buffer::adopt(std::make_unique<allocation<Api>>(backend<Api>::instance().device_at(device), first, used_by),
                         bytes, true);
  }

  static bool has_devices() { return cuda::has_devices<Api>(); }
  static int device_count() { return backend<Api>::instance().device_count(); }
  static void leave_processes(bool has_failed) { backend<Api>::leave_processes(has_failed); }
  static buffer place(int device, const std::byte* first, std::size_t bytes) {
    return placed<Api>(device, first, bytes);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
