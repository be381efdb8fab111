// checkpointed_scan: from the last slice to the first, for a batch and on every device of a pmap. Its other tests,
// which would take long to compile for two backends, are in tests/transforms/.
#include "expected.hpp"

#include <tuple>
#include <utility>

namespace checkpointed_scan_backends_test {

using namespace conformance;

TEST_CASE("checkpointed_scan: from the last slice to the first, in batches and on devices") {
  static constexpr auto backwards = [](auto a, auto xs) {
    auto step = [a](auto v, auto x) { return std::pair{plx::sin(v * a + x), plx::none}; };
    return plx::checkpointed_scan<3>(step, a, xs, plx::in_reverse).first;
  };
  static constexpr auto plain = [](auto a, auto xs) {
    auto step = [a](auto v, auto x) { return std::pair{plx::sin(v * a + x), plx::none}; };
    return plx::scan(step, a, xs, plx::in_reverse).first;
  };
  const plx::array<double, plx::extents<8>> xs{0.1, 0.4, -0.3, 0.9, 0.2, -0.8, 0.5, 0.6};
  const plx::array<double, 0> a(0.7);
  const auto [by_a, by_xs] = plx::grad(plain, plx::argnums<0, 1>)(a, xs);
  const auto [a_again, xs_again] = plx::grad(backwards, plx::argnums<0, 1>)(a, xs);
  check_close<double>(a_again, {}, {by_a.item()}, 1e-13);
  check_close<double>(xs_again, {8}, by_xs.to_vector(), 1e-13);
  check_close<double>(plx::jvp(backwards, std::tuple{a, xs}, std::tuple{plx::array<double, 0>(1.), plx::none}).second,
                      {}, {by_a.item()}, 1e-13);
  check_close<double>(plx::vmap(plx::grad(backwards), plx::in_axes<0, plx::none>)(plx::array<double, 1>{0.7, 0.7}, xs),
                      {2}, {by_a.item(), by_a.item()}, 1e-13);
  check_close<double>(plx::pmap(plx::grad(backwards), plx::in_axes<0, plx::none>)(plx::array<double, 1>{0.7, 0.7}, xs),
                      {2}, {by_a.item(), by_a.item()}, 1e-13);
}

} // namespace checkpointed_scan_backends_test
