// process_timeout, at_deadline
#include <parallax/distributed.hpp>
#include <parallax/parallax.hpp>

#include <chrono>
#include <iostream>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::psum<"i">(x); };

int main() {
  using namespace std::chrono_literals;
  const auto session = plx::distributed::initialize({.timeout = 30s, .then = plx::at_deadline::throws});
  plx::array<float, 1> x{1, 2, 3, 4};
  try {
    std::cout << plx::pmap<"i">(total)(x) << '\n'; // which waits for the other processes
  } catch (const plx::process_timeout& e) {
    std::cout << e.missing().size() << " have not come: " << e.what() << '\n';
  }
}
// [10. 10. 10. 10.]
