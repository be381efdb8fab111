// into, results_in
#include <parallax/parallax.hpp>

#include <iostream>
#include <vector>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2 * x; };

int main() {
  plx::array<float, 1> x{1, 2, 3};
  std::vector<float> own(3);
  plx::jit(doubled)(x, plx::into(own)); // into makes a results_in
  std::cout << own[0] << ' ' << own[1] << ' ' << own[2] << '\n';
}
// 2 4 6
