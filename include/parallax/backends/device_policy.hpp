// The device libraries that the CUDA backend of this translation unit calls: the ones that PARALLAX_DEVICE_API names,
// if it is set (the tests set it to the simulator's), else the real ones if nvcc compiles the unit, else none.
// PARALLAX_HOST_ONLY leaves the CUDA backend out of units that nvcc compiles.
#pragma once

#include <parallax/core/version.hpp>

#if defined(PARALLAX_DEVICE_API)
#define PARALLAX_CUDA_BACKEND 1
namespace parallax::PARALLAX_INLINE_VERSION::detail {
using device_policy = PARALLAX_DEVICE_API;
} // namespace parallax::PARALLAX_INLINE_VERSION::detail
#elif defined(__CUDACC__) && !defined(PARALLAX_HOST_ONLY)
#define PARALLAX_CUDA_BACKEND 1
#include <parallax/cuda/nvidia/runtime_api.cuh>
namespace parallax::PARALLAX_INLINE_VERSION::detail {
using device_policy = cuda::runtime_api;
} // namespace parallax::PARALLAX_INLINE_VERSION::detail
#else
#define PARALLAX_CUDA_BACKEND 0
#endif
