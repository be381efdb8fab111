// custom_linear_solve
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto solution = [](auto scale, auto b) {
  auto divide = [=](auto, auto y) { return y / scale; }; // solves scale * x = y, and its transpose
  return plx::custom_linear_solve([=](auto x) { return scale * x; }, b, divide, divide);
};
constexpr auto total = [](auto scale, auto b) { return plx::sum(solution(scale, b)); };

int main() {
  plx::array<float, 1> scale{2, 4}, b{6, 4};
  std::cout << plx::jit(solution)(scale, b) << ' ' << plx::grad(total)(scale, b) << '\n'; // -b / scale^2
}
// [3. 1.] [-1.5  -0.25]
