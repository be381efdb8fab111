// tracer
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr plx::tracer distance(plx::tracer a, plx::tracer b) { return plx::sqrt(plx::sum(plx::square(a - b))); }
constexpr auto f = [](auto a, auto b) { return distance(a, b); };

int main() {
  plx::array<float, 1> a{1, 2}, b{4, 6};
  std::cout << plx::jit(f)(a, b) << '\n';
}
// 5.0
