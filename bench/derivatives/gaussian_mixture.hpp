// gmm: the log posterior of a mixture of Gaussians, whose precisions have a Wishart prior.
#pragma once

#include "derivatives/scalars.hpp"
#include "support/random_values.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace bench {

/// The point is alpha (parts), means (parts, axes), the logarithms of diagonals q (parts, axes), and what is below them
/// column by column (parts, below).
struct gaussian_mixture_problem {
  static constexpr std::size_t points = 1000, parts = 10, axes = 16, below = axes * (axes - 1) / 2;
  static constexpr double gamma = 1, freedom = 0;
  std::vector<double> data, point;

  gaussian_mixture_problem() {
    for (float each : random_values(points * axes, 26, 1.0f)) data.push_back(each);
    for (float each : random_values(parts * (1 + 2 * axes + below), 27, 0.5f)) point.push_back(each);
  }
  /// What no part of the point changes.
  static double constant() {
    const double n = axes + freedom + 1;
    double log_gamma = axes * (axes - 1) / 4.0 * std::log(std::numbers::pi);
    for (std::size_t j = 0; j < axes; ++j) log_gamma += std::lgamma((n - static_cast<double>(j)) / 2);
    return parts * (n * axes * std::log(gamma / std::numbers::sqrt2) - log_gamma) -
           points * axes * 0.5 * std::log(2 * std::numbers::pi);
  }
  /// The way of a point from a mean, and that turned by the part's matrix; returns the square of its length.
  template <class S>
  static S turn(const double* from, const S* mean, const S* diagonal, const S* low, S* away, S* turned) {
    for (std::size_t j = 0; j < axes; ++j) {
      away[j] = from[j] - mean[j];
      turned[j] = diagonal[j] * away[j];
    }
    for (std::size_t c = 0; c < axes; ++c)
      for (std::size_t r = c + 1; r < axes; ++r) turned[r] += *low++ * away[c];
    S squares = 0;
    for (std::size_t j = 0; j < axes; ++j) squares += turned[j] * turned[j];
    return squares;
  }
  template <class S> S value(const S* x) const {
    using std::exp;
    const S *alpha = x, *means = alpha + parts, *q = means + parts * axes, *l = q + parts * axes;
    std::vector<S> diagonal(parts * axes), sums(parts, S(0)), away(axes), turned(axes), terms(parts);
    S total = constant(), prior = 0;
    for (std::size_t k = 0; k < parts; ++k) {
      S squares = 0;
      for (std::size_t j = 0; j < axes; ++j) {
        diagonal[k * axes + j] = exp(q[k * axes + j]);
        sums[k] += q[k * axes + j];
        squares += diagonal[k * axes + j] * diagonal[k * axes + j];
      }
      for (std::size_t j = 0; j < below; ++j) squares += l[k * below + j] * l[k * below + j];
      prior += 0.5 * gamma * gamma * squares - freedom * sums[k];
    }
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t k = 0; k < parts; ++k) {
        const S squares =
            turn<S>(&data[i * axes], means + k * axes, &diagonal[k * axes], l + k * below, away.data(), turned.data());
        terms[k] = alpha[k] + sums[k] - 0.5 * squares;
      }
      total += log_sum_exp(terms.data(), parts);
    }
    return total - static_cast<double>(points) * log_sum_exp(alpha, parts) - prior;
  }
  void gradient(const double* x, double* result) const {
    const double *alpha = x, *means = alpha + parts, *q = means + parts * axes, *l = q + parts * axes;
    double *by_alpha = result, *by_means = by_alpha + parts, *by_q = by_means + parts * axes,
           *by_l = by_q + parts * axes;
    std::vector<double> diagonal(parts * axes), sums(parts), away(parts * axes), turned(parts * axes), terms(parts);
    for (std::size_t j = 0; j < point.size(); ++j) result[j] = 0;
    for (std::size_t j = 0; j < parts * axes; ++j) sums[j / axes] += q[j], diagonal[j] = std::exp(q[j]);
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t k = 0; k < parts; ++k) {
        const double squares = turn<double>(&data[i * axes], means + k * axes, diagonal.data() + k * axes,
                                            l + k * below, &away[k * axes], &turned[k * axes]);
        terms[k] = alpha[k] + sums[k] - 0.5 * squares;
      }
      const double whole = log_sum_exp(terms.data(), parts);
      for (std::size_t k = 0; k < parts; ++k) {
        const double weight = std::exp(terms[k] - whole);
        const double *a = &away[k * axes], *t = &turned[k * axes], *low = l + k * below;
        double* by_low = by_l + k * below;
        by_alpha[k] += weight;
        for (std::size_t c = 0; c < axes; ++c) {
          double by_away = diagonal[k * axes + c] * t[c];
          by_q[k * axes + c] += weight * (1 - diagonal[k * axes + c] * a[c] * t[c]);
          for (std::size_t r = c + 1; r < axes; ++r, ++low) {
            by_away += *low * t[r];
            *by_low++ -= weight * a[c] * t[r];
          }
          by_means[k * axes + c] += weight * by_away;
        }
      }
    }
    const double whole = log_sum_exp(alpha, parts);
    for (std::size_t k = 0; k < parts; ++k) by_alpha[k] -= points * std::exp(alpha[k] - whole);
    for (std::size_t j = 0; j < parts * axes; ++j) by_q[j] -= gamma * gamma * diagonal[j] * diagonal[j] - freedom;
    for (std::size_t j = 0; j < parts * below; ++j) by_l[j] -= gamma * gamma * l[j];
  }
};

} // namespace bench
