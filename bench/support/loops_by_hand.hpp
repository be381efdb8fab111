// What `loops` measures, as plain loops with their reverse passes: values are row-major, and memory is there before.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// P <- M[t] P for each of a row of 3 x 3 matrices, from the unit matrix on; the sum of the last P, and its
/// derivatives.
struct matrix_chain {
  std::size_t steps;
  std::vector<double> states = std::vector<double>(9 * (steps + 1)); ///< P before each step, and the last
  std::vector<double> slopes = std::vector<double>(9 * steps);

  static void multiply(const double* a, const double* b, double* result) {
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        result[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  }
  /// The last P.
  const double* run(const double* matrices) {
    for (std::size_t i = 0; i < 9; ++i) states[i] = i % 4 == 0 ? 1 : 0;
    for (std::size_t t = 0; t < steps; ++t) multiply(matrices + 9 * t, &states[9 * t], &states[9 * (t + 1)]);
    return &states[9 * steps];
  }
  /// The same, where nobody asks for what lies between.
  void run_only(const double* matrices, double* last) const {
    double here[9], next[9];
    for (std::size_t i = 0; i < 9; ++i) here[i] = i % 4 == 0 ? 1 : 0;
    for (std::size_t t = 0; t < steps; ++t) {
      multiply(matrices + 9 * t, here, next);
      for (std::size_t i = 0; i < 9; ++i) here[i] = next[i];
    }
    for (std::size_t i = 0; i < 9; ++i) last[i] = here[i];
  }
  /// The derivatives by all matrices.
  const std::vector<double>& gradient(const double* matrices) {
    run(matrices);
    double back[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (std::size_t t = steps; t-- > 0;) {
      const double *m = matrices + 9 * t, *p = &states[9 * t];
      double before[9];
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          slopes[9 * t + 3 * i + j] =
              back[3 * i] * p[3 * j] + back[3 * i + 1] * p[3 * j + 1] + back[3 * i + 2] * p[3 * j + 2];
          before[3 * i + j] = m[i] * back[j] + m[3 + i] * back[3 + j] + m[6 + i] * back[6 + j];
        }
      for (std::size_t i = 0; i < 9; ++i) back[i] = before[i];
    }
    return slopes;
  }
};

/// Five bodies that attract each other, by leapfrog: velocities are those of half a step before. The sum of the squares
/// of the last positions, and its derivatives by the first ones and the velocities.
struct five_bodies {
  static constexpr std::size_t count = 5, size = 3 * count;
  static constexpr double step = 1e-3, softening = 1e-2;

  std::size_t steps;
  std::vector<double> places = std::vector<double>(size * (steps + 1)); ///< before each step, and the last
  std::vector<double> slopes = std::vector<double>(2 * size);           ///< by places, by velocities

  /// One step, in place.
  static void advance(const double* masses, double* x, double* v) {
    double pull[size] = {};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
        double away[3], square = softening;
        for (std::size_t k = 0; k < 3; ++k) away[k] = x[3 * j + k] - x[3 * i + k], square += away[k] * away[k];
        const double strength = 1 / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k) {
          pull[3 * i + k] += masses[j] * strength * away[k];
          pull[3 * j + k] -= masses[i] * strength * away[k];
        }
      }
    for (std::size_t k = 0; k < size; ++k) v[k] += step * pull[k], x[k] += step * v[k];
  }
  /// Adds to `by_x` what the pull at x gives back of `by_pull`.
  static void pull_back(const double* masses, const double* x, const double* by_pull, double* by_x) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
        double away[3], back[3], square = softening, along = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          away[k] = x[3 * j + k] - x[3 * i + k], square += away[k] * away[k];
          back[k] = masses[j] * by_pull[3 * i + k] - masses[i] * by_pull[3 * j + k];
          along += back[k] * away[k];
        }
        const double strength = 1 / (square * std::sqrt(square)), slope = -3 * along * strength / square;
        for (std::size_t k = 0; k < 3; ++k) {
          const double by_away = strength * back[k] + slope * away[k];
          by_x[3 * j + k] += by_away, by_x[3 * i + k] -= by_away;
        }
      }
  }
  /// The last positions.
  const double* run(const double* masses, const double* x, const double* velocities) {
    double* here = &places[size * steps];
    std::vector<double>& v = slopes;
    for (std::size_t k = 0; k < size; ++k) here[k] = x[k], v[k] = velocities[k];
    for (std::size_t t = 0; t < steps; ++t) advance(masses, here, v.data());
    return here;
  }
  const std::vector<double>& gradient(const double* masses, const double* x, const double* velocities) {
    double v[size], by_pull[size];
    for (std::size_t k = 0; k < size; ++k) places[k] = x[k], v[k] = velocities[k];
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t k = 0; k < size; ++k) places[size * (t + 1) + k] = places[size * t + k];
      advance(masses, &places[size * (t + 1)], v);
    }
    double *by_x = slopes.data(), *by_v = slopes.data() + size;
    for (std::size_t k = 0; k < size; ++k) by_x[k] = 2 * places[size * steps + k], by_v[k] = 0;
    for (std::size_t t = steps; t-- > 0;) {
      for (std::size_t k = 0; k < size; ++k) by_v[k] += step * by_x[k], by_pull[k] = step * by_v[k];
      pull_back(masses, &places[size * t], by_pull, by_x);
    }
    return slopes;
  }
};

/// h <- tanh(W h + x[t]) from 0 on; the derivatives of the sum of the last h by W and by all x.
struct recurrent_network {
  std::size_t steps, width;
  std::vector<float> states = std::vector<float>(width * (steps + 1)); ///< h before each step, and the last
  std::vector<float> slopes = std::vector<float>(width * (width + steps));

  const std::vector<float>& gradient(const float* weights, const float* inputs) {
    const std::size_t n = width;
    for (std::size_t t = 0; t < steps; ++t)
      for (std::size_t i = 0; i < n; ++i) {
        float sum = inputs[n * t + i];
        for (std::size_t j = 0; j < n; ++j) sum += weights[n * i + j] * states[n * t + j];
        states[n * (t + 1) + i] = std::tanh(sum);
      }
    float *by_weights = slopes.data(), *by_inputs = slopes.data() + n * n;
    for (std::size_t k = 0; k < n * n; ++k) by_weights[k] = 0;
    std::vector<float> back(n, 1.0f);
    for (std::size_t t = steps; t-- > 0;) {
      float* by_sum = by_inputs + n * t;
      for (std::size_t i = 0; i < n; ++i) {
        const float h = states[n * (t + 1) + i];
        by_sum[i] = (1 - h * h) * back[i];
      }
      for (std::size_t j = 0; j < n; ++j) back[j] = 0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          by_weights[n * i + j] += by_sum[i] * states[n * t + j];
          back[j] += weights[n * i + j] * by_sum[i];
        }
    }
    return slopes;
  }
};

} // namespace bench
