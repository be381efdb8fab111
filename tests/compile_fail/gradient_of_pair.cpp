// The gradient of a function that returns more than its loss.
// error: grad requires a function with one real scalar result \(float32\[\] or float64\[\]\), but it returns 2 arrays; reduce it with sum or mean, or return the loss alone
// line: auto g = plx::value_and_grad\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) { return std::pair{plx::sum(x), x}; };
constexpr auto loss = [](auto x) { return plx::sum(x); };

int main() {
  plx::array<float, plx::extents<4>> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto g = plx::value_and_grad(f)(a);
#else
  auto g = plx::value_and_grad(loss)(a);
#endif
}
