// element, element_t
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

template <plx::element T> plx::array<T, 1> twice(T x) { return plx::array<T, 1>({2}, x); }

int main() {
  plx::element_t<plx::element_type::int32> seven = 7;
  std::cout << twice(seven) << ' ' << twice(0.5) << '\n';
  std::cout << std::boolalpha << plx::element<float> << ' ' << plx::element<char> << '\n';
}
// [7 7] [0.5 0.5]
// true false
