// device_span
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto squares = [](auto x) { return plx::sum(x * x, 1); };

int main() {
  const float rows[]{1, 2, 3, 4, 5, 6};
  float* x;
  cudaMalloc(&x, sizeof rows);
  cudaMemcpy(x, rows, sizeof rows, cudaMemcpyHostToDevice);
  cudaStream_t stream = cudaStreamPerThread; // the owner's, which the program waits for
  std::cout << plx::jit(squares)(plx::borrow(plx::device_span(x, 6, stream), {2, 3})) << '\n';
  cudaFree(x);
}
// [14. 77.]
