// error
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto next = [](auto x) { return x + 1; };

int main() {
  plx::array<float, 1> state({1000}, 0.f);
  plx::array after = plx::jit(next, plx::donate<0>)(state);
  try {
    std::cout << state(0) << '\n';
  } catch (const plx::error&) { // whatever Parallax throws
    std::cout << "used up; the new one begins with " << after(0) << '\n';
  }
}
// used up; the new one begins with 1
