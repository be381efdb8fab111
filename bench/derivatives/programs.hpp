// The problems as array programs.
#pragma once

#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;

constexpr auto log_sum_exp_program = [](auto x) { return plx::logsumexp(x); };

constexpr auto least_squares_program = [](auto x, auto places) {
  auto columns = plx::broadcast_to(places, {x.shape(0) - 1, places.shape(0)});
  auto powers = plx::cumprod(columns, 0); // of 1 on
  auto rest = plx::sign(places) - x[0] - plx::dot(plx::slice_in_dim(x, 1, x.shape(0)), powers);
  return 0.5 * plx::sum(rest * rest);
};

constexpr auto k_means_program = [](auto centres, auto points) {
  // |p - c|^2 = |p|^2 - 2 p c + |c|^2, of which the first is the same for all centres
  auto squares = plx::sum(centres * centres, 1, plx::keepdims) - 2. * plx::matmul(centres, plx::transpose(points));
  return plx::sum(plx::min(squares, 0)) + plx::sum(points * points);
};
constexpr auto k_means_direction = [](auto centres, auto points) {
  auto slope = plx::grad([points](auto c) { return k_means_program(c, points); });
  auto [gradient, rows] = plx::jvp(slope, std::tuple{centres}, std::tuple{plx::ones_like(centres)});
  return gradient / rows;
};

constexpr auto ode_program = [](auto x, auto steps, auto h) {
  auto slope = [x](auto y) {
    return x * plx::concatenate(plx::ones_like(plx::slice_in_dim(y, 0, 1)), plx::slice_in_dim(y, 0, y.shape(0) - 1));
  };
  auto round = [&](auto, auto y) {
    auto k1 = slope(y), k2 = slope(y + h / 2. * k1), k3 = slope(y + h / 2. * k2), k4 = slope(y + h * k3);
    return y + h / 6. * (k1 + 2. * k2 + 2. * k3 + k4);
  };
  auto last = plx::fori_loop(0, steps, round, plx::zeros_like(x));
  return last[x.shape(0) - 1];
};

/// A point's parts, the data, and what of the prior is given: see gaussian_mixture_problem.
constexpr auto gaussian_mixture_program = [](auto alpha, auto means, auto q, auto l, auto points, auto gamma,
                                             auto freedom, auto constant) {
  auto parts = q.shape(0), axes = q.shape(1), count = points.shape(0);
  auto diagonal = plx::exp(q);
  auto sums = plx::sum(q, 1);
  auto row = plx::broadcasted_iota<int, 0>({axes, axes});
  auto column = plx::broadcasted_iota<int, 1>({axes, axes});
  // where an element stands in l: behind those of the columns before, and down its own
  auto before = column * (static_cast<int>(2 * axes.number() - 1) - column) / 2;
  auto below = plx::astype<int>(before) + row - column - 1;
  auto lower = plx::where(row > column, plx::take(l, plx::where(row > column, below, 0), plx::axis<1>), 0.);
  auto matrices = plx::where(row == column, plx::expand_dims(diagonal, 2), lower); // (parts, axes, axes)
  auto stacked = plx::reshape(matrices, {parts * axes, axes});
  auto centres = plx::sum(matrices * plx::expand_dims(means, 1), 2);
  auto turned = plx::reshape(plx::matmul(points, plx::transpose(stacked)), {count, parts, axes}) - centres;
  auto terms = alpha + sums - 0.5 * plx::sum(turned * turned, 2);
  auto prior = 0.5 * gamma * gamma * (plx::sum(diagonal * diagonal) + plx::sum(l * l)) - freedom * plx::sum(sums);
  return constant + plx::sum(plx::logsumexp(terms, 1) - plx::logsumexp(alpha)) - prior;
};

} // namespace bench
