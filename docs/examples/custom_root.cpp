// custom_root
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto root = [](auto a) { // x with x^2 = a
  auto f = [=](auto x) { return x * x - a; };
  auto newton = [=](auto, auto x) { // in a loop that has no reverse mode
    return plx::while_loop([=](auto x) { return plx::abs(x * x - a) > 1e-5f * a; },
                           [=](auto x) { return 0.5f * (x + a / x); }, x);
  };
  return plx::custom_root(f, a, newton, [](auto g, auto y) { return y / g(plx::ones_like(y)); });
};

int main() {
  std::cout << plx::jit(root)(9.f) << '\n';
  std::cout << plx::grad(root)(9.f) << '\n'; // 1 / (2 x)
}
// 3.0
// 0.16666667
