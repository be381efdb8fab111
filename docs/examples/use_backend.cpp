// use_backend
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto doubled = [](auto x) { return 2 * x; };

int main() {
  plx::use_backend chosen(plx::backend::host); // as long as `chosen` lives
  std::cout << plx::jit(doubled)(plx::array<float, 1>{1, 2}) << '\n';
  try {
    plx::use_backend gpu(plx::backend::cuda);
  } catch (const plx::error&) {
    std::cout << "no file was compiled by nvcc\n";
  }
}
// [2. 4.]
// no file was compiled by nvcc
