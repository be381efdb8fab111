// device_error
#include <parallax/parallax.hpp>

#include <iostream>
#include <stdexcept>

namespace plx = parallax;

struct checked {
  static void host(plx::ffi_buffer<const float, 0> x, plx::ffi_buffer<float, 0> y) {
    if (x() < 0) throw std::domain_error("below 0");
    y() = x();
  }
  static constexpr auto shape(auto x) { return x; }
};
constexpr auto f = [](auto x) { return plx::custom_call<checked>(x); };

int main() {
  plx::array<float, 1> x{1, 2, -3, 4};
  try {
    plx::array y = plx::pmap<"i">(f)(x).gather();
  } catch (const plx::device_error& e) {
    std::cout << "device " << e.device() << " failed\n";
  }
}
// device 2 failed
