// associative_scan
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto products = [](auto x) { return plx::associative_scan([](auto a, auto b) { return a * b; }, x); };

int main() {
  plx::array<float, plx::extents<5>> x{1, 2, 3, 4, 5}; // as many elements as the compiler knows
  std::cout << plx::jit(products)(x) << '\n';
}
// [  1.   2.   6.  24. 120.]
