// Measures the cases of bench/support/row_cases.cuh.
#include "support/row_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

int measure_rows(assignment& given) { return measured(bench::row_cases(), given); }
int measure_row_gradients(assignment& given) { return measured(bench::row_gradient_cases(), given); }

} // namespace gpu
