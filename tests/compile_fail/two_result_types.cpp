// A function that returns now this, now that.
// error: inconsistent types|deduced return type|.auto. in return type deduced as
// errors: 3
// line: return 1;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  if (x.rank() > 1) return x;
  return 1;
#else
  if (x.rank() > 1) return x;
  return -x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}
