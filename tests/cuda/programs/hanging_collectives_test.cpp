// What the CUDA backend does when a device stands still, or does not come to a collective.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/programs_of_all_steps.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace hanging_collectives_test {

namespace plx = parallax;
using namespace programs_of_all_steps;

namespace {

/// Questions of the host, between which a stopped device does a little now and then.
struct slow_api : simulator::api {
  static inline simulator::machine* machine = nullptr; ///< null: devices are as they are
  static inline std::chrono::steady_clock::time_point next;

  struct slowness {
    explicit slowness(simulator::machine& of) {
      machine = &of;
      next = std::chrono::steady_clock::now();
    }
    slowness(const slowness&) = delete;
    slowness& operator=(const slowness&) = delete;
    ~slowness() { machine = nullptr; }
  };

  static void go_on() {
    const auto now = std::chrono::steady_clock::now();
    if (machine == nullptr || now < next) return;
    next = now + std::chrono::milliseconds(4);
    machine->resume_device(1);
    for (int k = 0; k < 16 && machine->inside().scheduled.run_one(); ++k) {
    }
    machine->stop_device(1);
  }
  static plx::cuda::status query_stream(stream asked) {
    go_on();
    return simulator::api::query_stream(asked);
  }
  static plx::cuda::status query_event(event asked) {
    go_on();
    return simulator::api::query_event(asked);
  }
};

constexpr auto totals = plx::pmap<"i">(total);

} // namespace

TEST_CASE("a device that stands still ends the others' collective at the deadline, and is named") {
  simulator::machine machine({.devices = 4, .fail_when_stuck = false});
  plx::cuda::backend_options options;
  options.collective_timeout = std::chrono::milliseconds(50);
  running_backend running(options);
  const auto x = plx::array<float, 2>::filled({4, 3}, 1.f);
  plx::array<float, 2> sums = plx::pmap<"i">(total)(x);
  REQUIRE(sums(3, 2) == 4.f);
  machine.stop_device(2);
  try {
    plx::array<float, 2> never = plx::pmap<"i">(total)(x);
    FAIL("nothing was thrown");
  } catch (const plx::cuda::collective_error& failure) {
    const std::string text = failure.what();
    CAPTURE(text);
    REQUIRE(failure.collective() == "all_reduce");
    REQUIRE(failure.arrived() == std::vector<int>{0, 1, 3});
    REQUIRE(failure.missing() == std::vector<int>{2});
    REQUIRE(text.find("waited 0.05") != std::string::npos);
    REQUIRE(text.find("all_reduce over mesh axes 0 of 12 bytes on devices 0, 1, 2, 3") != std::string::npos);
    REQUIRE(text.find("1: all_reduce") != std::string::npos); // the recorder's earlier entry
  }
  machine.resume_device(2);
  plx::array<float, 2> again = plx::pmap<"i">(total)(x);
  REQUIRE(again(0, 0) == 4.f);
}

TEST_CASE("at the deadline all collectives end, of whichever cliques") {
  simulator::machine machine({.devices = 4, .fail_when_stuck = false});
  plx::cuda::backend_options options;
  options.collective_timeout = std::chrono::milliseconds(50);
  running_backend running(options);
  run_several_cliques();
  machine.stop_device(2);
  REQUIRE_THROWS_AS(run_several_cliques(), plx::cuda::collective_error);
  machine.resume_device(2);
  run_several_cliques();
}

TEST_CASE("what devices do before they come to a collective may take any time") {
  simulator::machine machine({.devices = 2, .background = false, .fail_when_stuck = false});
  running_backend running;
  const auto& recorder = backend::instance().recorder;
  const auto x = plx::array<float, 2>::filled({2, 2}, 1.f);
  const auto enqueue = [&] { return plx::pmap<"i">(total)(x); };
  plx::array<float, 2> sums = enqueue();
  for (int device : {0, 1}) machine.stop_device(device);
  std::vector<decltype(enqueue())> queue;
  for (int k = 0; k < 40; ++k) queue.push_back(enqueue()); // more than the recorder keeps of those that have ended
  CHECK(!recorder.is_going_on());
  const auto before = recorder.progress();
  machine.resume_device(1);
  machine.drain();
  CHECK(recorder.is_going_on());
  CHECK(recorder.progress() != before);
  CHECK(recorder.failure("x").missing() == std::vector<int>{0});
  machine.resume_device(0);
  machine.drain();
  CHECK(!recorder.is_going_on());
  sums = queue.back();
  CHECK(sums(1, 1) == 2.f);
}

TEST_CASE("the limit is of one collective: many may take longer together, as long as the devices go on") {
  using namespace std::chrono;
  simulator::machine machine({.devices = 2, .background = false, .fail_when_stuck = false});
  plx::cuda::backend_options options;
  options.graphs = false;
  options.collective_timeout = milliseconds(60);
  simulated::running_backend<slow_api> running(options);
  const auto x = plx::array<float, 2>::filled({2, 3}, 1.f);
  const auto enqueue = [&] { return simulated::results_of<slow_api>(totals, x); };
  simulated::numbers_of(enqueue());
  machine.stop_device(1);
  const slow_api::slowness slow(machine);
  const auto begun = steady_clock::now();
  std::vector<simulated::values> all;
  for (int k = 0; k < 200; ++k) all.push_back(enqueue());
  CHECK(simulated::numbers_of(all.back()) == std::vector<float>(6, 2.f));
  CHECK(steady_clock::now() - begun > 3 * options.collective_timeout);
  machine.resume_device(1);
}

TEST_CASE("a collective that never ends is given up, however much the host enqueues behind it") {
  for (const bool graphs : {false, true}) {
    simulator::machine machine({.devices = 2, .queue_capacity = 1024, .fail_when_stuck = false});
    plx::cuda::backend_options options;
    options.collective_timeout = std::chrono::milliseconds(50);
    options.graphs = graphs;
    running_backend running(options);
    const auto x = plx::array<float, 2>::filled({2, 3}, 1.f);
    constexpr auto step = [](auto v) { return plx::sum(plx::exp(v)) + v; };
    for (int call = 0; call < 3; ++call) {
      plx::array<float, 2> sums = plx::pmap<"i">(total)(x);
      sums = plx::pmap<"i">(step)(x);
    }
    machine.drop_rank(1);
    const auto enqueue = [&] {
      const auto hangs = plx::pmap<"i">(total)(x);
      for (int call = 0; call < 2000; ++call) static_cast<void>(plx::sharded<float, 2>(plx::pmap<"i">(step)(x)));
    };
    REQUIRE_THROWS_AS(enqueue(), plx::cuda::collective_error);
  }
}

TEST_CASE("a failed rank ends the collective at once") {
  simulator::machine machine({.devices = 3, .fail_when_stuck = false});
  running_backend running;
  const auto x = plx::array<float, 2>::filled({3, 2}, 1.f);
  plx::array<float, 2> sums = plx::pmap<"i">(total)(x);
  machine.fail_rank(1);
  REQUIRE_THROWS_AS((plx::array<float, 2>(plx::pmap<"i">(total)(x))), plx::cuda::collective_error);
}

} // namespace hanging_collectives_test
