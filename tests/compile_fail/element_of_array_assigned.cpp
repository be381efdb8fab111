// An element of an array that is written.
// error: read-only|returns a const value|modifiable lvalue
// line: a\(0, 0\) = 1;
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
  plx::array<float, 2> a;
#ifdef PARALLAX_EXPECT_ERROR
  a(0, 0) = 1;
#else
  a.mutable_data()[0] = 1;
#endif
}
