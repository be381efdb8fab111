// Operands for benchmarks.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace bench {

/// Numbers between -`largest` and `largest`, the same for the same seed.
inline std::vector<float> random_values(std::int64_t count, unsigned seed, float largest) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-largest, largest);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& each : values) each = uniform(engine);
  return values;
}

} // namespace bench
