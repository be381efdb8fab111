// Virtual devices: runs side by side, several callers, and the waits underneath.
#include <parallax/host/devices/device_pool.hpp>

#include "host/device_runs.hpp"
#include "support/test.hpp"

#include <parallax/host/devices/collectives.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace device_pool_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::host;

using device_runs::first_devices, device_runs::sum_over;

} // namespace

TEST_CASE("run calls the body once for each position, on its device", "[device_pool]") {
  device_pool pool(64);
  CHECK(pool.size() == 64);
  for (int count : {1, 2, 8, 64}) {
    std::vector<int> devices = first_devices(count);
    std::reverse(devices.begin(), devices.end());
    std::vector<int> seen(devices.size(), -1);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    for (int repeat = 0; repeat < 20; ++repeat) {
      pool.run(devices, [&](int position) {
        seen[static_cast<std::size_t>(position)] = current_device();
        std::lock_guard lock(mutex);
        if (repeat == 0) threads.insert(std::this_thread::get_id());
      });
      REQUIRE(seen == devices);
    }
    CHECK(threads.size() == devices.size());
    CHECK(current_device() == -1);
  }
}

TEST_CASE("a run on one idle device stays in the calling thread", "[device_pool]") {
  device_pool pool(4);
  const int device = 2;
  std::thread::id thread_id;
  pool.run({&device, 1}, [&](int) {
    thread_id = std::this_thread::get_id();
    CHECK(current_device() == 2);
    CHECK_FALSE(inside_parallel_work());
  });
  CHECK(thread_id == std::this_thread::get_id());
}

TEST_CASE("runs from several threads with overlapping devices", "[device_pool]") {
  device_pool pool(8);
  const std::vector<std::vector<int>> choices = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 3, 4, 5}, {7, 0, 5, 2},
                                                 {1},          {6, 7},       {0, 4},       {0, 1, 2, 3, 4, 5, 6, 7}};
  std::atomic<int> wrong{0};
  std::array<std::atomic<int>, 8> users{};
  std::vector<std::thread> callers;
  for (unsigned caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      for (unsigned repeat = 0; repeat < 300; ++repeat) {
        const auto& devices = choices[(repeat * 3 + caller * 5 + repeat / 8) % choices.size()];
        const auto size = static_cast<std::int64_t>(devices.size());
        team line({&size, 1}, devices);
        const bool fails = repeat % 50 == 49;
        try {
          pool.run(line, [&](int position) {
            auto& mine = users[static_cast<std::size_t>(current_device())];
            if (mine.fetch_add(1) != 0) ++wrong; // a device works for one run at a time
            for (int step = 0; step < 3; ++step) {
              const float total = sum_over(line, position, static_cast<float>(current_device() + step));
              float expected = 0;
              for (int device : devices) expected += static_cast<float>(device + step);
              if (total != expected) ++wrong;
            }
            mine.fetch_sub(1);
            if (fails && position == 0) throw std::runtime_error("on purpose");
          });
          if (fails) ++wrong;
        } catch (const device_error& e) {
          if (!fails || e.device() != devices[0]) ++wrong;
        }
      }
    });
  }
  for (auto& each : callers) each.join();
  CHECK(wrong == 0);
}

TEST_CASE("runs over the same devices in opposite orders do not wait for each other in a circle", "[device_pool]") {
  device_pool pool(8);
  std::atomic<int> wrong{0};
  const auto call = [&](std::vector<int> devices) {
    const std::int64_t size = 8;
    team line({&size, 1}, devices);
    line.set_timeout(std::chrono::seconds(30));
    for (int repeat = 0; repeat < 1500; ++repeat) {
      pool.run(line, [&](int position) {
        if (sum_over(line, position, 1) != 8) ++wrong;
      });
    }
  };
  std::thread forward([&] { call({0, 1, 2, 3, 4, 5, 6, 7}); });
  std::thread backward([&] { call({7, 6, 5, 4, 3, 2, 1, 0}); });
  forward.join();
  backward.join();
  CHECK(wrong == 0);
}

TEST_CASE("wrong runs are refused", "[device_pool]") {
  device_pool pool(4);
  const auto run = [&](std::vector<int> devices) { pool.run(devices, [](int) {}); };
  CHECK_NOTHROW(run({}));
  CHECK_THROWS_WITH(run({0, 4}), Catch::Matchers::Matches(".*there is no device 4: the host has 4.*"));
  CHECK_THROWS_WITH(run({-1}), Catch::Matchers::Matches(".*no device -1.*"));
  CHECK_THROWS_WITH(run({2, 1, 2}), Catch::Matchers::Matches(".*device 2 twice.*"));
  CHECK_THROWS_WITH(pool.run(first_devices(2),
                             [&](int position) {
                               if (position == 1) run({3});
                             }),
                    Catch::Matchers::Matches(".*device 1: device 1 called run.*"));
  CHECK_THROWS_AS(device_pool(0), error);
  const std::int64_t two = 2;
  const std::array<int, 3> three_devices{0, 1, 2};
  CHECK_THROWS_WITH(team({&two, 1}, three_devices), Catch::Matchers::Matches(".*mesh of 2 was given 3 devices.*"));
  const std::array<std::int64_t, 2> empty{3, 0};
  CHECK_THROWS_AS(team(empty), error);
  team shared({&two, 1});
  CHECK_THROWS_WITH(pool.run(shared, [&](int) { pool.run(shared, [](int) {}); }),
                    Catch::Matchers::Matches(".*one run at a time.*"));
}

TEST_CASE("settings from the environment are checked", "[device_pool]") {
  const char* name = "PARALLAX_TEST_SETTING";
  ::unsetenv(name);
  CHECK(environment_integer(name, 5, 1, 10) == 5);
  CHECK(environment_seconds(name, 1.5) == 1.5);
  ::setenv(name, "8", 1);
  CHECK(environment_integer(name, 5, 1, 10) == 8);
  CHECK(environment_seconds(name, 1.5) == 8);
  for (const char* bad : {"", "x", "0", "11", "8 ", "3.5", "99999999999999999999"}) {
    ::setenv(name, bad, 1);
    CHECK_THROWS_WITH(environment_integer(name, 5, 1, 10),
                      Catch::Matchers::Matches(".*an integer from 1 to 10, but it is \"" + std::string(bad) + "\""));
  }
  for (const char* bad : {"", "x", "-1", "nan", "inf", "2s"}) {
    ::setenv(name, bad, 1);
    CHECK_THROWS_WITH(environment_seconds(name, 5), Catch::Matchers::Matches(".*a number of seconds.*"));
  }
  ::unsetenv(name);
}

TEST_CASE("a wait ends with the change or at the deadline", "[device_pool]") {
  using namespace std::chrono;
  wait_word word(3);
  CHECK(word.wait(4) == 3);
  const auto start = steady_clock::now();
  CHECK(word.wait(3, {microseconds(1), milliseconds(20)}) == 3);
  CHECK(steady_clock::now() - start >= milliseconds(20));
  CHECK(word.load() == 3);
  CHECK_FALSE(word.compare_exchange(2, 5));
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    word.compare_exchange(3, 8);
  });
  CHECK(word.wait(3) == 8);
  other.join();
}

} // namespace device_pool_test
