// The negative of truth values, which are no numbers.
// error: neg: truth values are no numbers; astype makes numbers of them
// line: return -x;
#include <parallax/parallax.hpp>

namespace plx = parallax;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return -x;
#else
  return -plx::astype<int>(x);
#endif
};

int main() {
  plx::array<bool, 1> a{true, false};
  plx::jit(f)(a);
}
