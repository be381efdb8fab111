// What the CUDA backend does when a call fails or a device stands still.
#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/every_failure.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace failures_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;

struct running_backend : simulated::running_backend<simulator::api> {
  using simulated::running_backend<simulator::api>::running_backend;
  plx::use_backend here{plx::backend::cuda};
};

constexpr auto every_sort_of_step = [](auto x, auto w) {
  auto y = plx::dot(plx::tanh(x), w);
  auto sum = plx::psum<"i">(y);
  auto all = plx::all_gather<"i">(x, 1);
  auto next = plx::ppermute<"i">(y, plx::rotate{1});
  auto first = plx::pbroadcast<"i">(y, 0);
  auto exchanged = plx::all_to_all<"i">(y, 1, 1);
  return plx::sum(sum * next) + plx::sum(all) + plx::sum(first * exchanged);
};

float run_every_sort_of_step() {
  const auto x = plx::array<float, 3>::filled({2, 3, 4}, 0.5f);
  const auto w = plx::array<float, 2>::filled({4, 2}, 0.25f);
  const plx::array<float, 1> result = plx::pmap<"i">(every_sort_of_step, plx::in_axes<0, plx::none>)(x, w);
  return result.values()[0] + result.values()[1];
}

// on a mesh of two by two devices: cliques that are split from that of all, and groups
constexpr auto several_cliques = plx::pmap<"i">([](auto rows) {
  return plx::pmap<"j">([](auto x) {
    return plx::psum<"i">(x) * plx::sum(plx::all_gather<"j">(x, 0, plx::gather_mode::tiled)) +
           plx::psum<"i", "j">(x, plx::axis_index_groups{{0, 3}, {1}, {2}});
  })(rows);
});
void run_several_cliques() {
  const plx::array<float, 3> result = several_cliques(plx::array<float, 3>::filled({2, 2, 1}, 2.f));
  static_cast<void>(result.values());
}

/// Notes what devices keep for later while communicators are made.
struct noting_cliques : simulator::api {
  static inline std::size_t most_kept = 0;
  static inline int made = 0;
  static void note() {
    ++made;
    for (const auto& [device, pool] : simulator::machine::current().inside().pools)
      most_kept = std::max(most_kept, pool.kept_bytes());
  }
  static plx::cuda::status create_clique(plx::plain_span<communicator> clique, plx::plain_span<const int> devices) {
    note();
    return simulator::api::create_clique(clique, devices);
  }
  static plx::cuda::status split_clique(plx::plain_span<communicator* const> children,
                                        plx::plain_span<const communicator> clique,
                                        plx::plain_span<const plx::cuda::clique_place> places) {
    note();
    return simulator::api::split_clique(children, clique, places);
  }
};

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

constexpr auto total = [](auto x) { return plx::psum<"i">(x); };
constexpr auto totals = plx::pmap<"i">(total);

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
        const plx::buffer released = plx::cuda::allocate<noting_cliques>(on, 4096);
        for (int k = 0; k < 50; ++k) on.fill_zero(plx::cuda::address_of<noting_cliques>(released), 4096);
      }
      static_cast<void>(simulated::results_of<noting_cliques>(several_cliques, x));
      CHECK(noting_cliques::made >= 2);
      CHECK(noting_cliques::most_kept == 0);
    }
  }
}

TEST_CASE("a device that does not work is an error, and not the host") {
  simulator::machine machine({.devices = 1});
  CHECK(plx::cuda::has_devices<simulator::api>());
  machine.fail_call(machine.calls() + 1);
  CHECK_THROWS_WITH(plx::cuda::has_devices<simulator::api>(),
                    Catch::Matchers::Matches(".*PARALLAX_BACKEND=host runs programs on the host without GPUs"));
}

TEST_CASE("a failed rank ends the collective at once") {
  simulator::machine machine({.devices = 3, .fail_when_stuck = false});
  running_backend running;
  const auto x = plx::array<float, 2>::filled({3, 2}, 1.f);
  plx::array<float, 2> sums = plx::pmap<"i">(total)(x);
  machine.fail_rank(1);
  REQUIRE_THROWS_AS((plx::array<float, 2>(plx::pmap<"i">(total)(x))), plx::cuda::collective_error);
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
