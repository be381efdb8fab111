// element_type, element_type_of
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  plx::element_type type = plx::element_type_of<double>;
  std::cout << std::boolalpha << (type == plx::element_type::float64) << ' ' << plx::name_of(type) << '\n';
}
// true float64
