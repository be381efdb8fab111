// vjp, pullback
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto model = [](auto w, auto x) { return plx::dot(x, w); };

int main() {
  plx::array<float, 2> x{{1, 2}, {3, 4}};
  plx::array<float, 1> w{1, 1}, first{1, 0};
  auto [value, pullback] = plx::vjp(model, w, x);
  auto [by_w, by_x] = pullback(first); // how the first result changes
  std::cout << value << '\n' << by_w << '\n' << by_x << '\n';
}
// [3. 7.]
// [1. 2.]
// [[1. 1.]
//  [0. 0.]]
