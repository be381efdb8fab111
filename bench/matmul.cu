// Matrix products on a GPU against cuBLAS and cuBLASLt called by hand. Every case checks its results against theirs
// before it is timed, and shows what the hardware allows. With PARALLAX_CUDA_DEVICES_PER_GPU=4 `pmap` has four devices.
#include "support/product_cases.cuh"
#include "support/register_cases.cuh"

int main(int argument_count, char** arguments) {
  return bench::benchmark_main(argument_count, arguments, [] {
    return bench::product_cases({64, 128, 256, 512, 1024, 2048, 4096, 8192}, bench::measured_formats{});
  });
}
