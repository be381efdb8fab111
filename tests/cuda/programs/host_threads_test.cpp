// Several threads of the host call programs on CUDA devices, read results and drop arrays: none waits for another that
// waits for a device.
#include "cuda/programs/calls.hpp"
#include "support/simulator/api.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace host_threads_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;
using floats = plx::array<float, 1>;

struct running_backend : simulated::running_backend<simulator::api> {
  using simulated::running_backend<simulator::api>::running_backend;
  plx::use_backend here{plx::backend::cuda};
};

constexpr auto scaled = plx::jit([](auto x, auto y) { return plx::exp(x) * 0.f + x * y; });
constexpr auto total = plx::pmap<"i">([](auto x) { return plx::psum<"i">(x); });
/// The host asks the device before each round.
constexpr auto halved = [](auto x) {
  return plx::while_loop([](auto v) { return plx::max(v) > 1.f; }, [](auto v) { return v * 0.5f; }, x);
};

/// A program of a thread that waits for a device, once it asks the device again and again.
template <class Program> auto waiting_thread(const simulator::machine& on, const Program& program) {
  const std::uint64_t before = on.calls();
  auto started = std::async(std::launch::async, [&program] {
    const plx::use_backend here{plx::backend::cuda};
    return program();
  });
  while (on.calls() < before + 100) std::this_thread::yield();
  return started;
}

/// In which something happens while a copy to the host is under way.
struct interrupted_api : simulator::api {
  static inline std::function<void()> at_copy;

  static plx::cuda::status copy_to_host(void* to, const void* from, std::size_t bytes, stream on) {
    const plx::cuda::status enqueued = simulator::api::copy_to_host(to, from, bytes, on);
    if (at_copy) std::exchange(at_copy, nullptr)();
    return enqueued;
  }
};

bool is_going_on(const std::future<std::vector<float>>& thread) {
  return thread.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

} // namespace

TEST_CASE("while a thread reads a result that takes long, another one enqueues, frees, and reads what there is") {
  std::map<std::string_view, int> calls;
  simulator::machine machine({.devices = 2});
  running_backend running;
  std::optional<floats> kept_on_device = floats::filled({1000}, 2.f);
  const floats x = floats::filled({1000}, 3.f);
  const floats first = scaled(*kept_on_device, x); // from now on arguments are there
  const auto on_other = plx::cuda::placed<simulator::api>(1, reinterpret_cast<const std::byte*>(x.data()), 4000);
  std::optional<floats> dropped = scaled(x, x);
  const floats slow = scaled(x, first);
  machine.stop_device(0);

  const auto read = [&] { return std::vector<float>(slow.values().begin(), slow.values().end()); };
  auto reader = waiting_thread(machine, read);
  machine.count_calls(&calls);
  const floats next = scaled(first, x);
  CHECK(calls["launch"] > 0);
  dropped.reset();
  CHECK(calls["release"] == 1);
  kept_on_device.reset(); // with its copy
  CHECK(calls["release"] == 2);
  CHECK(reinterpret_cast<const float*>(on_other.data())[999] == 3.f); // of a device that goes on
  machine.count_calls(nullptr);
  CHECK(is_going_on(reader));
  machine.resume_device(0);
  CHECK(reader.get() == std::vector<float>(1000, 18.f));
  CHECK(next.values()[999] == 18.f);
}

TEST_CASE("two threads read the same result") {
  simulator::machine machine({.devices = 1});
  running_backend running;
  const floats x = floats::filled({1000}, 3.f);
  const floats slow = scaled(x, x);
  machine.stop_device(0);
  const auto read = [&] { return std::vector<float>(slow.values().begin(), slow.values().end()); };
  auto first = waiting_thread(machine, read), second = waiting_thread(machine, read);
  machine.resume_device(0);
  CHECK(first.get() == std::vector<float>(1000, 9.f));
  CHECK(second.get() == std::vector<float>(1000, 9.f));
}

TEST_CASE("who frees memory does not wait for a thread that goes round a loop; it is given back when that is done") {
  std::map<std::string_view, int> calls;
  simulator::machine machine({.devices = 1});
  plx::cuda::backend_options options;
  options.graphs = false;
  running_backend running(options);
  const floats large = floats::filled({3000}, 8.f), x = floats::filled({1000}, 3.f);
  static_cast<void>(floats(plx::jit(halved)(large)));
  std::optional<floats> dropped = scaled(x, x);
  machine.stop_device(0);
  const auto loop = [&] {
    const floats y = plx::jit(halved)(large);
    return std::vector<float>(y.values().begin(), y.values().end());
  };
  auto looping = waiting_thread(machine, loop);
  machine.count_calls(&calls);
  dropped.reset();
  CHECK(calls["release"] == 0);
  CHECK(is_going_on(looping));
  machine.resume_device(0);
  CHECK(looping.get() == std::vector<float>(3000, 1.f));
  machine.count_calls(nullptr);
  CHECK(calls["release"] >= 1);
  backend::shut_down();
  machine.finish();
}

TEST_CASE("a thread reads on from its device, though another one frees memory of another device meanwhile") {
  simulator::machine machine({.devices = 2});
  simulated::running_backend<interrupted_api> running;
  for (const std::size_t rest : {std::size_t{1000}, std::size_t{100'000}}) { // blocks that there are, and a new one
    const std::vector<std::byte> values((std::size_t{12} << 20) + rest, std::byte{3});
    const plx::detail::buffer read = plx::cuda::placed<interrupted_api>(0, values.data(), values.size());
    std::optional<plx::detail::buffer> freed = plx::cuda::placed<interrupted_api>(1, values.data(), 1000);
    interrupted_api::at_copy = [&] { std::thread([&] { freed.reset(); }).join(); };
    CHECK(std::equal(values.begin(), values.end(), read.data()));
    CHECK(!freed.has_value());
  }
}

TEST_CASE("a thread that reads a result hears of the collective that ends without one") {
  simulator::machine machine({.devices = 3, .fail_when_stuck = false});
  running_backend running;
  const auto x = plx::array<float, 2>::filled({3, 2}, 1.f);
  plx::array<float, 2> sums = total(x);
  CHECK(sums(2, 1) == 3.f);
  machine.stop_device(1);
  const plx::sharded<float, 2> late = total(x);
  const auto read = [&] {
    const plx::array<float, 2> all = late;
    return std::vector<float>(all.values().begin(), all.values().end());
  };
  auto reader = waiting_thread(machine, read);
  machine.fail_rank(1);
  CHECK_THROWS_AS(reader.get(), plx::cuda::collective_error);
  machine.resume_device(1);
}

TEST_CASE("threads call programs, read and drop at the same time, under every seed") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    simulator::machine machine({.devices = 2, .seed = seed});
    {
      running_backend running;
      std::vector<std::future<bool>> threads;
      for (int t = 0; t < 4; ++t)
        threads.push_back(std::async(std::launch::async, [t] {
          const plx::use_backend here{plx::backend::cuda};
          bool right = true;
          floats state = floats::filled({100}, 1.f);
          for (int k = 0; k < 12; ++k) {
            const float add = static_cast<float>(t + k);
            const plx::array<float, 2> sums = total(plx::array<float, 2>::filled({2, 3}, add));
            const floats next = scaled(state, floats::filled({100}, 2.f));
            right = right && sums(1, 2) == 2 * add && next.values()[99] == 2.f;
            state = next * 0.5f;
          }
          return right && state.values()[0] == 1.f;
        }));
      for (auto& each : threads) CHECK(each.get());
    }
    machine.finish();
  }
}

} // namespace host_threads_test
