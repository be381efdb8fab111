// A compiled_function whose program keeps intermediate values is called with memory for them.
// error: compiled_function: intermediate values take [0-9]+ bytes: give the call std::array<std::byte, f.workspace_bytes>
// line: step\(x, y, result\);
#include <parallax/compiled_function.hpp>

#include <array>
#include <cstddef>

namespace plx = parallax;

constexpr auto twice = [](auto x, auto y) { return plx::matmul(plx::exp(plx::matmul(x, y)), x); };
constexpr plx::compiled_function<twice, plx::shaped<float, 60, 60>, plx::shaped<float, 60, 60>> step;

int main() {
  static std::array<float, 3600> x, y, result;
  static std::array<std::byte, step.workspace_bytes> workspace;
#ifdef PARALLAX_EXPECT_ERROR
  step(x, y, result);
#else
  step(x, y, result, workspace);
#endif
}
