// No products between restarts.
// error: gmres: restart is 0; give 1 or more, the number of products between restarts
// line: return plx::gmres\(twice, b, with\(0\)\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto x) { return 2.0f * x; };
constexpr plx::gmres_options with(int restart) { return {{}, restart}; }
constexpr auto solved = [](auto b) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::gmres(twice, b, with(0));
#else
  return plx::gmres(twice, b, with(1));
#endif
};

int main() {
  plx::array<float, plx::extents<4>> b;
  plx::jit(solved)(b);
}
