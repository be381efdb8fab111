// A compiled function of an extent that only the call knows.
// error: compiled_function: extent 1 of argument 1 is not static: give each extent of shaped<...> as a number
// line: plx::compiled_function<f, vectors, shape>
#include <parallax/compiled_function.hpp>
#include <parallax/parallax.hpp>

#include <utility>

namespace plx = parallax;

constexpr auto f = [](auto both, auto w) { return plx::dot(w, both.first + both.second); };
constexpr std::pair vectors{plx::shaped<float, 3>, plx::shaped<float, 3>};

#ifdef PARALLAX_EXPECT_ERROR
constexpr auto shape = plx::shaped<float, 2, plx::dyn>;
#else
constexpr auto shape = plx::shaped<float, 2, 3>;
#endif

int main() {
  plx::compiled_function<f, vectors, shape> g;
  float x[3]{}, w[6]{}, y[2]{};
  g(x, x, w, y);
}
