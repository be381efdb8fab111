// Elementwise operations, sums, rows that are normalised, and their gradients on a GPU. Every case checks its results
// against the host backend's before it is timed, and shows what the hardware allows.
#include "support/register_cases.cuh"
#include "support/row_cases.cuh"
#include "support/traffic_cases.cuh"

#include <algorithm>
#include <iterator>

int main(int argument_count, char** arguments) {
  return bench::benchmark_main(argument_count, arguments, [] {
    std::vector<bench::gpu_case> cases = bench::elementwise_cases();
    for (auto* more : {bench::reduction_cases, bench::row_cases, bench::row_gradient_cases})
      std::ranges::move(more(), std::back_inserter(cases));
    return cases;
  });
}
