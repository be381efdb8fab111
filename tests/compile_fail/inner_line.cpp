// The error is inside a function inside a vmap inside a grad: the innermost line is shown.
// error: multiply: shapes float32\[3\] and float32\[4\] do not agree: 3 is not 4; make these extents equal, or one of them 1
// line: auto weighed = row \* weights;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto weigh = [](auto row, auto weights) {
  auto weighed = row * weights;
  return plx::sum(weighed);
};
constexpr auto loss = [](auto rows, auto weights) {
  return plx::mean(plx::vmap(weigh, plx::in_axes<0, plx::none>)(rows, weights));
};

int main() {
  plx::array<float, plx::extents<2, 3>> rows;
  plx::array<float, plx::extents<3>> weights;
  plx::array<float, plx::extents<4>> longer;
  plx::grad(loss)(rows, weights);
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::grad(loss)(rows, longer);
#endif
}
