// What the CUDA backend does when a call fails, or is refused.
#include "cuda/programs/programs_of_all_steps.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <string>
#include <thread>

namespace failures_test {

namespace plx = parallax;
using namespace programs_of_all_steps;

namespace {

struct host_alone {
  static void host(plx::ffi_buffer<const float, 1> x, plx::ffi_buffer<float, 1> y) {
    for (std::int64_t i = 0; i < x.size(); ++i) y(i) = 2 * x(i);
  }
  static constexpr auto shape(auto x) { return x; }
};
struct other_stream : host_alone {
  static void cuda(int, plx::ffi_buffer<const float, 1>, plx::ffi_buffer<float, 1>) {}
};

} // namespace

TEST_CASE("a failure of any call is reported, and nothing is left behind") {
  for (const int devices_per_gpu : {1, 2}) {
    simulator::machine_options options;
    options.devices = 2 / devices_per_gpu;
    const auto calls = simulator::try_every_failure(options, [&] {
      plx::cuda::backend_options given;
      given.devices_per_gpu = devices_per_gpu;
      running_backend running(given);
      run_every_sort_of_step();
      backend::shut_down();
    });
    REQUIRE(calls > 50);
  }
}

TEST_CASE("a failure while cliques are made is reported, and nothing is left behind") {
  simulator::machine_options options;
  options.devices = 4;
  const auto calls = simulator::try_every_failure(options, [&] {
    running_backend running;
    run_several_cliques();
    backend::shut_down();
  });
  REQUIRE(calls > 50);
}

TEST_CASE("the text of a failure outlives the thread that it happened in") {
  const auto failure_in_a_thread = [](const char* words) {
    plx::cuda::status found;
    std::thread([&] {
      const std::string own = std::string("member 3: ") + words;
      found = {plx::cuda::status::kind::failure, 5, "a library", "a call", plx::cuda::kept_text(own)};
    }).join();
    return found;
  };
  const plx::cuda::status first = failure_in_a_thread("the peer is gone"), second = failure_in_a_thread("no memory");
  CHECK(std::string(first.meaning) == "member 3: the peer is gone");
  CHECK(std::string(second.meaning) == "member 3: no memory");
  CHECK(failure_in_a_thread("no memory").meaning == second.meaning);
}

TEST_CASE("the failing call's exception names it") {
  simulator::machine machine({.devices = 2});
  running_backend running;
  const float expected = run_every_sort_of_step();
  machine.fail_call(machine.calls() + 20);
  try {
    run_every_sort_of_step();
    FAIL("nothing was thrown");
  } catch (const plx::cuda_error& failure) {
    REQUIRE(std::string(failure.what()).find("made to fail") != std::string::npos);
    REQUIRE(failure.call() == machine.failed_call());
  }
  // the backend goes on
  REQUIRE(run_every_sort_of_step() == Approx(expected));
}

TEST_CASE("a device that does not work is an error, and not the host") {
  simulator::machine machine({.devices = 1});
  CHECK(plx::cuda::has_devices<simulator::api>());
  machine.fail_call(machine.calls() + 1);
  CHECK_THROWS_WITH(plx::cuda::has_devices<simulator::api>(),
                    Catch::Matchers::Matches(".*PARALLAX_BACKEND=host runs programs on the host without GPUs"));
}

TEST_CASE("an epilogue that is refused when it is launched is its parts") {
  constexpr auto layer = [](auto x, auto w, auto b) { return plx::relu(plx::dot(x, w) + b); };
  constexpr auto loss = [](auto x, auto w, auto b) { return plx::sum(plx::relu(plx::dot(x, w) + b) * 2.f); };
  const auto x = plx::array<float, 2>::filled({16, 8}, 0.5f), w = plx::array<float, 2>::filled({8, 16}, 0.25f);
  const auto b = plx::array<float, 1>::filled({16}, -0.5f);
  for (const bool refuses : {false, true}) {
    simulator::machine machine({.devices = 1, .refuses_epilogues = refuses});
    running_backend running;
    for (int call = 0; call < 3; ++call) { // step by step, while it is captured, in a graph
      const plx::array<float, 2> y = plx::jit(layer)(x, w, b);
      CHECK(y(15, 15) == 0.5f);
      const plx::array<float, 2> of_weights = plx::jit(plx::grad(loss, plx::argnums<1>))(x, w, b);
      CHECK(of_weights(7, 15) == 16.f);
    }
  }
}

TEST_CASE("a user's own function that CUDA devices cannot run is an error, and the next call works") {
  simulator::machine machine({.devices = 1});
  running_backend running;
  const plx::array<float, 1> x{1, 2, 3};
  CHECK_THROWS_WITH(plx::jit(plx::custom_call<host_alone>)(x),
                    "custom_call: the rules have no function cuda, and this program runs on CUDA devices; give them "
                    "one, or choose the host backend");
  CHECK_THROWS_WITH(plx::jit(plx::custom_call<other_stream>)(x),
                    "custom_call: the rules' cuda takes another type of stream than this backend has");
  const plx::array<float, 1> doubled = plx::jit([](auto v) { return v * 2.f; })(x);
  CHECK(doubled.values()[2] == 6.f);
  const plx::use_backend there(plx::backend::host);
  const plx::array<float, 1> on_host = plx::jit(plx::custom_call<host_alone>)(x);
  CHECK(on_host.values()[2] == 6.f);
}

TEST_CASE("programs of more steps than a queue holds run as it empties") {
  float expected = 0;
  {
    simulator::machine machine({.devices = 2});
    running_backend running;
    expected = run_every_sort_of_step();
  }
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    simulator::machine machine({.devices = 4, .seed = seed, .queue_capacity = 1 + seed % 4});
    {
      running_backend running;
      CHECK(run_every_sort_of_step() == expected);
      run_several_cliques();
    }
    machine.finish();
  }
}

TEST_CASE("results of a program stay on their devices") {
  simulator::machine machine({.devices = 4});
  running_backend running;
  const auto x = plx::array<float, 2>::filled({4, 8}, 1.f);
  constexpr auto f = [](auto v) { return v * 2.f; };
  auto first = plx::pmap(f)(x);
  const auto moved_in = plx::transfers().host_to_device;
  const auto moved_out = plx::transfers().device_to_host;
  auto second = plx::pmap(f)(first);
  constexpr auto norm = [](auto v) { return plx::sum(v); };
  auto sums = plx::pmap(norm)(second);
  REQUIRE(plx::transfers().host_to_device == moved_in);
  REQUIRE(plx::transfers().device_to_host == moved_out);
  plx::array<float, 1> here = sums;
  REQUIRE(here(0) == 32.f);
  REQUIRE(plx::transfers().device_to_host == moved_out + 16);
}

} // namespace failures_test
