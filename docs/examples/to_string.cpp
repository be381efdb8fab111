// to_string
#include <parallax/parallax.hpp>

#include <iostream>
#include <string>

namespace plx = parallax;

int main() {
  plx::array<float, 1> x{1, 2.5f, -3};
  std::string text = plx::to_string(x);
  std::cout << text << ' ' << text.size() << " characters\n";
}
// [ 1.   2.5 -3. ] 16 characters
