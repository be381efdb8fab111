// donate, donate_t, donating
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto next = [](auto state, auto change) { return state + change; };
constexpr auto step = plx::jit(next, plx::donate<0>); // a donating function

int main() {
  plx::array<float, 1> state({1000}, 0.f), change({1000}, 0.5f);
  const float* memory = state.data();
  for (int i = 0; i < 4; ++i) state = step(state, change);
  std::cout << state(0) << ' ' << std::boolalpha << (state.data() == memory) << '\n';
}
// 2 true
