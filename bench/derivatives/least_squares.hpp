// llsq: the squares of what a polynomial of given coefficients differs from signs by.
#pragma once

#include "support/random_values.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// Half the sum of (sign(t) - x_0 - x_1 t - x_2 t^2 - ...)^2 at places from -1 to 1.
struct least_squares_problem {
  static constexpr std::size_t places = 2048, coefficients = 64;
  std::vector<double> point;

  least_squares_problem() {
    for (float each : random_values(coefficients, 22, 1.0f)) point.push_back(each);
  }
  static double place(std::size_t i) { return -1 + 2 * static_cast<double>(i) / (places - 1); }
  static double wanted(double t) { return t > 0 ? 1 : t < 0 ? -1 : 0; }

  template <class S> S value(const S* x) const {
    S sum = 0;
    for (std::size_t i = 0; i < places; ++i) {
      const double t = place(i);
      S rest = wanted(t);
      double power = 1;
      for (std::size_t j = 0; j < coefficients; ++j, power *= t) rest -= x[j] * power;
      sum += rest * rest;
    }
    return sum * 0.5;
  }
  void gradient(const double* x, double* result) const {
    for (std::size_t j = 0; j < coefficients; ++j) result[j] = 0;
    for (std::size_t i = 0; i < places; ++i) {
      const double t = place(i);
      double rest = wanted(t), power[coefficients];
      power[0] = 1;
      for (std::size_t j = 1; j < coefficients; ++j) power[j] = power[j - 1] * t;
      for (std::size_t j = 0; j < coefficients; ++j) rest -= x[j] * power[j];
      for (std::size_t j = 0; j < coefficients; ++j) result[j] -= rest * power[j];
    }
  }
};

} // namespace bench
