// Cases that are random numbers: all are drawn from the same distributions, each by its own generator.
#include "case.hpp"
#include "families.hpp"

namespace bench {

void add_random() {
  constexpr auto count = 1 << 22;
  const plx::array key = plx::random::key(0);
  const work filled{.written = 4. * count};
  suite_case("normal 2^22", filled).add("parallax", [=] {
    return vector(plx::jit([](auto k) { return plx::random::normal(k, {count}); })(key));
  });
  suite_case("uniform 2^22", filled).add("parallax", [=] {
    return vector(plx::jit([](auto k) { return plx::random::uniform(k, {count}); })(key));
  });
}

} // namespace bench
