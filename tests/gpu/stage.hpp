// The stages of the program, which scripts/gpu-check runs one after another, each in a process of its own.
#pragma once

#include "report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpu {

/// What a stage is given.
struct assignment {
  report to;
  std::vector<std::string> match; ///< beginnings of the names of what is wanted; all, if there are none
  std::string mnist;              ///< a folder with its four files, or nothing
  bool list = false;              ///< names are printed, and nothing is done
  bool profile = false;           ///< cases are called for a profiler to see, and not timed

  bool wants(std::string_view name) const {
    bool wanted = match.empty();
    for (const std::string& begin : match) wanted = wanted || name.starts_with(begin);
    return wanted;
  }
};

// Each measures cases and returns how many failed.
int measure_ceilings(assignment& given);
int measure_elementwise(assignment& given);
int measure_reductions(assignment& given);
int measure_rows(assignment& given);
int measure_row_gradients(assignment& given);
int measure_products(assignment& given);
int measure_steps(assignment& given);

/// A thousand steps of training, twice: the same bits, and no more memory.
int repeat_steps(assignment& given);
/// Trains the classifier of the examples on the device and on the host: the same parameters, and examples per second.
int train_digits(assignment& given);

} // namespace gpu
