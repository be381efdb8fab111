// segment_sum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto sums = [](auto x, auto segments) { return plx::segment_sum(x, segments, 3); };

int main() {
  plx::array<float, 1> x{1, 2, 3, 4};
  plx::array<int, 1> segments{0, 2, 0, 2};
  std::cout << plx::jit(sums)(x, segments) << '\n';
}
// [4. 0. 6.]
