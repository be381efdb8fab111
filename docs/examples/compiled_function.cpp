// compiled_function, elements
#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto layer = [](auto w, auto x) { return plx::relu(plx::dot(w, x)); };
constexpr plx::compiled_function<layer, plx::shaped<float, 2, 3>, plx::shaped<float, 3>> f;
void run(plx::elements<const float, 6> w, plx::elements<const float, 3> x, plx::elements<float, 2> y) { f(w, x, y); }

int main() {
  const float w[]{1, 2, 3, -1, -1, -1}, x[]{1, 1, 1};
  float y[2];
  run(w, x, y);
  std::cout << y[0] << ' ' << y[1] << '\n';
}
// 6 0
