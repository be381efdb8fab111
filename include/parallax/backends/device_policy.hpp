// The device libraries that the CUDA backend of this translation unit calls: the ones that PARALLAX_DEVICE_API names,
// if it is set (the tests set it to the simulator's), else the real ones if nvcc compiles the unit, else none.
// PARALLAX_HOST_ONLY leaves the CUDA backend out of units that nvcc compiles.
#pragma once

#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#if defined(PARALLAX_DEVICE_API) || (defined(__CUDACC__) && !defined(PARALLAX_HOST_ONLY))
#define PARALLAX_CUDA_BACKEND 1
#else
#define PARALLAX_CUDA_BACKEND 0
#endif

#if PARALLAX_CUDA_BACKEND
#if defined(PARALLAX_DEVICE_API)
#include <parallax/cuda/run/backend_calls.hpp>
#elif PARALLAX_LINKED_CUDA
#include <parallax/cuda/nvidia/linked_calls.cuh>
#else
#include <parallax/cuda/nvidia/runtime_api.cuh>
#include <parallax/cuda/run/backend_calls.hpp>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::detail {
#if defined(PARALLAX_DEVICE_API)
using launch_policy = cuda::launches_of<PARALLAX_DEVICE_API>;
using device_calls = cuda::backend_calls<PARALLAX_DEVICE_API>;
#elif PARALLAX_LINKED_CUDA
using launch_policy = cuda::kernel_launches;
using device_calls = cuda::linked_calls;
#else
using launch_policy = cuda::kernel_launches;
using device_calls = cuda::backend_calls<cuda::runtime_api>;
#endif
} // namespace parallax::PARALLAX_INLINE_VERSION::detail
#endif
