// ravel_pytree, unravelled
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto negated = [](auto tree) {
  auto [vector, back] = plx::ravel_pytree(tree); // back is of the type unravelled
  return std::pair{vector, back(-vector)};
};

int main() {
  std::pair tree{plx::array<float, 2>{{1, 2}, {3, 4}}, plx::array<float, 0>{5}};
  auto [vector, result] = plx::jit(negated)(tree);
  std::cout << vector << '\n' << result.first << ' ' << result.second << '\n';
}
// [1. 2. 3. 4. 5.]
// [[-1. -2.]
//  [-3. -4.]] -5.0
