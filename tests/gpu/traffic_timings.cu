// Measures the cases of bench/support/traffic_cases.cuh.
#include "support/traffic_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

int measure_elementwise(assignment& given) { return measured(bench::elementwise_cases(), given); }
int measure_reductions(assignment& given) { return measured(bench::reduction_cases(), given); }

} // namespace gpu
