// promote
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  using enum plx::element_type;
  std::cout << plx::name_of(plx::promote(int32, float16)) << ' ' << plx::name_of(plx::promote(float16, bfloat16)) << ' '
            << plx::name_of(plx::promote(int32, uint32)) << '\n';
}
// float16 float32 int64
