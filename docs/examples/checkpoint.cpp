// checkpoint, checkpointed
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto wave = [](auto x, auto) { return std::pair{plx::sin(plx::sin(plx::sin(x))), plx::none}; };
constexpr auto kept = [](auto x) { return plx::sum(plx::scan(wave, x, plx::none, plx::length<100>).first); };
constexpr auto again = [](auto x) {
  return plx::sum(plx::scan(plx::checkpoint(wave), x, plx::none, plx::length<100>).first);
};

int main() {
  std::cout << plx::grad(kept)(plx::ones({2})) << ' ' << plx::grad(again)(plx::ones({2})) << '\n';
  constexpr auto x = plx::shaped<float, 1000>; // 4000 bytes; of each round three sines are kept, or only its x
  std::cout << plx::cost(plx::grad(kept), x).peak_bytes / 4000 << ' ';
  std::cout << plx::cost(plx::grad(again), x).peak_bytes / 4000 << '\n';
}
// [0.00074348 0.00074348] [0.00074348 0.00074348]
// 304 104
