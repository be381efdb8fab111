// Several threads of the host enqueue for the devices of one call.
#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/cuda/devices/enqueue_threads.hpp>
#include <parallax/parallax.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace enqueue_threads_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;
using plx::cuda::enqueue_threads;

/// Where the calling threads are noted. It takes so long to launch that helpers come in time.
struct noting_api : simulator::api {
  static inline std::mutex access;
  static inline std::set<std::thread::id> threads;
  static inline std::set<int> devices;
  static inline std::array<std::atomic<int>, 8> launching; ///< threads, by device
  static inline std::atomic<bool> have_met = false;        ///< two threads at one device
  static inline thread_local int current = 0;

  static plx::cuda::status set_device(int device) {
    current = device;
    return simulator::api::set_device(device);
  }
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    {
      const std::lock_guard lock(access);
      threads.insert(std::this_thread::get_id());
      devices.insert(current);
    }
    std::atomic<int>& here = launching.at(static_cast<std::size_t>(current));
    if (here++ != 0) have_met = true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    const plx::cuda::status launched = simulator::api::launch(kernel, shape, on, arguments);
    --here;
    return launched;
  }
};
/// The same of products alone.
struct noting_products : simulator::api {
  static inline std::mutex access;
  static inline std::set<std::thread::id> threads;

  static plx::cuda::status multiply(auto&&... given) {
    {
      const std::lock_guard lock(access);
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return simulator::api::multiply(given...);
  }
};

/// So many threads of the host for the backends that are started as long as it lives.
struct host_threads {
  explicit host_threads(int count) { simulator::api::threads_of_host = count; }
  host_threads(const host_threads&) = delete;
  host_threads& operator=(const host_threads&) = delete;
  ~host_threads() { simulator::api::threads_of_host = 1; }
};

/// Products, loops and epilogues, collectives that wait for one another and run on the side streams, a host's loop.
constexpr auto steps = [](auto x, auto w) {
  auto y = x;
  for (int k = 0; k < 4; ++k) {
    auto a = plx::relu(plx::dot(y, w) + plx::sum(x, plx::axis<0>));
    auto b = plx::tanh(y) * plx::sum(y);
    auto reduced = plx::psum<"i">(b);
    y = plx::dot(a, w) * 0.25f + plx::psum<"i">(a) + plx::transpose(plx::exp(-y)) * 0.f;
    y = y + reduced * 0.125f + plx::ppermute<"i">(y, plx::rotate{1});
    y = plx::dot(y, w) * 0.5f + y;
    y = y / plx::pmax<"i">(plx::max(plx::abs(y)));
  }
  return plx::while_loop([](auto v) { return plx::max(plx::abs(v)) > 0.25f; }, [](auto v) { return v * 0.5f; }, y);
};
constexpr auto program = plx::pmap<"i">(steps, plx::in_axes<0, plx::none>);

plx::array<float, 3> ramp(int devices) {
  std::vector<float> values;
  for (int i = 0; i < devices * 64; ++i) values.push_back(static_cast<float>(i % 23) * 0.125f - 1.f);
  return {{devices, 8, 8}, std::move(values)};
}

} // namespace

TEST_CASE("each part runs once, and a failure of one is thrown when all have ended") {
  for (const int threads : {1, 2, 5}) {
    enqueue_threads helpers(threads);
    CHECK(helpers.size() == threads);
    for (int count = 0; count < 40; ++count) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      helpers.run(count, [&](int k) { ++done[static_cast<std::size_t>(k)]; });
      for (const auto& each : done) REQUIRE(each == 1);
    }
    std::atomic<int> running = 0;
    const auto fails = [&](int k) {
      ++running;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --running;
      if (k == 3) throw plx::error("part 3");
    };
    CHECK_THROWS_WITH(helpers.run(8, fails), "part 3");
    CHECK(running == 0);
  }
}

TEST_CASE("a second thread that comes meanwhile does its parts alone") {
  enqueue_threads helpers(3);
  std::atomic<int> done = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k) helpers.run(4, [&](int) { ++done; });
    });
  for (std::thread& each : callers) each.join();
  CHECK(done == 3 * 200 * 4);
}

