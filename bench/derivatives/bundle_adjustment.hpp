// ba: where cameras see points, beside where they were seen, and the Jacobian of all that: blocks, as each observation
// is of one camera and one point.
#pragma once

#include "support/random_values.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The point is the cameras (rotation as an axis of the angle's length, centre, focal length, principal point, two
/// radial distortions), the points in space, and the observations' weights. No rotation is zero here. A weight w has an
/// error of its own, 1 - w^2.
struct bundle_adjustment_problem {
  static constexpr std::size_t cameras = 49, points = 7776, observations = 32000, of_camera = 11, of_point = 3,
                               of_block = of_camera + of_point + 1;
  static constexpr std::size_t results = 3 * observations, derivatives = (2 * of_block + 1) * observations;
  std::vector<std::int32_t> camera, seen; // of each observation
  std::vector<double> features, point;    // features: where it was seen

  bundle_adjustment_problem() {
    auto add = [this](const std::vector<float>& noise, std::size_t period, const std::vector<double>& around) {
      for (std::size_t i = 0; i < noise.size(); ++i) point.push_back(around[i % period] + noise[i]);
    };
    add(random_values(cameras * of_camera, 41, 0.1f), of_camera, {0.3, -0.2, 0.4, 0, 0, -5, 2, 0.1, 0.2, 0.1, 0.05});
    add(random_values(points * of_point, 42, 1.0f), of_point, {0, 0, 0});
    add(random_values(observations, 43, 0.2f), 1, {1});
    for (float each : random_values(2 * observations, 44, 1.0f)) features.push_back(each);
    const auto drawn = random_values(2 * observations, 45, 0.5f);
    auto number = [](float share, std::size_t count) {
      return static_cast<std::int32_t>((share + 0.5f) * 0.9999f * static_cast<float>(count));
    };
    for (std::size_t i = 0; i < observations; ++i) {
      camera.push_back(number(drawn[2 * i], cameras));
      seen.push_back(number(drawn[2 * i + 1], points));
    }
  }
  /// p turned by the angle of r around it, of which w is the direction.
  template <class S> static void turn(const S* w, const S& cosine, const S& sine, const S* p, S* result) {
    const S along = (w[0] * p[0] + w[1] * p[1] + w[2] * p[2]) * (1 - cosine);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      result[i] = p[i] * cosine + (w[j] * p[k] - w[k] * p[j]) * sine + w[i] * along;
    }
  }
  /// The two errors of an observation.
  template <class S, class Feature>
  static void reproject(const S* c, const S* at, const S& weight, const Feature* feature, S* error) {
    using std::sqrt, std::cos, std::sin;
    const S angle = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    const S w[3] = {c[0] / angle, c[1] / angle, c[2] / angle};
    const S away[3] = {at[0] - c[3], at[1] - c[4], at[2] - c[5]};
    S q[3];
    turn<S>(w, cos(angle), sin(angle), away, q);
    const S e[2] = {q[0] / q[2], q[1] / q[2]};
    const S square = e[0] * e[0] + e[1] * e[1];
    const S scale = 1 + c[9] * square + c[10] * square * square;
    for (std::size_t i = 0; i < 2; ++i) error[i] = weight * (e[i] * scale * c[6] + c[7 + i] - feature[i]);
  }
  template <class S> void values(const S* x, S* result) const {
    const S *at = x + cameras * of_camera, *weights = at + points * of_point;
    for (std::size_t i = 0; i < observations; ++i) {
      const auto c = static_cast<std::size_t>(camera[i]), p = static_cast<std::size_t>(seen[i]);
      reproject<S>(x + c * of_camera, at + p * of_point, weights[i], &features[2 * i], result + 2 * i);
      result[2 * observations + i] = 1 - weights[i] * weights[i];
    }
  }
  /// The two rows of an observation's block: by its camera, its point and its weight.
  static void block(const double* c, const double* at, double weight, const double* feature, double* result) {
    const double angle = std::sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), cosine = std::cos(angle),
                 sine = std::sin(angle), inverse = 1 / angle;
    const double w[3] = {c[0] * inverse, c[1] * inverse, c[2] * inverse};
    const double away[3] = {at[0] - c[3], at[1] - c[4], at[2] - c[5]};
    double q[3];
    turn<double>(w, cosine, sine, away, q);
    const double down = 1 / q[2], e[2] = {q[0] * down, q[1] * down}, square = e[0] * e[0] + e[1] * e[1];
    const double scale = 1 + c[9] * square + c[10] * square * square, slope = 2 * (c[9] + 2 * c[10] * square);
    for (std::size_t i = 0; i < 2; ++i) {
      double* row = result + i * of_block;
      const double focal = weight * c[6];
      double by_e[2] = {focal * e[i] * e[0] * slope, focal * e[i] * e[1] * slope};
      by_e[i] += focal * scale;
      const double by_q[3] = {by_e[0] * down, by_e[1] * down, -(by_e[0] * e[0] + by_e[1] * e[1]) * down};
      double by_at[3], m[3];
      turn<double>(w, cosine, -sine, by_q, by_at); // back again
      for (std::size_t a = 0; a < 3; ++a)
        m[a] = q[(a + 1) % 3] * by_q[(a + 2) % 3] - q[(a + 2) % 3] * by_q[(a + 1) % 3];
      const double share = sine * inverse, along = (1 - share) * (w[0] * m[0] + w[1] * m[1] + w[2] * m[2]),
                   across = (1 - cosine) * inverse;
      for (std::size_t a = 0; a < 3; ++a) {
        row[a] =
            share * m[a] + along * w[a] - across * (w[(a + 1) % 3] * m[(a + 2) % 3] - w[(a + 2) % 3] * m[(a + 1) % 3]);
        row[3 + a] = -by_at[a];
        row[of_camera + a] = by_at[a];
      }
      row[6] = weight * e[i] * scale;
      row[7 + i] = weight, row[8 - i] = 0;
      row[9] = focal * e[i] * square, row[10] = row[9] * square;
      row[14] = e[i] * scale * c[6] + c[7 + i] - feature[i];
    }
  }
  /// The blocks (observations, 2, of_block), and behind them the weights' errors by the weights.
  void jacobian(const double* x, double* result) const {
    const double *at = x + cameras * of_camera, *weights = at + points * of_point;
    for (std::size_t i = 0; i < observations; ++i) {
      const auto c = static_cast<std::size_t>(camera[i]), p = static_cast<std::size_t>(seen[i]);
      block(x + c * of_camera, at + p * of_point, weights[i], &features[2 * i], result + i * 2 * of_block);
      result[observations * 2 * of_block + i] = -2 * weights[i];
    }
  }

  /// An observation; where it was seen stands behind the rest of the point, so that one record serves all.
  struct observation {
    static constexpr std::size_t results = 2;
    std::vector<double> point;
    template <class S> void values(const S* x, S* result) const {
      reproject<S>(x, x + of_camera, x[of_block - 1], x + of_block, result);
    }
  };
  observation part() const { return {at_observation(point.data(), 0)}; }
  std::vector<double> at_observation(const double* x, std::size_t i) const {
    const double *from_camera = x + static_cast<std::size_t>(camera[i]) * of_camera,
                 *from_point = x + cameras * of_camera + static_cast<std::size_t>(seen[i]) * of_point;
    std::vector<double> all(from_camera, from_camera + of_camera);
    all.insert(all.end(), from_point, from_point + of_point);
    all.push_back(x[cameras * of_camera + points * of_point + i]);
    all.insert(all.end(), &features[2 * i], &features[2 * i] + 2);
    return all;
  }
  template <class Jacobian> void jacobian_by(Jacobian of_part, const double* x, double* result) const {
    for (std::size_t i = 0; i < observations; ++i) {
      const double* found = of_part(at_observation(x, i));
      for (std::size_t row = 0; row < 2; ++row, found += of_block + 2)
        for (std::size_t j = 0; j < of_block; ++j) *result++ = found[j];
    }
    for (std::size_t i = 0; i < observations; ++i) *result++ = -2 * x[cameras * of_camera + points * of_point + i];
  }
};

} // namespace bench
