// The way from calls, which are compiled alike in .cpp and in .cu files, to the code that .cu files compile for CUDA.
#pragma once

#include <parallax/backends/device_policy.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/errors.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

#if PARALLAX_CUDA_BACKEND
#include <parallax/cuda/devices/device_elements.hpp>
#include <parallax/cuda/run/kernel_table.hpp>
#endif

#if PARALLAX_CUDA_BACKEND
namespace parallax::PARALLAX_INLINE_VERSION {
/// Memory that others own on a device, for `borrow` and `into`: `device_span(pointer, count, stream)`. In .cu files
/// only. See `cuda::device_elements`.
template <class T> class device_span : public cuda::device_elements<detail::device_calls, T> {
  using cuda::device_elements<detail::device_calls, T>::device_elements;
};
template <class T, class... Rest> device_span(T*, Rest...) -> device_span<T>;
} // namespace parallax::PARALLAX_INLINE_VERSION
#endif

namespace parallax::PARALLAX_INLINE_VERSION::detail {

// If .cpp and .cu files both have a function, the linker keeps one of them, so that such functions must not name CUDA.
// They find CUDA's functions by the variables that follow, which .cu files set while the process is loaded.

/// The functions of the CUDA backend that every file of a process may call.
struct cuda_backend_functions {
  bool (*has_devices)();
  int (*device_count)();
  void (*leave_processes)(bool has_failed); ///< at the end of a session
  buffer (*place)(int device, const std::byte* first, std::size_t bytes);
};

/// Null in a process without .cu files.
inline constinit std::atomic<const cuda_backend_functions*> cuda_backend_of_process = nullptr;

using cuda_run_function = recycled_vector<runtime_value> (*)(recycled_vector<runtime_value>&&, given_memory);

/// Runs a program on CUDA devices; null for a program that no .cu file calls.
template <class Program> inline constinit std::atomic<cuda_run_function> cuda_run_of = nullptr;

#if PARALLAX_CUDA_BACKEND
inline namespace with_cuda {

// Functions with a priority run before objects are initialised, whose constructors may call programs; 101 is the first
// priority that is not the system's. For templates g++ ignores the priority: their functions run before the objects of
// their own file.

inline constexpr cuda_backend_functions backend_functions{&device_calls::has_devices, &device_calls::device_count,
                                                          &device_calls::leave_processes, &device_calls::place};

[[gnu::constructor(101)]] inline void enter_backend() noexcept {
  cuda_backend_of_process.store(&backend_functions, std::memory_order_release);
}

template <class Program>
recycled_vector<runtime_value> run_on_cuda(recycled_vector<runtime_value>&& arguments, given_memory given) {
  return device_calls::run(Program::plan, cuda::kernel_table<launch_policy, Program>::launchers, std::move(arguments),
                           given);
}

template <class Program> struct cuda_entry {
  [[gnu::constructor(101)]] static void enter() noexcept {
    cuda_run_of<Program>.store(&run_on_cuda<Program>, std::memory_order_release);
  }
};

/// Using it makes a .cu file compile the program for CUDA and register it.
template <class Program> inline constexpr void (*entered_for_cuda)() = &cuda_entry<Program>::enter;

} // namespace with_cuda
#else
inline namespace without_cuda {

template <class Program> inline constexpr void (*entered_for_cuda)() = nullptr;

} // namespace without_cuda
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
