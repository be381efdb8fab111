// Measures the cases of bench/support/traffic_cases.cuh.
#include "support/traffic_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

std::vector<timing> measure_traffic() { return measured(bench::traffic_cases()); }

} // namespace gpu
