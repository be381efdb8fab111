// A derivative that is to be called often, of a loop whose number of rounds only the values decide.
// error: grad: while_loop has no reverse mode, .*since nothing says how many rounds to keep; use fori_loop or scan with a number of rounds that is known
// line: plx::linearize\(grow, a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto grow = [](auto x) {
  return plx::while_loop([](auto v) { return plx::sum(v) < 10.0f; }, [](auto v) { return v * 2.0f; }, x);
};

int main() {
  plx::array<float, plx::extents<3>> a;
#ifdef PARALLAX_EXPECT_ERROR
  plx::linearize(grow, a);
#else
  plx::jvp(grow, std::tuple{a}, std::tuple{a});
#endif
}
