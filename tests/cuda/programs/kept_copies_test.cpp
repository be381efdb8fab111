// The host's arrays on devices: sent once, as long as nobody can change them unseen.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
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

TEST_CASE("pieces along inner axes are sent once, each as it is", "[kept_copies]") {
  constexpr auto on_columns = plx::pmap<"i">([](auto x, auto w) { return x * w; }, plx::in_axes<1, plx::none>);
  constexpr auto on_first = plx::pmap<"j">([](auto x) { return x * 2.f; });
  constexpr auto on_blocks = plx::pmap<"i">(on_first, plx::in_axes<1>); // rows apart, and parts of them
  constexpr auto on_both = plx::pmap<"i">(on_first);                    // one part each
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    simulator::machine machine({.devices = 4, .seed = seed});
    const running_backend<counting_api> backend;
    std::vector<float> elements;
    for (int i = 0; i < 4800; ++i) elements.push_back(static_cast<float>(i));
    const plx::array<float, 3> x({2, 2, 1200}, elements);
    const plx::array<float, 2> rows({2400, 2}, elements);
    const auto w = vector::filled({2400}, 3);
    // x[j, i, k] is found at [i, j, k]
    std::vector<float> swapped;
    for (const int row : {0, 2, 1, 3})
      for (int k = 0; k < 1200; ++k) swapped.push_back(2 * elements[static_cast<std::size_t>(1200 * row + k)]);
    std::vector<float> columns;
    for (const std::size_t column : {0U, 1U})
      for (std::size_t k = 0; k < 2400; ++k) columns.push_back(3 * elements[2 * k + column]);
    sent();
    for (int call = 0; call < 4; ++call) {
      REQUIRE(result_of(on_both, x) == times(elements, 2));
      REQUIRE(sent() == (call == 0 ? 4 * 4800 : 0));
      REQUIRE(result_of(on_blocks, x) == swapped);
      REQUIRE(sent() == (call == 0 ? 2 * 4800 : 0)); // two of the four lie on other devices now
      REQUIRE(result_of(on_columns, rows, w) == columns);
      REQUIRE(sent() == (call == 0 ? 4 * 9600 : 0));
    }
  }
}

namespace {
constexpr std::size_t mebibyte = std::size_t{1} << 20;

simulator::machine_options small_machine(int devices) {
  simulator::machine_options options;
  options.devices = devices;
  options.memory_bytes = 256 * mebibyte;
  return options;
}
/// Arrays of 8 MiB.
std::vector<vector> arrays_of_8_mebibytes(int count) {
  std::vector<vector> all;
  for (int i = 0; i < count; ++i) all.push_back(vector::filled({1 << 21}, static_cast<float>(i)));
  return all;
}
} // namespace

TEST_CASE("copies of arrays make way where a device has no memory left", "[kept_copies]") {
  for (const int devices : {1, 2}) {
    simulator::machine machine(small_machine(devices));
    const running_backend<counting_api> backend;
    std::vector<plx::array<float, 2>> all; // 6 x 8 MiB for each device
    for (int i = 0; i < 6; ++i) all.push_back(plx::array<float, 2>::filled({devices, 1 << 21}, static_cast<float>(i)));
    const auto w = vector::filled({1 << 21}, 2);
    for (const auto& x : all) REQUIRE(result_of(on_rows, x, w)[12345] == 2 * x(0, 0));
    {
      auto& on = plx::cuda::backend<counting_api>::instance().device_at(0);
      on.activate();
      std::size_t free = 0, total = 0;
      plx::cuda::check(counting_api::memory_info(free, total));
      REQUIRE(free < total - 48 * mebibyte);
      const auto most = plx::cuda::allocate<counting_api>(on, free + 32 * mebibyte);
      CHECK(plx::cuda::allocation_of<counting_api>(most) != nullptr);
    }
    for (const auto& x : all) REQUIRE(result_of(on_rows, x, w)[1 << 20] == 2 * x(0, 0));
  }
}

TEST_CASE("a device has copies in a quarter of its memory at most", "[kept_copies]") {
  simulator::machine machine(small_machine(1));
  const running_backend<counting_api> backend;
  const std::vector<vector> all = arrays_of_8_mebibytes(40); // more than there is memory
  for (int round = 0; round < 2; ++round) {
    sent();
    for (const vector& x : all) REQUIRE(result_of(twice, x)[12345] == 2 * x(0));
    REQUIRE(sent() == (round == 0 ? 40 : 32) * 8 * mebibyte);
  }
}

TEST_CASE("devices that share a GPU have copies in a quarter of its memory together", "[kept_copies]") {
  for (const int sharing : {1, 2, 4}) {
    simulator::machine machine(small_machine(1));
    plx::cuda::backend_options options;
    options.devices_per_gpu = sharing;
    const simulated::running_backend<counting_api> running(options);
    auto& backend = plx::cuda::backend<counting_api>::instance();
    std::size_t most = 0;
    for (int number = 0; number < sharing; ++number) most += backend.device_at(number).most_kept();
    CHECK(most == machine.inside().options.memory_bytes / 4);
  }
}

TEST_CASE("the last handle to an array gives up its copies", "[kept_copies]") {
  simulator::machine machine(small_machine(1));
  const running_backend<counting_api> backend;
  for (std::size_t round = 0; round < 2; ++round) {
    const std::vector<vector> all = arrays_of_8_mebibytes(8);
    sent();
    for (const vector& x : all) REQUIRE(result_of(twice, x)[12345] == 2 * x(0));
    for (const vector& x : all) REQUIRE(result_of(twice, x)[round] == 2 * x(0));
    REQUIRE(sent() == 64 * mebibyte);
  }
  CHECK(!plx::runtime::block_cache::forget_kept_copies());
}

TEST_CASE("results that take an array's memory on the host leave no copy of what was there", "[kept_copies]") {
  simulator::machine machine({.devices = 1});
  const running_backend<counting_api> backend;
  auto x = vector::filled({1000}, 1);
  const float* const memory = x.data();
  CHECK(result_of(twice, x) == std::vector<float>(1000, 2));
  {
    const plx::use_backend on_host(plx::backend::host);
    x = plx::jit([](auto a) { return a + 4.f; }, plx::donate<0>)(std::move(x));
  }
  CHECK(x.data() == memory);
  CHECK(result_of(twice, x) == std::vector<float>(1000, 10));
}

} // namespace kept_copies_test
