// kmeans: squared distances of points to the nearest centre, and Newton's direction for the centres.
#pragma once

#include "derivatives/scalars.hpp"
#include "support/random_values.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// Of the centres, which are rows.
struct k_means_problem {
  static constexpr std::size_t points = 2000, centres = 20, axes = 8;
  std::vector<double> data, point;

  k_means_problem() {
    for (float each : random_values(points * axes, 23, 1.0f)) data.push_back(each);
    for (float each : random_values(centres * axes, 24, 1.0f)) point.push_back(each);
  }
  template <class S> S distance(const S* centre, const double* p) const {
    S sum = 0;
    for (std::size_t a = 0; a < axes; ++a) sum += (centre[a] - p[a]) * (centre[a] - p[a]);
    return sum;
  }
  template <class S> S value(const S* x) const {
    S sum = 0;
    for (std::size_t i = 0; i < points; ++i) {
      const double* const p = &data[i * axes];
      S least = distance(x, p);
      for (std::size_t c = 1; c < centres; ++c) least = smaller(least, distance(x + c * axes, p));
      sum += least;
    }
    return sum;
  }
  /// The gradient by the diagonal of the Hessian.
  void newton_direction(const double* x, double* result) const {
    std::vector<double> slope(centres * axes), curvature(centres * axes);
    for (std::size_t i = 0; i < points; ++i) {
      const double* const p = &data[i * axes];
      std::size_t nearest = 0;
      double least = distance(x, p);
      for (std::size_t c = 1; c < centres; ++c)
        if (const double other = distance(x + c * axes, p); other < least) least = other, nearest = c;
      for (std::size_t a = 0; a < axes; ++a) {
        slope[nearest * axes + a] += 2 * (x[nearest * axes + a] - p[a]);
        curvature[nearest * axes + a] += 2;
      }
    }
    for (std::size_t i = 0; i < slope.size(); ++i) result[i] = slope[i] / curvature[i];
  }
};

} // namespace bench
