// How arguments come to the devices.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace arguments_test {

namespace plx = parallax;

namespace {

using simulated::counting_api;

template <class... Arguments> std::vector<float> result_of(const Arguments&... given) {
  return simulated::numbers_of(simulated::results_of<counting_api>(given...));
}

constexpr auto weighted = [](auto x, auto y, auto z, auto v, auto large) { return plx::sum(large) * x + y * z + v; };
constexpr auto mapped = plx::pmap<"i">(weighted, plx::in_axes<0, plx::none, plx::none, 0, 0>);

} // namespace

TEST_CASE("small arguments of the host come to a device together") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    simulator::machine machine({.devices = 2, .seed = seed});
    plx::cuda::backend<counting_api>::restart({});
    const plx::array<float, 1> v{1, 2, 3}, large = plx::array<float, 1>::filled({1000}, 0.5f);
    plx::reset_transfers();
    counting_api::copies = counting_api::launches = 0;
    REQUIRE(result_of(weighted, 2.f, 3.f, 4.f, v, large) == std::vector<float>{1013, 1014, 1015});
    REQUIRE(plx::transfers().host_to_device == 3 * 4 + 3 * 4 + 4000);
    REQUIRE(counting_api::copies == 1);
    REQUIRE(counting_api::launches <= 1 + 3); // the values, the sum in two parts at most, the rest

    const plx::array<float, 1> x{2, 5};
    const plx::array<float, 2> rows{{1, 2, 3}, {4, 5, 6}}, halves = plx::array<float, 2>::filled({2, 1000}, 0.5f);
    plx::reset_transfers();
    counting_api::copies = 0;
    REQUIRE(result_of(mapped, x, 3.f, 4.f, rows, halves) == std::vector<float>{1013, 1014, 1015, 2516, 2517, 2518});
    REQUIRE(plx::transfers().host_to_device == 2 * (4 + 4 + 4 + 12 + 4000));
    REQUIRE(counting_api::copies == 2);
    plx::cuda::backend<counting_api>::shut_down();
    machine.finish();
  }
}

TEST_CASE("many small arguments of the host come in several launches") {
  simulator::machine machine({.devices = 1});
  plx::cuda::backend<counting_api>::restart({});
  constexpr auto sum_of_all = [](auto... x) { return (x + ...); };
  const auto thirty = plx::array<float, 1>::filled({30}, 1.f); // 120 bytes: eight words
  counting_api::copies = 0;
  REQUIRE(result_of(sum_of_all, thirty, thirty, thirty, thirty, thirty, thirty, thirty, thirty, thirty, thirty) ==
          std::vector<float>(30, 10.f));
  REQUIRE(counting_api::copies == 0);
  plx::cuda::backend<counting_api>::shut_down();
  machine.finish();
}

} // namespace arguments_test
