// Measures matrix products: the cases of bench/matmul.cu at fewer sizes.
#include "support/product_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

int measure_products(assignment& given) {
  return measured(bench::product_cases({1024, 2048, 4096, 8192, 512, 64}, bench::measured_formats{}), given);
}

} // namespace gpu
