// A first program.
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = [](auto x) { return 2 * x + 1; };

int main() { std::cout << plx::jit(f)(plx::array<float, 1>{1, 2, 3}) << '\n'; }
