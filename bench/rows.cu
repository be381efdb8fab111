// Row-wise normalisations, an elementwise chain, a training step and a tiny program on a GPU. Every case checks its
// results against the host backend's before it is timed, and shows what the hardware allows.
#include "support/register_cases.cuh"
#include "support/row_cases.cuh"

int main(int argument_count, char** arguments) {
  return bench::benchmark_main(argument_count, arguments, [] { return bench::row_cases(); });
}
