// An array of the program's run that is no argument of the traced function.
// error: (usable in a constant|must be initialized by a constant|must have a constant|pass_what_is_known_at_run_time_only)
// error: (the value of (variable )?.(case_array_closed_over::)?weights.|read of non-const.* variable .weights.|attempt to access run-time storage)
// remedy: pass_what_is_known_at_run_time_only_as_an_argument
// errors: 3
// line: plx::jit\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

plx::array<float, 1> weights;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x * weights;
#else
  return x * 2;
#endif
};

int main() {
  plx::array<float, 1> a;
  plx::jit(f)(a);
}
