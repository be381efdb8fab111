// The gradient of a function that returns no scalar.
// error: grad requires a function with one real scalar result \(float32\[\] or float64\[\]\), but it returns float32\[4\]; reduce it with sum or mean, or return the loss alone
// line: auto g = plx::grad\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return x * x; };
constexpr auto loss = [](auto x) { return plx::sum(f(x)); };

int main() {
  plx::array<float, plx::extents<4>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::grad(f)(a);
#else
  auto g = plx::grad(loss)(a);
#endif
}
