// What the CUDA backend does when the memory of a device is short.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/programs_of_all_steps.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace short_memory_test {

namespace plx = parallax;
using namespace programs_of_all_steps;

namespace {

/// Notes what devices keep for later while communicators are made.
struct noting_cliques : simulator::api {
  static inline std::size_t most_kept = 0;
  static inline int made = 0;
  static void note() {
    ++made;
    for (const auto& [device, pool] : simulator::machine::current().inside().pools)
      most_kept = std::max(most_kept, pool.kept_bytes());
  }
  static plx::cuda::status create_clique(plx::detail::plain_span<communicator> clique,
                                         plx::detail::plain_span<const int> devices) {
    note();
    return simulator::api::create_clique(clique, devices);
  }
  static plx::cuda::status split_clique(plx::detail::plain_span<communicator* const> children,
                                        plx::detail::plain_span<const communicator> clique,
                                        plx::detail::plain_span<const plx::cuda::clique_place> places) {
    note();
    return simulator::api::split_clique(children, clique, places);
  }
};

} // namespace

TEST_CASE("no pinned memory is released as long as devices are used") {
  simulator::machine machine({.devices = 2, .fail_when_stuck = false});
  running_backend running;
  const auto small = plx::array<float, 1>::filled({100}, 1.f), large = plx::array<float, 1>::filled({1 << 21}, 2.f);
  const plx::array<float, 1> before = plx::exp(small) * 0.f;
  CHECK(before(99) == 0.f);
  machine.stop_device(1); // whose work would be waited for
  const auto there = plx::cuda::placed<simulator::api>(1, reinterpret_cast<const std::byte*>(small.data()), 400);
  const plx::array<float, 1> after = large * large;
  CHECK(after((1 << 21) - 1) == 4.f);
  machine.resume_device(1);
}

TEST_CASE("memory that is free in pieces is put together when it is short") {
  simulator::machine_options options;
  options.devices = 1;
  options.memory_bytes = std::size_t{256} << 20;
  simulator::machine machine(options);
  running_backend running;
  auto& on = backend::instance().device_at(0);
  std::size_t free = 0, total_bytes = 0;
  plx::cuda::check(simulator::api::memory_info(free, total_bytes));
  {
    const auto a = plx::cuda::allocate<simulator::api>(on, free / 2),
               b = plx::cuda::allocate<simulator::api>(on, free / 2);
  }
  const auto more = plx::cuda::allocate<simulator::api>(on, free - 4096);
  CHECK(more.bytes() == free - 4096);
  CHECK_THROWS_AS(plx::cuda::allocate<simulator::api>(on, 8192), plx::out_of_memory);
}

TEST_CASE("what is free in pieces is waited for: what the host has not seen released stays, on all that share a GPU") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    simulator::machine machine({.devices = 1, .seed = seed, .memory_bytes = std::size_t{64} << 20});
    plx::cuda::backend_options two;
    two.devices_per_gpu = 2;
    running_backend running(two);
    auto& on = backend::instance().device_at(0);
    auto& beside = backend::instance().device_at(1);
    std::size_t free = 0, all = 0;
    plx::cuda::check(simulator::api::memory_info(free, all));
    {
      const auto a = plx::cuda::allocate<simulator::api>(on, free / 2),
                 b = plx::cuda::allocate<simulator::api>(beside, free / 2);
      for (int k = 0; k < 20; ++k) { // which the device has to do before
        on.fill_zero(plx::cuda::address_of<simulator::api>(a), free / 2);
        beside.fill_zero(plx::cuda::address_of<simulator::api>(b), free / 2);
      }
    }
    CHECK(plx::cuda::allocate<simulator::api>(on, free - 4096).bytes() == free - 4096);
  }
}

TEST_CASE("who waits for memory gives up a collective that never ends") {
  simulator::machine machine(
      {.devices = 2, .memory_bytes = std::size_t{64} << 20, .background = false, .fail_when_stuck = false});
  plx::cuda::backend_options options;
  options.collective_timeout = std::chrono::milliseconds(50);
  running_backend running(options);
  const auto x = plx::array<float, 2>::filled({2, 3}, 1.f);
  plx::array<float, 2> sums = plx::pmap<"i">(total)(x);
  machine.drop_rank(1);
  const auto never = plx::pmap<"i">(total)(x);
  CHECK_THROWS_AS(plx::cuda::allocate<simulator::api>(backend::instance().device_at(0), std::size_t{64} << 20),
                  plx::cuda::collective_error);
}

TEST_CASE("communicators find the memory that was released before they are made") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    simulator::machine machine({.devices = 4, .seed = seed});
    {
      simulated::running_backend<noting_cliques> running;
      noting_cliques::most_kept = 0;
      noting_cliques::made = 0;
      const auto x = plx::array<float, 3>::filled({2, 2, 3000}, 1.f);
      for (int number = 0; number < 4; ++number) {
        auto& on = plx::cuda::backend<noting_cliques>::instance().device_at(number);
        const plx::detail::buffer released = plx::cuda::allocate<noting_cliques>(on, 4096);
        for (int k = 0; k < 50; ++k) on.fill_zero(plx::cuda::address_of<noting_cliques>(released), 4096);
      }
      static_cast<void>(simulated::results_of<noting_cliques>(several_cliques, x));
      CHECK(noting_cliques::made >= 2);
      CHECK(noting_cliques::most_kept == 0);
    }
  }
}

TEST_CASE("memory that is exhausted: how much was asked, and how much is free") {
  simulator::machine_options options;
  options.devices = 1;
  options.memory_bytes = std::size_t{64} << 20;
  simulator::machine machine(options);
  running_backend running;
  const auto x = plx::array<float, 1>::filled({32 << 20}, 1.f);
  try {
    plx::array<float, 1> twice = x + x;
    FAIL("nothing was thrown");
  } catch (const plx::out_of_memory& failure) {
    const std::string text = failure.what();
    CAPTURE(text);
    REQUIRE(failure.bytes() == std::size_t{128} << 20);
    REQUIRE(text.find("134217728 bytes asked of device 0, which has ") != std::string::npos);
    REQUIRE(text.find("67108864 bytes free") != std::string::npos);
    REQUIRE(
        text.find("; the program needs 402653184 bytes there: 268435456 for arguments, 134217728 for results, 0 for "
                  "intermediate values") != std::string::npos);
    REQUIRE(failure.device() == 0);
  }
}

TEST_CASE("memory that is exhausted on a section's device: what the section's plan needs there") {
  simulator::machine_options options;
  options.devices = 2;
  options.memory_bytes = std::size_t{48} << 20;
  simulator::machine machine(options);
  running_backend running;
  const auto x = plx::array<float, 2>::filled({2, 4 << 20}, 1.f);
  constexpr auto shifted = [](auto v) {
    auto lowered = plx::exp(v);
    return lowered + plx::psum<"i">(lowered);
  };
  try {
    plx::array<float, 2> result = plx::pmap<"i">(shifted)(x);
    FAIL("nothing was thrown");
  } catch (const plx::out_of_memory& failure) {
    const std::string text = failure.what();
    CAPTURE(text);
    REQUIRE(text.find("bytes there: 16777216 for arguments, 16777216 for results, 33554432 for intermediate values") !=
            std::string::npos);
    REQUIRE(failure.device() == 0);
  }
}

} // namespace short_memory_test
