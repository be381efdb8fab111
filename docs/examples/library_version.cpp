// library_version
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() { std::cout << plx::library_version << '\n'; }
// 0.2.0
