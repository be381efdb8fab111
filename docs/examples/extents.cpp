// extents, extents_t, dyn
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, plx::extents<plx::dyn, 3>> m{{1, 2, 3}, {4, 5, 6}}; // the compiler knows that rows have 3 numbers
  std::cout << m.shape(0) << ' ' << m.shape(1) << '\n';
  try {
    plx::array<float, plx::extents<plx::dyn, 2>> narrow = plx::array<float, 2>(m);
  } catch (const plx::shape_error&) {
    std::cout << "refused\n";
  }
}
// 2 3
// refused
