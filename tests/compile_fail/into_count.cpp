// Memory for one result of a function that has two.
// error: parallax: into takes the memory of each result, leaf by leaf, and this function has more or fewer of them
// line: plx::jit\(f\)\(x, result\);
#include <parallax/parallax.hpp>

#include <span>
#include <utility>

namespace plx = parallax;

constexpr auto f = [](auto a) { return std::pair{a + a, plx::sum(a)}; };

void call(const plx::array<float, 1>& x, std::span<float> twice, std::span<float, 1> sum) {
#ifdef PARALLAX_EXPECT_ERROR
  const auto result = plx::into(twice);
  static_cast<void>(sum);
#else
  const auto result = plx::into(twice, sum);
#endif
  plx::jit(f)(x, result);
}
