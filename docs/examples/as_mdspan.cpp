// as_mdspan, array_view
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::array<float, 2> m{{1, 2, 3}, {4, 5, 6}};
  auto view = plx::as_mdspan(m); // a std::mdspan, or an array_view where the library has none
  std::cout << view.extent(0) << " x " << view.extent(1) << ", " << view(1, 2) << '\n';
}
// 2 x 3, 6
