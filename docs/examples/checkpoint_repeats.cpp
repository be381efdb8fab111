// checkpoint_repeats
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() { std::cout << plx::checkpoint_repeats(10, 4) << ' ' << plx::checkpoint_repeats(1000, 16) << '\n'; }
// 2 4
