// Five bodies that pull one another: each pair by itself, or all of them by broadcasts. By hand: `bench::five_bodies`.
#pragma once

#include "support/loops_by_hand.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;

inline constexpr std::int64_t orbit_steps = 1000;
inline constexpr auto pull_of_pairs = [](auto masses, auto x) {
  constexpr std::size_t bodies = 5;
  auto each = [&]<std::size_t... I>(auto of, std::index_sequence<I...>) {
    return std::array{of(static_cast<int>(I))...};
  };
  constexpr auto numbers = std::make_index_sequence<bodies>{};
  auto place = each([&](int i) { return plx::index_in_dim(x, i); }, numbers);
  auto mass = each([&](int i) { return plx::index_in_dim(masses, i); }, numbers);
  auto pull = each([&](int i) { return plx::zeros_like(place[static_cast<std::size_t>(i)]); }, numbers);
  for (std::size_t i = 0; i < bodies; ++i)
    for (std::size_t j = i + 1; j < bodies; ++j) {
      auto away = place[j] - place[i];
      auto square = plx::sum(plx::square(away)) + five_bodies::softening;
      auto force = away * (1 / (square * plx::sqrt(square)));
      pull[i] = pull[i] + mass[j] * force;
      pull[j] = pull[j] - mass[i] * force;
    }
  return plx::stack({pull[0], pull[1], pull[2], pull[3], pull[4]});
};
inline constexpr auto pull_of_all = [](auto masses, auto x) {
  auto away = plx::expand_dims(x, 0) - plx::expand_dims(x, 1);
  auto square = plx::sum(plx::square(away), 2, plx::keepdims) + five_bodies::softening;
  return plx::sum(plx::reshape(masses, {1, -1, 1}) * away / (square * plx::sqrt(square)), 1);
};
template <auto Pull>
constexpr auto orbit = [](auto masses, auto places, auto velocities) {
  auto step = [&](auto, auto state) {
    auto [x, v] = state;
    auto next = v + five_bodies::step * Pull(masses, x);
    return std::tuple{x + five_bodies::step * next, next};
  };
  return std::get<0>(plx::fori_loop(0, orbit_steps, step, std::tuple{places, velocities}));
};
template <auto Pull>
constexpr auto orbit_gradient =
    plx::grad([](auto m, auto x, auto v) { return plx::sum(plx::square(orbit<Pull>(m, x, v))); }, plx::argnums<1, 2>);

} // namespace bench
