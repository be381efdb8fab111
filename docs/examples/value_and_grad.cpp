// value_and_grad
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto loss = [](auto w, auto x, auto y) { return plx::sum(plx::square(w * x - y)); };

int main() {
  plx::array<float, 1> x{1, 2}, y{2, 5};
  auto [value, gradient] = plx::value_and_grad(loss)(1.f, x, y); // (w - 2)^2 + (2 w - 5)^2
  std::cout << value << ' ' << gradient << '\n';
}
// 10.0 -14.0
