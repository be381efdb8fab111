// Another number of devices than of elements.
// error: pmap: Leading axis size of input to pmapped function must equal the number of local devices passed to pmap\. Got axis_size=3, num_local_devices=2; name as many devices as there are elements
// line: auto y = plx::pmap\(f, plx::devices<0, 1>\)\(x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x; };

int main() {
  plx::array<float, plx::extents<3>> x;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::pmap(f, plx::devices<0, 1>)(x);
#else
  auto y = plx::pmap(f, plx::devices<0, 1, 4>)(x);
#endif
}
