// Memory for another number of elements than a compiled function's result has.
// error: parallax: this memory has another number of elements than the argument or result of the compiled_function
// line: g\(x, y\);
#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return plx::sum(x, 0); };

#ifdef PARALLAX_EXPECT_ERROR
constexpr int columns = 2;
#else
constexpr int columns = 3;
#endif

int main() {
  plx::compiled_function<f, plx::shaped<float, 2, 3>> g;
  float x[6]{}, y[columns]{};
  g(x, y);
}
