// ba as an array program.
#pragma once

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;

/// The two errors of an observation, numbers all: its camera's, its point's, its weight, and where it was seen.
constexpr auto reprojection = [](const auto& variables, auto u, auto v) {
  const auto& x = variables;
  auto angle = plx::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), inverse = 1. / angle;
  const std::array w{x[0] * inverse, x[1] * inverse, x[2] * inverse};
  const std::array away{x[11] - x[3], x[12] - x[4], x[13] - x[5]};
  auto cosine = plx::cos(angle), sine = plx::sin(angle);
  auto along = (w[0] * away[0] + w[1] * away[1] + w[2] * away[2]) * (1. - cosine);
  auto turned = [&](std::size_t i, std::size_t j, std::size_t k) {
    return away[i] * cosine + (w[j] * away[k] - w[k] * away[j]) * sine + w[i] * along;
  };
  auto nearness = 1. / turned(2, 0, 1);
  auto across = turned(0, 1, 2) * nearness, down = turned(1, 2, 0) * nearness;
  auto square = across * across + down * down;
  auto scale = (1. + square * (x[9] + x[10] * square)) * x[6];
  return std::array{x[14] * (across * scale + x[7] - u), x[14] * (down * scale + x[8] - v)};
};
template <std::size_t Which>
constexpr auto reprojection_error =
    [](const auto& variables, auto u, auto v) { return reprojection(variables, u, v)[Which]; };
constexpr auto weight_error = [](auto weight) { return 1. - weight * weight; };

/// The columns of cameras and points, each an array of its own.
constexpr auto columns_of = [](auto cameras, auto points) {
  auto c = [&](int k) { return plx::index_in_dim(cameras, k, 1); };
  auto p = [&](int k) { return plx::index_in_dim(points, k, 1); };
  return std::array{c(0), c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9), c(10), p(0), p(1), p(2)};
};
/// What of them and of the weights observations depend on, one number for each observation.
constexpr auto variables_of_observations = [](const auto& columns, auto weights, auto camera, auto seen) {
  std::array<plx::tracer, 15> variables;
  for (std::size_t k = 0; k < 14; ++k) variables[k] = columns[k][k < 11 ? camera : seen];
  variables[14] = weights;
  return variables;
};

/// The cameras, points and weights, and of each observation its camera, point and where it was seen.
constexpr auto bundle_adjustment_program = [](auto cameras, auto points, auto weights, auto camera, auto seen,
                                              auto features) {
  auto variables = variables_of_observations(columns_of(cameras, points), weights, camera, seen);
  auto errors =
      reprojection(variables, features.at(plx::none, plx::none, 0).get(), features.at(plx::none, plx::none, 1).get());
  return std::pair{plx::stack({errors[0], errors[1]}, 2), weight_error(weights)};
};

/// The Jacobian's blocks, 2 x 15 arrays of one number for each observation, and that of the weights' errors.
/// Observations are (rounds, some of them): those of a round at once, so that what lies between variables and
/// derivatives stays in the cache.
constexpr auto bundle_adjustment_jacobian = [](auto cameras, auto points, auto weights, auto camera, auto seen,
                                               auto features) {
  const auto columns = columns_of(cameras, points);
  auto blocks = [&](auto observations) {
    auto [of_weight, of_camera, of_point, at] = observations;
    auto variables = variables_of_observations(columns, of_weight, of_camera, of_point);
    auto u = at.at(plx::none, 0).get(), v = at.at(plx::none, 1).get();
    return std::pair{plx::vmap(plx::grad(reprojection_error<0>))(variables, u, v),
                     plx::vmap(plx::grad(reprojection_error<1>))(variables, u, v)};
  };
  return std::pair{plx::map(blocks, std::tuple{weights, camera, seen, features}),
                   plx::vmap(plx::vmap(plx::grad(weight_error)))(weights)};
};

} // namespace bench
