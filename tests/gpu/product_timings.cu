// Measures matrix products: the cases of bench/matmul.cu at fewer sizes.
#include "support/product_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

std::vector<timing> measure_products() {
  return measured(bench::product_cases({64, 512, 1024, 2048, 8192}, bench::measured_formats{}));
}

} // namespace gpu
