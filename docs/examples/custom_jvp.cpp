// custom_jvp, with_custom_jvp
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto softplus =
    plx::custom_jvp([](auto x) { return plx::log(1 + plx::exp(x)); },
                    [](auto at, auto along) { // tuples: the arguments, and their tangents
                      auto [x] = at;
                      auto [v] = along;
                      return std::pair{plx::log(1 + plx::exp(x)), v * (1 - 1 / (1 + plx::exp(x)))};
                    });

int main() {
  std::cout << plx::grad(softplus)(0.f) << ' ' << plx::grad(softplus)(100.f) << '\n'; // without the rule 0 * inf
}
// 0.5 1.0
