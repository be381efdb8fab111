// Adam, the optimiser: steps along the mean of gradients, divided by the root of the mean of their squares; and
// clipping.
#pragma once

#include <parallax/parallax.hpp>

#include <tuple>

namespace examples {

/// (params, means, squares) after a step along `gradients`; all are trees of the same structure. `step` counts from 1.
constexpr auto adam_update = [](auto params, auto means, auto squares, auto gradients, auto rate, auto step) {
  namespace plx = parallax;
  auto new_means = plx::tree_map([](auto m, auto g) { return 0.9f * m + 0.1f * g; }, means, gradients);
  auto new_squares = plx::tree_map([](auto s, auto g) { return 0.99f * s + 0.01f * g * g; }, squares, gradients);
  auto mean_part = 1.f - plx::power(0.9f, step), square_part = 1.f - plx::power(0.99f, step);
  auto updated = plx::tree_map(
      [=](auto p, auto m, auto s) { return p - rate * (m / mean_part) / (plx::sqrt(s / square_part) + 1e-8f); }, params,
      new_means, new_squares);
  return std::tuple{updated, new_means, new_squares};
};

/// Gradients, made shorter where they are longer than `most` as one vector.
constexpr auto clip_by_global_norm = [](auto gradients, float most) {
  namespace plx = parallax;
  auto square = plx::tree_reduce([](auto sum, auto g) { return sum + plx::sum(g * g); }, gradients, 0.f);
  auto factor = plx::minimum(1.f, most * plx::rsqrt(square + 1e-12f));
  return plx::tree_map([=](auto g) { return g * factor; }, gradients);
};

/// Zeros shaped like a tree of parameters: the means and squares that Adam begins with.
constexpr auto zeros_of = [](auto params) {
  return parallax::tree_map([](auto p) { return parallax::zeros_like(p); }, params);
};

} // namespace examples
