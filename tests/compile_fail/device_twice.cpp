// One device for two elements.
// error: pmap: device 1 is named twice in the devices argument; name different devices, from 0 on
// line: auto y = plx::pmap\(f, plx::devices<1, 0, 1>\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, 1> x;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(f, plx::devices<1, 0, 1>)(x);
#else
  auto y = plx::pmap(f, plx::devices<1, 0, 2>)(x);
#endif
}
