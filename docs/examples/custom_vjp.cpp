// custom_vjp, with_custom_vjp
#include <parallax/parallax.hpp>

#include <iostream>
#include <tuple>
#include <utility>

namespace plx = parallax;

constexpr auto clipped =
    plx::custom_vjp([](auto x) { return x; },                          // the function
                    [](auto x) { return std::pair{x, std::tuple{}}; }, // its result, and what is kept: nothing
                    [](auto, auto g) { return std::tuple{plx::clip(g, -1.f, 1.f)}; }); // a cotangent for each argument
constexpr auto loss = [](auto x) { return plx::sum(plx::square(clipped(x))); };

int main() {
  plx::array<float, 1> x{0.25f, 3, -7};
  std::cout << plx::grad(loss)(x) << '\n'; // 2 x, clipped on its way back
}
// [ 0.5  1.  -1. ]
