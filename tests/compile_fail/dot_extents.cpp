// A product of shapes that do not fit.
// error: dot: shapes float32\[3,4\] and float32\[5\] do not agree: extent 4 of axis 1 must equal extent 5 of axis 0
// line: auto y = plx::dot\(w, x\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto predict = [](auto w, auto x) {
  auto y = plx::dot(w, x);
  return y;
};

int main() {
  plx::array<float, plx::extents<3, 4>> w;
  plx::array<float, plx::extents<4>> x;
  plx::array<float, plx::extents<5>> longer;
  plx::jit(predict)(w, x);
#ifdef PARALLAX_EXPECT_ERROR
  plx::array y = plx::jit(predict)(w, longer);
#endif
}
