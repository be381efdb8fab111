// shape_error
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> a{1, 2, 3}, b{1, 2};
  try {
    plx::array sum = a + b;
  } catch (const plx::shape_error& e) {
    std::cout << "refused\n";
  }
}
// refused
