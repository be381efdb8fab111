// The `device_api` of real GPUs: the CUDA runtime, cuBLASLt and NCCL.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/nvidia/device_block.cuh>
#include <parallax/cuda/nvidia/graphs.cuh>
#include <parallax/cuda/nvidia/nccl.cuh>
#include <parallax/cuda/nvidia/products.cuh>
#include <parallax/cuda/nvidia/runtime_calls.cuh>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The policy of the CUDA backend on a real GPU.
struct runtime_api : runtime_calls, device_launches, graph_calls, product_calls, nccl_calls {
  using launches = kernel_launches;
};

static_assert(device_api<runtime_api>);

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
