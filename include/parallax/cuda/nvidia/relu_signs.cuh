// What cuBLASLt keeps of relu for a gradient: it does not say which sign 0 has, so it is asked.
#pragma once

#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <tuple>

namespace parallax::cuda::detail {

/// Sets `positive` to whether the signs that a product with relu leaves are those of x > 0, as relu's gradient is
/// defined: by those of a product of zeros on the current device, which is waited for. `Calls` are `product_calls`.
template <class Calls> status ask_for_sign_of_zero(bool& positive, element_type type, int device) {
  positive = false;
  constexpr std::int64_t size = 128; // of a square matrix, whose rows of signs are 16 bytes
  constexpr std::size_t sign_bytes = size * size / 8;
  const std::size_t matrix_bytes = size * size * size_of(type);
  std::byte* memory = nullptr;
  if (status s = runtime_status("cudaMalloc", cudaMalloc(&memory, 2 * matrix_bytes + sign_bytes)); !s.ok()) return s;
  const auto release = [](std::byte* taken) { std::ignore = cudaFree(taken); };
  const std::unique_ptr<std::byte, decltype(release)> owner(memory, release);
  std::byte* const signs = memory + 2 * matrix_bytes;
  cudaError_t code = cudaMemset(memory, 0, matrix_bytes);
  if (code == cudaSuccess) code = cudaMemset(signs, 0xFF, sign_bytes);
  if (code != cudaSuccess) return runtime_status("cudaMemset", code);

  matrix_product p;
  p.type = type;
  p.rows = p.columns = p.depth = p.left_row = p.right_depth = size;
  p.left = p.right = memory;
  p.result = memory + matrix_bytes;
  p.epilogue.activation = product_activation::relu;
  p.epilogue.auxiliary = signs;
  if (status s = Calls::multiply(p, device, nullptr); !s.ok())
    return s.code == CUBLAS_STATUS_NOT_SUPPORTED ? status{} : s; // there are no signs to be had
  std::byte kept[sign_bytes];
  if (status s = runtime_status("cudaMemcpy", cudaMemcpy(kept, signs, sign_bytes, cudaMemcpyDeviceToHost)); !s.ok())
    return s;
  positive = true;
  for (std::byte each : kept) positive = positive && each == std::byte{};
  return {};
}

} // namespace parallax::cuda::detail
