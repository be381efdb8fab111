// A number that is known at run time only.
// error: (called in|must be initialized by|must have) a constant
// error: (the value of (variable )?.(case_runtime_number::)?rate.|read of non-const.* variable .rate.|rate. is not const)
// remedy: pass_what_is_known_at_run_time_only_as_an_argument
// errors: 3
// line: plx::jit\(f\)\(a\);
#include <parallax/parallax.hpp>

namespace plx = parallax;

float rate = 0.1f;

constexpr auto f = [](auto x) {
#ifdef PARALLAX_EXPECT_ERROR
  return x * rate;
#else
  return x;
#endif
};

int main() {
  plx::array<float, 2> a;
  plx::jit(f)(a);
}
