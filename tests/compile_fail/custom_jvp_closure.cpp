// A function with a rule that closes over what is differentiated.
// error: custom_jvp: the function closes over a value that is differentiated, of which its rule says nothing; make that value an argument
// line: plx::jit\(plx::grad\(total, plx::argnums<WRONG>\)\)\(a, b\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

#ifdef PARALLAX_EXPECT_ERROR
#define WRONG 1
#else
#define WRONG 0
#endif
constexpr auto total = [](auto x, auto c) {
  auto scaled =
      plx::custom_jvp([c](auto v) { return v * c; },
                      [c](auto at, auto along) { return std::pair{std::get<0>(at) * c, std::get<0>(along) * c}; });
  return plx::sum(scaled(x));
};

int main() {
  plx::array<float, plx::extents<3>> a, b;
  plx::jit(plx::grad(total, plx::argnums<WRONG>))(a, b);
}
