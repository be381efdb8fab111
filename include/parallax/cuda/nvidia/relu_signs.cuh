// The signs that cuBLASLt keeps of relu for a gradient: its documentation does not say which sign 0 has, so a product
// finds out.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/api/api.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/cuda/nvidia/runtime_status.cuh>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail {

/// A stream of its own with memory in its order, while this lives: other work on the device is not waited for, and may
/// be captured meanwhile.
class trial_memory {
 public:
  trial_memory() = default;
  trial_memory(const trial_memory&) = delete;
  trial_memory& operator=(const trial_memory&) = delete;
  ~trial_memory() {
    if (memory != nullptr) std::ignore = cudaFreeAsync(memory, own);
    if (own != nullptr) std::ignore = cudaStreamDestroy(own);
  }
  status take(std::size_t bytes) {
    if (const cudaError_t code = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking); code != cudaSuccess)
      return runtime_status("cudaStreamCreateWithFlags", code);
    return runtime_status("cudaMallocAsync", cudaMallocAsync(&memory, bytes, own));
  }
  std::byte* data() const { return static_cast<std::byte*>(memory); }
  cudaStream_t stream() const { return own; }

 private:
  void* memory = nullptr;
  cudaStream_t own = nullptr;
};

/// Sets `positive` to whether the signs that a product with relu keeps are those of x > 0, as relu's gradient is
/// defined. Finds out by a product of zeros on the current device, and waits for it. `Calls` are `product_calls`.
template <class Calls> status ask_for_sign_of_zero(bool& positive, element_type type, int device) {
  positive = false;
  constexpr std::int64_t size = 128; // of a square matrix, whose rows of signs are 16 bytes
  constexpr std::size_t sign_bytes = size * size / 8;
  const std::size_t matrix_bytes = size * size * size_of(type);
  trial_memory trial;
  if (status s = trial.take(2 * matrix_bytes + sign_bytes); !s.ok()) return s;
  std::byte* const memory = trial.data();
  std::byte* const signs = memory + 2 * matrix_bytes;
  cudaError_t code = cudaMemsetAsync(memory, 0, matrix_bytes, trial.stream());
  if (code == cudaSuccess) code = cudaMemsetAsync(signs, 0xFF, sign_bytes, trial.stream());
  if (code != cudaSuccess) return runtime_status("cudaMemsetAsync", code);

  matrix_product p;
  p.type = type;
  p.rows = p.columns = p.depth = p.left_row = p.right_depth = size;
  p.left = p.right = memory;
  p.result = memory + matrix_bytes;
  p.epilogue.activation = product_activation::relu;
  p.epilogue.auxiliary = signs;
  if (status s = Calls::multiply(p, device, trial.stream()); !s.ok())
    return s.code == CUBLAS_STATUS_NOT_SUPPORTED ? status{} : s; // the library keeps no signs
  std::byte kept[sign_bytes];
  code = cudaMemcpyAsync(kept, signs, sign_bytes, cudaMemcpyDeviceToHost, trial.stream());
  if (code == cudaSuccess) code = cudaStreamSynchronize(trial.stream());
  if (code != cudaSuccess) return runtime_status("cudaMemcpyAsync", code);
  positive = true;
  for (std::byte each : kept) positive = positive && each == std::byte{};
  return {};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda::detail
