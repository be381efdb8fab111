// has_aux, and a function that returns its loss alone.
// error: grad: with has_aux the function returns a pair: the loss, and what is handed on beside it; return std::pair\{loss, aux\}, or leave has_aux out
// line: plx::grad\(total, plx::has_aux\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto total = [](auto x) { return plx::sum(x * x); };

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::grad(total, plx::has_aux)(a);
#else
  plx::grad(total)(a);
#endif
}
