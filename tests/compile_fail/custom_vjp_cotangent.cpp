// A rule that gives an argument a cotangent of another shape.
// error: custom_vjp: the rule returns float32\[\] as cotangent 0, which is to be float32\[3\]; let it return that type and shape
// line: plx::jit\(plx::grad\(total\)\)\(a\)
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto half_of = [](auto g) {
#ifdef PARALLAX_EXPECT_ERROR
  return plx::sum(g);
#else
  return 0.5f * g;
#endif
};
constexpr auto halved =
    plx::custom_vjp([](auto x) { return 0.5f * x; }, [](auto x) { return std::pair{0.5f * x, std::tuple{}}; },
                    [](auto, auto g) { return std::tuple{half_of(g)}; });
constexpr auto total = [](auto x) { return plx::sum(halved(x)); };

int main() {
  plx::array<float, plx::extents<3>> a;
  plx::jit(plx::grad(total))(a);
}
