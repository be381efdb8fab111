// A compiled function that needs devices.
// error: compiled_function: pmap needs devices, and a compiled_function runs in the calling thread
// line: plx::compiled_function<f, plx::shaped<float, 2, 3>> g;
#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto twice = [](auto x) { return x + x; };
#ifdef PARALLAX_EXPECT_ERROR
constexpr auto f = [](auto x) { return plx::pmap(twice)(x); };
#else
constexpr auto f = [](auto x) { return plx::vmap(twice)(x); };
#endif

int main() {
  plx::compiled_function<f, plx::shaped<float, 2, 3>> g;
  float x[6]{}, y[6]{};
  g(x, y);
}
