// A donated argument that there is not.
// error: parallax: donate<...> names an argument that the call does not have
#include <parallax/parallax.hpp>

namespace plx = parallax;

int main() {
#ifdef PARALLAX_EXPECT_ERROR
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<1>);
#else
  constexpr auto twice = plx::jit([](auto x) { return x * 2.f; }, plx::donate<0>);
#endif
  plx::array<float, 1> x{1, 2, 3};
  return twice(x).size() == 3 ? 0 : 1;
}
