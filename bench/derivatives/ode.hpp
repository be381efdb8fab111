// ode: the last component of a linear system, by Runge and Kutta's method.
#pragma once

#include "support/random_values.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// y_0' = x_0 and y_i' = x_i y_(i-1), from 0 on, up to time 2.
struct ode_problem {
  static constexpr std::size_t size = 64, steps = 300;
  static constexpr double step = 2.0 / steps;
  std::vector<double> point;

  ode_problem() {
    for (float each : random_values(size, 25, 0.5f)) point.push_back(1 + each);
  }
  template <class S> static void slope(const S* x, const std::vector<S>& y, std::vector<S>& result) {
    result[0] = x[0];
    for (std::size_t i = 1; i < size; ++i) result[i] = x[i] * y[i - 1];
  }
  template <class S> S value(const S* x) const {
    std::vector<S> y(size, S(0)), at(size), k[4];
    for (auto& each : k) each.resize(size);
    for (std::size_t s = 0; s < steps; ++s) {
      slope(x, y, k[0]);
      for (std::size_t i = 0; i < size; ++i) at[i] = y[i] + step / 2 * k[0][i];
      slope(x, at, k[1]);
      for (std::size_t i = 0; i < size; ++i) at[i] = y[i] + step / 2 * k[1][i];
      slope(x, at, k[2]);
      for (std::size_t i = 0; i < size; ++i) at[i] = y[i] + step * k[2][i];
      slope(x, at, k[3]);
      for (std::size_t i = 0; i < size; ++i) y[i] += step / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return y[size - 1];
  }
  /// Goes back through the steps, whose states and stages have been kept.
  void gradient(const double* x, double* result) const {
    using state = std::vector<double>;
    struct stages {
      state y[4]; // where the slopes are taken
    };
    std::vector<stages> kept(steps);
    state y(size), k[4];
    for (auto& each : k) each.resize(size);
    const double ahead[4] = {0, step / 2, step / 2, step};
    for (stages& s : kept) {
      for (int q = 0; q < 4; ++q) {
        s.y[q] = y;
        if (q > 0)
          for (std::size_t i = 0; i < size; ++i) s.y[q][i] += ahead[q] * k[q - 1][i];
        slope(x, s.y[q], k[q]);
      }
      for (std::size_t i = 0; i < size; ++i) y[i] += step / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    for (std::size_t i = 0; i < size; ++i) result[i] = 0;
    state by_y(size), by_k(size), by_stage(size);
    by_y[size - 1] = 1;
    const double share[4] = {step / 6, step / 3, step / 3, step / 6};
    for (std::size_t s = steps; s-- > 0;) {
      state before = by_y;
      for (std::size_t i = 0; i < size; ++i) by_stage[i] = 0;
      for (int q = 3; q >= 0; --q) {
        for (std::size_t i = 0; i < size; ++i) by_k[i] = share[q] * by_y[i] + (q < 3 ? ahead[q + 1] * by_stage[i] : 0);
        result[0] += by_k[0];
        for (std::size_t i = 1; i < size; ++i) result[i] += by_k[i] * kept[s].y[q][i - 1];
        for (std::size_t i = 0; i + 1 < size; ++i) by_stage[i] = by_k[i + 1] * x[i + 1];
        by_stage[size - 1] = 0;
        for (std::size_t i = 0; i < size; ++i) before[i] += by_stage[i];
      }
      by_y = before;
    }
  }
};

} // namespace bench
