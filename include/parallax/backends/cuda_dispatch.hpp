// The CUDA backend as far as calls know it, whether it is compiled in or not.
#pragma once

#include <parallax/backends/device_policy.hpp>
#include <parallax/runtime/value.hpp>

#include <utility>
#include <vector>

#if PARALLAX_CUDA_BACKEND

#include <parallax/cuda/kernel_table.hpp>
#include <parallax/cuda/program_run.hpp>

namespace parallax::detail {

inline bool has_cuda_devices() { return cuda::has_devices<device_policy>(); }
inline int cuda_device_count() { return cuda::backend<device_policy>::instance().device_count(); }

template <class Program> std::vector<runtime_value> run_on_cuda(std::vector<runtime_value>&& arguments) {
  return cuda::program_run<device_policy>(
             Program::table.data(), cuda::kernel_table<device_policy, Program>::functions.data(), std::move(arguments))
      .run();
}

} // namespace parallax::detail

#else

namespace parallax::detail {

inline bool has_cuda_devices() { return false; }
inline int cuda_device_count() { return 0; }

} // namespace parallax::detail

#endif
