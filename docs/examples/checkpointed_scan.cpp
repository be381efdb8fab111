// checkpointed_scan
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto growth = [](auto x, auto rate) {
  auto round = [=](auto c, auto) { return std::pair{c * rate, plx::none}; };
  return plx::checkpointed_scan<3>(round, x, plx::none, 10).first; // the way back keeps 3 carries, not 10
};

int main() {
  auto [by_x, by_rate] = plx::grad(growth, plx::argnums<0, 1>)(1.f, 2.f);
  std::cout << by_x << ' ' << by_rate << '\n'; // 2^10, and 10 * 2^9
}
// 1024.0 5120.0
