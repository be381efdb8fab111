// has_cuda_backend
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

int main() {
  std::cout << std::boolalpha << plx::has_cuda_backend() << '\n'; // whether nvcc compiled a file of the program
}
// false
