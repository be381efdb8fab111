// The `device_api` of real GPUs: the CUDA runtime, cuBLASLt and NCCL.
#pragma once

#include <parallax/cuda/api.hpp>
#include <parallax/cuda/device_block.cuh>
#include <parallax/cuda/graphs.cuh>
#include <parallax/cuda/nccl.cuh>
#include <parallax/cuda/products.cuh>
#include <parallax/cuda/runtime_calls.cuh>

namespace parallax::cuda {

/// What the CUDA backend runs on where there is a GPU.
struct runtime_api : runtime_calls, device_launches, graph_calls, product_calls, nccl_calls {};

static_assert(device_api<runtime_api>);

} // namespace parallax::cuda
