// device_count
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() { std::cout << plx::device_count() << '\n'; }
// 4
