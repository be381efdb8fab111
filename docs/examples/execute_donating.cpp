// execute_donating
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto next = plx::jit([](auto state) { return state + 1; });

int main() {
  plx::array<float, 1> state({1000}, 0.f);
  const float* memory = state.data();
  state = plx::execute_donating(next, plx::donate<0>, state); // as a function that `donate` made is called
  std::cout << state(0) << ' ' << std::boolalpha << (state.data() == memory) << '\n';
}
// 1 true
