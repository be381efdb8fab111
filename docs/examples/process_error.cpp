// process_error
#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <iostream>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

int main() {
  const auto session = plx::distributed::initialize(); // of several processes where a launcher started them
  plx::array<float, 1> x{1, 2, 3, 4};                  // a number for each device of this process
  try {
    std::cout << plx::pmap<"i">(total)(x) << '\n';
  } catch (const plx::process_error& e) {
    std::cout << "without process " << e.process() << ": " << e.what() << '\n';
  }
}
// [10. 10. 10. 10.]
