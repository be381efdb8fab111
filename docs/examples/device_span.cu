// device_span
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto squares = [](auto x) { return plx::sum(x * x, 1); };

int main() {
  float *x, *y;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocAsync(&x, 6 * sizeof(float), stream);
  cudaMallocAsync(&y, 2 * sizeof(float), stream);
  cudaMemsetAsync(x, 0, 6 * sizeof(float), stream); // the call below comes behind it
  plx::jit(squares)(plx::borrow(plx::device_span(x, 6, stream), {2, 3}), plx::into(plx::device_span(y, 2, stream)));
  float sums[2];
  cudaMemcpyAsync(sums, y, sizeof sums, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::cout << sums[0] << ' ' << sums[1] << '\n';
}
// 0 0
