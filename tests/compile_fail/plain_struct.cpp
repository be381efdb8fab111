// A struct that cannot hold tracers.
// error: an argument is neither an array nor a number nor a tree of them \(tuple, pair, std::array, aggregate\): let a struct be a template of its leaf types, template <class T> struct params \{ T w, b; \}
// line: auto y = plx::jit\(predict\)\(plain\{a, a\}, a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

struct plain {
  plx::array<float, 1> w, b;
};
template <class T> struct params {
  T w, b;
};
constexpr auto predict = [](auto p, auto x) { return p.w * x + p.b; };

int main() {
  plx::array<float, 1> a;
#ifdef PARALLAX_EXPECT_ERROR
  auto y = plx::jit(predict)(plain{a, a}, a);
#else
  auto y = plx::jit(predict)(params<plx::array<float, 1>>{a, a}, a);
#endif
}
