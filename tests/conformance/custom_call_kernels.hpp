// Hand-written kernels of what the tests of custom_call call: for nvcc, or for the simulator of CUDA devices, whose
// name for streams is CUSTOM_CALL_STREAM. On the host alone there are none.
#pragma once

#include <cstdint>

namespace custom_call_test {

struct cubes_arguments {
  const double* x;
  const double* a;
  double* each;
  double* sum;
  std::int64_t count;
};
struct doubled_arguments {
  const float* x;
  float* y;
  std::int64_t count;
};

#if defined(__CUDACC__)
#define CUSTOM_CALL_STREAM cudaStream_t

/// One thread: the sum is made in order.
static __global__ void cubes_kernel(cubes_arguments p) {
  double sum = 0;
  for (std::int64_t i = 0; i < p.count; ++i) {
    p.each[i] = *p.a * p.x[i] * p.x[i] * p.x[i];
    sum += p.each[i];
  }
  *p.sum = sum;
}
static __global__ void doubled_kernel(doubled_arguments p) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < p.count) p.y[i] = 2 * p.x[i];
}
inline void launch_cubes(cudaStream_t stream, const cubes_arguments& p) { cubes_kernel<<<1, 1, 0, stream>>>(p); }
inline void launch_doubled(cudaStream_t stream, const doubled_arguments& p) {
  if (p.count > 0) doubled_kernel<<<static_cast<unsigned>((p.count + 255) / 256), 256, 0, stream>>>(p);
}
#elif defined(PARALLAX_DEVICE_API)
#define CUSTOM_CALL_STREAM PARALLAX_DEVICE_API::stream

struct cubes_kernel {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 1;
  using arguments = cubes_arguments;
  template <class Block> static void run(const Block& block, const arguments& p) {
    double sum = 0;
    const double a = block.load(p.a);
    for (std::int64_t i = 0; i < p.count; ++i) {
      const double x = block.load(p.x + i), each = a * x * x * x;
      block.store(p.each + i, each);
      sum += each;
    }
    block.store(p.sum, sum);
  }
};
struct doubled_kernel {
  static constexpr bool barriers = false;
  static constexpr int max_threads = 256;
  using arguments = doubled_arguments;
  template <class Block> static void run(const Block& block, const arguments& p) {
    const std::int64_t i = std::int64_t{block.block()} * max_threads + block.thread();
    if (i < p.count) block.store(p.y + i, 2 * block.load(p.x + i));
  }
};
inline void launch_cubes(CUSTOM_CALL_STREAM stream, const cubes_arguments& p) {
  static_cast<void>(PARALLAX_DEVICE_API::launch(cubes_kernel{}, {1, 1}, stream, p)); // a failure is seen in the results
}
inline void launch_doubled(CUSTOM_CALL_STREAM stream, const doubled_arguments& p) {
  const auto blocks = static_cast<unsigned>((p.count + 255) / 256);
  if (blocks > 0) static_cast<void>(PARALLAX_DEVICE_API::launch(doubled_kernel{}, {blocks, 256}, stream, p));
}
#endif

} // namespace custom_call_test