TEST_CASE("a child of fork has no helpers, and does all by itself") {
  enqueue_threads helpers(4);
  std::atomic<int> done = 0;
  const auto count = [&](int) { ++done; };
  helpers.run(8, count);
  const pid_t child = fork();
  if (child == 0) {
    helpers.run(8, count);
    _exit(helpers.size() == 1 && done == 16 ? 0 : 1);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  CHECK((WIFEXITED(state) && WEXITSTATUS(state) == 0));
  helpers.run(8, count);
  CHECK(done == 16);
}

TEST_CASE("several threads enqueue for several devices, each device's steps by one of them at a time") {
  simulator::machine machine({.devices = 8});
  const host_threads four(4);
  simulated::running_backend<noting_api> running;
  noting_api::threads.clear();
  noting_api::devices.clear();
  noting_api::have_met = false;
  const auto results = simulated::results_of<noting_api>(program, ramp(8), plx::array<float, 2>::filled({8, 8}, 0.5f));
  CHECK(noting_api::threads.size() > 1);
  CHECK(noting_api::devices.size() == 8);
  CHECK(!noting_api::have_met);
}

TEST_CASE("several threads enqueue products that are added to something") {
  constexpr auto added = plx::pmap<"i">(
      [](auto x, auto w) {
        for (int k = 0; k < 3; ++k) x = plx::dot(x, w) * 0.25f + x;
        return x;
      },
      plx::in_axes<0, plx::none>);
  const auto w = plx::array<float, 2>::filled({8, 8}, 0.5f);
  const auto expected = simulated::numbers_of(simulated::results_on_host(added, ramp(8), w));
  simulator::machine machine({.devices = 8});
  const host_threads four(4);
  simulated::running_backend<noting_products> running;
  noting_products::threads.clear();
  const auto found = simulated::numbers_of(simulated::results_of<noting_products>(added, ramp(8), w));
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-4));
  CHECK(noting_products::threads.size() > 1);
}

TEST_CASE("several threads of the host compute what one does, under every seed") {
  const auto w = plx::array<float, 2>::filled({8, 8}, 0.5f);
  const auto expected = simulated::numbers_of(simulated::results_on_host(program, ramp(4), w));
  for (const std::size_t overlap : {std::size_t{0}, std::size_t{4} << 20})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      simulator::machine_options options{.devices = 4, .seed = seed};
      if (seed % 2 == 0) options.queue_capacity = 4;
      simulator::machine machine(options);
      {
        const host_threads several(3);
        plx::cuda::backend_options given;
        given.overlap_bytes = overlap;
        simulated::running_backend<simulator::api> running(given);
        for (int call = 0; call < 2; ++call) {
          const auto found = simulated::numbers_of(simulated::results_of<simulator::api>(program, ramp(4), w));
          REQUIRE(found.size() == expected.size());
          for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-4));
        }
      }
      machine.finish();
    }
}

TEST_CASE("copies of any size are whole, by several threads, to a device and back") {
  enqueue_threads helpers(3);
  constexpr std::size_t mib = std::size_t{1} << 20;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, mib - 1, mib, mib + 1, 4 * mib, 9 * mib + 5}) {
    std::vector<std::byte> from(bytes), to(bytes + 1, std::byte{7});
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i * 31 >> 3);
    plx::cuda::copy_by_threads(helpers, to.data(), from.data(), bytes);
    CHECK(std::equal(from.begin(), from.end(), to.begin()));
    CHECK(to.back() == std::byte{7});
    if (bytes == 0) continue;
    simulator::machine machine({.devices = 1});
    const host_threads several(3);
    const simulated::running_backend<simulator::api> running;
    const plx::detail::buffer there = plx::cuda::placed<simulator::api>(0, from.data(), bytes);
    CHECK(std::equal(from.begin(), from.end(), there.data()));
  }
}

TEST_CASE("a failure in any thread is reported, and nothing is left behind") {
  for (std::uint64_t call = 100; call < 400; call += 17) {
    simulator::machine machine({.devices = 4});
    machine.fail_call(call);
    bool thrown = false;
    try {
      const host_threads several(3);
      simulated::running_backend<simulator::api> running;
      simulated::results_of<simulator::api>(program, ramp(4), plx::array<float, 2>::filled({8, 8}, 0.5f));
      backend::shut_down();
    } catch (const plx::error&) {
      thrown = true;
    }
    CHECK((thrown || machine.failed_call_ends()));
    machine.finish();
  }
}

} // namespace enqueue_threads_test
