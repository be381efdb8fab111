// The benchmarks' cases (bench/support) without a framework for benchmarks.
#pragma once

#include "support/gpu_device.cuh"
#include "timing.hpp"

#include <exception>
#include <vector>

namespace gpu {

/// Checks and times cases one after another. One that fails says so, and the others go on.
inline std::vector<timing> measured(const std::vector<bench::gpu_case>& cases) {
  const parallax::use_backend here(parallax::backend::cuda);
  std::vector<timing> report;
  for (const bench::gpu_case& each : cases) {
    timing& row = report.emplace_back();
    row.name = each.name;
    row.unit = each.unit();
    try {
      const bench::prepared_case prepared = each.prepare();
      prepared.check();
      for (const bench::contender& who : prepared.contenders) {
        const double value = each.value_of(bench::median_seconds(each, who));
        if (&who == &prepared.contenders.front()) row.value = value;
        else row.compared.push_back({who.name, value});
      }
      if (each.least_seconds > 0) row.compared.push_back({each.limited_by, each.value_of(each.least_seconds)});
    } catch (const std::exception& failure) {
      row.failure = failure.what();
    }
  }
  return report;
}

} // namespace gpu
