#include <parallax/parallax.hpp>

#include "support/test.hpp"

#include <sstream>

namespace partial_test {

namespace plx = parallax;

TEST_CASE("partial binds leading arguments of a transformed function") {
  constexpr auto line = [](auto slope, auto offset, auto x) { return slope * x + offset; };
  auto bound = plx::partial(plx::jit(line), 2.f, plx::array<float, 1>{10, 20});
  plx::array<float, 1> y = bound(plx::array<float, 1>{1, 2});
  CHECK(array_equal(y, plx::array<float, 1>{12, 24}));
}

TEST_CASE("an expression of arrays prints its value") {
  std::ostringstream out;
  out << plx::array<float, 1>{1, 2} * 2.f;
  CHECK(out.str() == "[2. 4.]");
}

} // namespace partial_test
