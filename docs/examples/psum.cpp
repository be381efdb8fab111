// psum
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

int main() {
  plx::array<float, 2> x{{1, 2}, {3, 4}, {5, 6}}; // a row for each of three devices
  std::cout << plx::pmap<"i">(total)(x) << '\n';
}
// [[ 9. 12.]
//  [ 9. 12.]
//  [ 9. 12.]]
