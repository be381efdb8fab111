// The host's arrays on devices: sent once, as long as nobody can change them unseen.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/machine.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kept_copies_test {

namespace plx = parallax;

namespace {

using simulated::counting_api, simulated::running_backend;
using vector = plx::array<float, 1>;

template <class... Arguments> std::vector<float> result_of(const Arguments&... given) {
  return simulated::numbers_of(simulated::results_of<counting_api>(given...));
}
/// Bytes sent to devices since this was last asked.
std::uint64_t sent() {
  const auto bytes = plx::transfers().host_to_device;
  plx::reset_transfers();
  return bytes;
}

constexpr auto twice = [](auto x) { return x * 2.f; };
constexpr auto two_steps = [](auto x) { return plx::sum(x * x) + plx::cumsum(x, 0); }; // becomes a graph
constexpr auto on_rows = plx::pmap<"i">([](auto x, auto w) { return x * w; }, plx::in_axes<0, plx::none>);

std::vector<float> times(std::vector<float> x, float factor) {
  for (float& each : x) each *= factor;
  return x;
}

} // namespace

TEST_CASE("an array is sent to a device once", "[kept_copies]") {
  for (const bool graphs : {false, true}) {
    simulator::machine machine({.devices = 1});
    const running_backend<counting_api> backend({.graphs = graphs});
    const auto x = vector::filled({1000}, 0.5f);
    const vector same = x;
    sent();
    CHECK(result_of(twice, x) == std::vector<float>(1000, 1));
    CHECK(sent() == 4000);
    std::vector<float> expected;
    for (int i = 1; i <= 1000; ++i) expected.push_back(250 + 0.5f * static_cast<float>(i));
    for (int call = 0; call < 5; ++call) {
      CHECK(result_of(twice, same) == std::vector<float>(1000, 1));
      CHECK(result_of(two_steps, x) == expected);
    }
    CHECK(sent() == 0);
  }
}

TEST_CASE("an array that may change is sent each time, and its change is seen", "[kept_copies]") {
  for (const bool graphs : {false, true}) {
    simulator::machine machine({.devices = 1});
    const running_backend<counting_api> backend({.graphs = graphs});
    auto x = vector::filled({1000}, 0.5f);
    const vector before = x; // shares its memory
    CHECK(result_of(twice, x) == std::vector<float>(1000, 1));
    float* const elements = x.mutable_data();
    for (int call = 0; call < 5; ++call) {
      elements[call] = 3;
      std::vector<float> expected(1000, 1);
      for (int i = 0; i <= call; ++i) expected[static_cast<std::size_t>(i)] = 6;
      sent();
      CHECK(result_of(twice, x) == expected);
      CHECK(sent() == 4000);
      CHECK(result_of(twice, before) == std::vector<float>(1000, 1));
      CHECK(sent() == 0);
    }
    auto y = vector::filled({1000}, 0.5f);
    CHECK(result_of(twice, y) == std::vector<float>(1000, 1));
    y.mutable_data()[0] = 4; // whose memory nobody shares
    CHECK(result_of(twice, y).front() == 8);
  }
}

TEST_CASE("others' memory is sent each time", "[kept_copies]") {
  simulator::machine machine({.devices = 1});
  const running_backend<counting_api> backend;
  std::vector<float> elements(1000, 0.5f);
  const auto x = plx::borrow(elements.data(), {1000});
  CHECK(result_of(twice, x) == std::vector<float>(1000, 1));
  elements.assign(1000, 2);
  CHECK(result_of(twice, x) == std::vector<float>(1000, 4));
}

TEST_CASE("pieces and replicas of an array are sent once", "[kept_copies]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    simulator::machine machine({.devices = 2, .seed = seed});
    const running_backend<counting_api> backend;
    std::vector<float> elements;
    for (int i = 0; i < 400; ++i) elements.push_back(static_cast<float>(i));
    const plx::array<float, 2> x({2, 200}, elements);
    const auto w = vector::filled({200}, 3);
    sent();
    for (int call = 0; call < 4; ++call) {
      REQUIRE(result_of(on_rows, x, w) == times(elements, 3));
      REQUIRE(sent() == (call == 0 ? 1600 + 2 * 800 : 0));
    }
    auto changed = x;
    changed.mutable_data()[399] = 0;
    elements[399] = 0;
    REQUIRE(result_of(on_rows, changed, w) == times(elements, 3));
  }
}

TEST_CASE("copies of arrays make way where a device has no memory left", "[kept_copies]") {
  simulator::machine_options options;
  options.devices = 1;
  options.memory_bytes = std::size_t{256} << 20;
  simulator::machine machine(options);
  const running_backend<counting_api> backend;
  std::vector<vector> all; // 320 MiB
  for (int i = 0; i < 40; ++i) all.push_back(vector::filled({1 << 21}, static_cast<float>(i)));
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 40; ++i)
      REQUIRE(result_of(twice, all[static_cast<std::size_t>(i)])[12345] == 2.f * static_cast<float>(i));
}

TEST_CASE("copies on several devices make way for one of them", "[kept_copies]") {
  simulator::machine_options options;
  options.devices = 2;
  options.memory_bytes = std::size_t{256} << 20;
  simulator::machine machine(options);
  const running_backend<counting_api> backend;
  std::vector<plx::array<float, 2>> all; // 320 MiB on each device
  for (int i = 0; i < 40; ++i) all.push_back(plx::array<float, 2>::filled({2, 1 << 21}, static_cast<float>(i)));
  const auto w = vector::filled({1 << 21}, 2);
  for (const auto& x : all) REQUIRE(result_of(on_rows, x, w)[12345] == 2 * x(0, 0));
  for (const auto& x : all) REQUIRE(result_of(on_rows, x, w)[3 << 20] == 2 * x(0, 0));
}

TEST_CASE("the last handle to an array gives up its copies", "[kept_copies]") {
  simulator::machine_options options;
  options.devices = 1;
  options.memory_bytes = std::size_t{256} << 20;
  simulator::machine machine(options);
  const running_backend<counting_api> backend;
  for (int i = 0; i < 40; ++i) {
    const auto x = vector::filled({1 << 21}, static_cast<float>(i));
    REQUIRE(result_of(twice, x)[12345] == 2.f * static_cast<float>(i));
  }
  CHECK(!plx::runtime::block_cache::forget_kept_copies());
}

} // namespace kept_copies_test
