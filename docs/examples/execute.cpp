// execute
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto f = plx::jit([](auto x) { return 2 * x; });

int main() {
  plx::array<float, 1> x{1, 2};
  std::cout << plx::execute(f, x) << ' ' << f(x) << '\n'; // the same
}
// [2. 4.] [2. 4.]
