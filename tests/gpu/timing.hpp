// What is measured on a GPU, for the report.
#pragma once

#include <string>
#include <vector>

namespace gpu {

/// A measurement, and what it is compared with: a limit of the hardware or another library's.
struct timing {
  std::string name;
  double value = 0;
  std::string unit;
  double compared = 0; ///< 0: with nothing
  std::string compared_with;
  /// How much of `compared` is reached; 0 where there is none.
  double ratio() const { return compared > 0 ? value / compared : 0; }
};

/// Measures copies, a fused chain, matrix products and launches. Takes about a minute.
std::vector<timing> measure();

} // namespace gpu
