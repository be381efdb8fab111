// lse: the logarithm of a sum of exponentials.
#pragma once

#include "derivatives/scalars.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

struct log_sum_exp_problem {
  std::vector<double> point;

  log_sum_exp_problem() {
    for (float each : random_values(100'000, 21, 4.0f)) point.push_back(each);
  }
  template <class S> S value(const S* x) const { return log_sum_exp(x, point.size()); }

  void gradient(const double* x, double* result) const {
    double most = x[0], sum = 0;
    for (std::size_t i = 1; i < point.size(); ++i) most = std::max(most, x[i]);
    for (std::size_t i = 0; i < point.size(); ++i) sum += result[i] = std::exp(x[i] - most);
    for (std::size_t i = 0; i < point.size(); ++i) result[i] /= sum;
  }
};

} // namespace bench
