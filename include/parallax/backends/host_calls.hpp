// The host backend as calls know it. When nvcc compiles for devices, it makes no code of the host's, and reads
// functions here that do nothing: the constants and functions of each program's kernels would be made for nobody.
#pragma once

#include <parallax/core/version.hpp>

#if defined(__CUDA_ARCH__)
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>
#else
#include <parallax/host/direct/direct_call.hpp>
#include <parallax/host/run/run.hpp>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::detail::host_calls {

#if defined(__CUDA_ARCH__)
template <class Program> recycled_vector<runtime_value> run(recycled_vector<runtime_value>&&, given_memory = {}) {
  return {}; // never called; without a body nvcc warns of functions that are not defined
}
template <class Program, class... Args> inline constexpr bool is_direct = false;
template <class Program> struct direct_call;
#else
using host::direct_call;
using host::is_direct;
using host::run;
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::detail::host_calls
