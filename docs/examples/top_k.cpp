// top_k
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto best = [](auto scores) { return plx::top_k(scores, 2); };

int main() {
  plx::array<float, 1> scores{5, 8, 1, 8};
  auto [values, positions] = plx::jit(best)(scores);
  std::cout << values << ' ' << positions << '\n';
}
// [8. 8.] [1 3]
