// checkpoint_name
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto keeps_named = plx::checkpoint_policy::named_values;
constexpr auto wave = [](auto x) { return plx::sin(plx::checkpoint_name(plx::cos(x))); };
constexpr auto again = plx::value_and_grad([](auto x) { return plx::sum(plx::checkpoint(wave)(x)); });
constexpr auto kept = plx::value_and_grad([](auto x) { return plx::sum(plx::checkpoint<keeps_named>(wave)(x)); });

int main() {
  plx::array<float, 1> x{1, 2};
  std::cout << again(x).second << ' ' << kept(x).second << '\n';
  constexpr auto large = plx::shaped<float, 1000>; // the way back computes 1000 cosines again, or none
  std::cout << plx::cost(again, large).flops - plx::cost(kept, large).flops << '\n';
}
// [-0.72160614 -0.8316919 ] [-0.72160614 -0.8316919 ]
// 1000
