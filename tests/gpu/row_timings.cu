// Measures the cases of bench/rows.cu.
#include "support/row_cases.cuh"

#include "measured_cases.cuh"

namespace gpu {

std::vector<timing> measure_rows() {
  std::vector<timing> report = measured(bench::row_cases());
  report.push_back({"copy of 256 MiB", bench::copy_bandwidth() * 1e-9, "GB/s", {}, ""});
  return report;
}

} // namespace gpu
