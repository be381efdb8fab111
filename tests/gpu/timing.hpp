// What is measured on a GPU, for the report.
#pragma once

#include <string>
#include <vector>

namespace gpu {

/// A measurement, and what it is compared with: a limit of the hardware, or what another library reaches.
struct timing {
  std::string name;
  double value = 0;
  std::string unit;
  struct reference {
    std::string name;
    double value = 0;
  };
  std::vector<reference> compared; ///< in the same unit
  std::string failure;             ///< empty, or why nothing was measured
};

/// How much of a reference is reached: of rates the more the better, of times the less.
inline double ratio(const timing& of, const timing::reference& compared) {
  return of.unit == "us" ? compared.value / of.value : of.value / compared.value;
}

/// Matrix products next to cuBLAS and cuBLASLt. Takes about a minute.
std::vector<timing> measure_products();
/// Normalised rows, a chain, a training step, a tiny program. Takes half a minute.
std::vector<timing> measure_rows();
/// What memory limits: sums, normalised rows, transposes and activations, in 32 and 16 bits. Takes half a minute.
std::vector<timing> measure_traffic();
/// Kernels and graphs, launched by hand. Takes seconds.
std::vector<timing> measure_launches();

} // namespace gpu
