// has_aux, has_aux_t
#include <parallax/parallax.hpp>

#include <iostream>
#include <utility>

namespace plx = parallax;

constexpr auto loss = [](auto w, auto x) {
  auto prediction = w * x;
  return std::pair{plx::sum(prediction * prediction), prediction};
};

int main() {
  plx::array<float, 1> w{1, 2}, x{3, 1};
  auto [gradient, prediction] = plx::grad(loss, plx::has_aux)(w, x);
  std::cout << gradient << ' ' << prediction << '\n';
}
// [18.  4.] [3. 2.]
