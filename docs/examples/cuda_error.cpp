// cuda_error
#include <parallax/cuda/api/errors.hpp>
#include <parallax/parallax.hpp>

#include <iostream>
#include <source_location>

namespace plx = parallax;

int main() {
  try { // as a failed call of the CUDA runtime is reported
    throw plx::cuda_error("CUDA", "cudaMallocAsync", 2, "out of memory", 1, std::source_location::current());
  } catch (const plx::cuda_error& e) {
    std::cout << e.call() << " returned " << e.code() << " on device " << e.device() << '\n';
  }
}
// cudaMallocAsync returned 2 on device 1
