// Programs with loops and branches that values decide, loops of many rounds, and what they take.
#pragma once

#include <parallax/parallax.hpp>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace conditional_programs {

namespace plx = parallax;

// Two carries that alternate between places, and one that stays in its own: halves until the sum is small, counts, and
// writes down what it had.
inline constexpr auto halving = [](auto x) {
  return plx::while_loop([](auto state) { return plx::sum(std::get<0>(state)) > 1.f; },
                         [](auto state) {
                           auto [y, rounds, log] = state;
                           return std::tuple{y * 0.5f, rounds + 1.f, log.at(plx::astype<int>(rounds)).set(plx::sum(y))};
                         },
                         std::tuple{x, 0.f, plx::zeros({8})});
};
// A carry that stays is all there is.
inline constexpr auto filling = [](auto x) {
  return plx::while_loop([](auto y) { return plx::min(y) < 1.f; },
                         [](auto y) { return y.at(plx::argsort(y)[0]).add(0.75f); }, x);
};
// By a number: plus 1, doubled, or a loop of its own; around it another loop.
inline constexpr auto choosing = [](auto which, auto x) {
  auto branch = [&](auto i, auto y) {
    return plx::switch_(which + i,
                        std::tuple{[](auto z) { return z + 1.f; }, [](auto z) { return z * 2.f; },
                                   [](auto z) {
                                     return plx::while_loop([](auto w) { return plx::max(w) > 3.f; },
                                                            [](auto w) { return w - 1.f; }, z);
                                   }},
                        y);
  };
  return plx::fori_loop(0, 3, branch, x);
};
// Slices of odd sizes that are read and written, forwards and backwards, and carries.
inline constexpr auto forwards = [](auto xs, auto flags) {
  return plx::scan(
      [](auto sum, auto slices) {
        auto [x, flag] = slices;
        auto next = plx::where(flag, sum * 0.5f + x, sum);
        return std::pair{next, std::pair{plx::sum(next), next > 0.f}};
      },
      plx::zeros({3}), std::pair{xs, flags});
};
inline constexpr auto backwards = [](auto xs, auto flags) {
  return plx::scan(
      [](auto sum, auto slices) {
        auto [x, flag] = slices;
        auto next = plx::where(flag, sum * 0.5f + x, sum);
        return std::pair{next, plx::sum(next)};
      },
      plx::zeros({3}), std::pair{xs, flags}, plx::in_reverse);
};
// As numbers, so that results of both types compare.
inline constexpr auto both_ways = [](auto xs, auto flags) {
  auto [last, outputs] = forwards(xs, flags);
  auto [sums, signs] = outputs;
  auto [first, back] = backwards(xs, flags);
  return std::tuple{last, sums, plx::astype<float>(signs), first, back};
};

// Three carries of which each takes the next one's place, two that swap, and one that alternates.
inline constexpr auto handing_on = [](auto xs) {
  return plx::scan(
      [](auto carry, auto x) {
        auto [a, b, c, p, q, sum] = carry;
        return std::pair{std::tuple{b, c, 0.25f * a - 0.5f * b + x, q, p, 0.5f * sum + p}, plx::sum(a)};
      },
      std::tuple{plx::ones({3}), plx::zeros({3}), xs[0], xs[1], xs[2], plx::zeros({3})}, xs);
};

inline plx::array<float, 2> slices(std::int64_t rounds, int seed) {
  auto x = plx::array<float, 2>::uninitialised({rounds, 3});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>((i * 7 + seed) % 11) - 5.f;
  return x;
}
inline plx::array<bool, 1> flags(std::int64_t rounds) {
  auto x = plx::array<bool, 1>::uninitialised({rounds});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = i % 3 != 1;
  return x;
}
inline plx::array<float, 1> row(const std::vector<float>& values) {
  return plx::array<float, 1>({static_cast<std::int64_t>(values.size())}, values);
}

} // namespace conditional_programs
