// A conformance case of JAX's pmap: an argument of many leaves.
#include "expected.hpp"

#include <array>

namespace many_leaves_test {

TEST_CASE("row 9: 500 leaves") {
  using namespace conformance;
  constexpr std::int64_t n = 4;
  constexpr std::size_t count = 500;
  constexpr auto sum = [](const auto& leaves) {
    auto result = leaves[0];
    for (std::size_t i = 1; i < leaves.size(); ++i) result = result + leaves[i];
    return result;
  };
  std::array<plx::array<std::int32_t, 1>, count> leaves;
  for (std::size_t i = 0; i < count; ++i)
    leaves[i] = plx::array<std::int32_t, 1>::filled({n}, static_cast<std::int32_t>(i));
  check_equal(plx::pmap(sum)(leaves), {n}, std::vector<std::int32_t>(4, 124750));
}

} // namespace many_leaves_test
