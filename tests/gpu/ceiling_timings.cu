// Measures what the hardware and its driver allow: the cases of bench/support/launch_cases.cuh.
#include "support/launch_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

int measure_ceilings(assignment& given) {
  return measured(bench::bandwidth_cases(), given) + measured(bench::launch_cases(), given);
}

} // namespace gpu
