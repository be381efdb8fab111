// name_of
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  std::cout << plx::name_of(plx::element_type_of<int>) << ' ' << plx::name_of(plx::element_type_of<plx::float16>) << ' '
            << plx::name_of(plx::checkpoint_policy::products) << '\n';
}
// int32 float16 products
