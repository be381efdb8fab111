// logsumexp
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{0, 0, 0, 0}, large{1000, 1000};
  std::cout << plx::logsumexp(x) << ' ' << plx::logsumexp(large) << '\n';
}
// 1.3862944 1000.69315
