// Parallel loops: every index once, on several threads, with failures and nesting.
#include <parallax/host/devices/worker_pool.hpp>

#include "support/test.hpp"
#include <parallax/host/devices/device_pool.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace parallel_for_test {

namespace {

using namespace parallax;
using namespace parallax::detail;
using namespace parallax::host;

} // namespace

#ifdef __linux__
TEST_CASE("processors that a thread may not run on are not counted", "[parallel_for]") {
  int all = 0, some = 0;
  std::thread([&] { // what it may use is its own matter
    all = runtime::usable_processors();
    cpu_set_t usable, first;
    REQUIRE(sched_getaffinity(0, sizeof usable, &usable) == 0);
    CPU_ZERO(&first);
    std::size_t processor = 0;
    while (!CPU_ISSET(processor, &usable)) ++processor;
    CPU_SET(processor, &first);
    REQUIRE(sched_setaffinity(0, sizeof first, &first) == 0);
    some = runtime::usable_processors();
  })
      .join();
  CHECK(some == 1);
  CHECK(all == runtime::usable_processors());
}
#endif

TEST_CASE("every index is visited once, in ranges that begin at multiples of the grain", "[parallel_for]") {
  worker_pool pool(4);
  for (std::int64_t count : {0, 1, 5, 64, 1000, 12345}) {
    for (std::int64_t grain : {1, 7, 64, 100000}) {
      std::vector<int> visits(static_cast<std::size_t>(count), 0);
      std::atomic<int> misplaced{0};
      pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
        if (begin % grain != 0 || begin >= end) ++misplaced;
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      REQUIRE(std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; }));
      REQUIRE(misplaced == 0);
    }
  }
}

TEST_CASE("a loop runs on several threads, a short one on the calling thread", "[parallel_for]") {
  worker_pool pool(4);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto note = [&](std::int64_t, std::int64_t) {
    std::unique_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  pool.parallel_for(16, 1, note);
  CHECK(threads.size() == 4);
  threads.clear();
  pool.parallel_for(16, 16, note);
  CHECK(threads == std::set{std::this_thread::get_id()});
  threads.clear();
  worker_pool(1).parallel_for(16, 1, note);
  CHECK(threads == std::set{std::this_thread::get_id()});
}

TEST_CASE("loops inside loops and inside runs of several devices stay on their thread", "[parallel_for]") {
  worker_pool workers(4);
  std::atomic<int> strayed{0};
  const auto nested = [&] {
    const auto self = std::this_thread::get_id();
    workers.parallel_for(100, 1, [&](std::int64_t, std::int64_t) { strayed += std::this_thread::get_id() != self; });
  };
  workers.parallel_for(100, 1, [&](std::int64_t, std::int64_t) { nested(); });
  CHECK(strayed == 0);
  device_pool devices(4);
  const std::array<int, 4> four{0, 1, 2, 3};
  devices.run(four, [&](int) { nested(); });
  CHECK(strayed == 0);
}

TEST_CASE("a loop in a run of one device uses all threads, which all belong to the device", "[parallel_for]") {
  worker_pool workers(4);
  device_pool devices(4);
  const int device = 3;
  std::atomic<int> elsewhere{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  devices.run({&device, 1}, [&](int) {
    workers.parallel_for(16, 1, [&](std::int64_t, std::int64_t) {
      elsewhere += current_device() != 3;
      std::unique_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
  });
  CHECK(elsewhere == 0);
  CHECK(threads.size() == 4);
}

TEST_CASE("the first exception of a loop is rethrown and the pool stays usable", "[parallel_for]") {
  worker_pool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    CHECK_THROWS_WITH(pool.parallel_for(100, 1,
                                        [&](std::int64_t begin, std::int64_t end) {
                                          if (begin <= repeat % 100 && repeat % 100 < end) {
                                            throw std::runtime_error("index " + std::to_string(repeat % 100));
                                          }
                                        }),
                      "index " + std::to_string(repeat % 100));
    std::atomic<std::int64_t> total{0};
    pool.parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) { total += end - begin; });
    REQUIRE(total == 100);
  }
}

/// Waits until `reached()`; false where that takes very long.
template <class Condition> bool wait_until(const Condition& reached) {
  for (int i = 0; i < 10'000 && !reached(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return reached();
}

TEST_CASE("the first of several exceptions is rethrown", "[parallel_for]") {
  worker_pool pool(4);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::atomic<int> begun{0};
    std::atomic<bool> is_thrown{false};
    CHECK_THROWS_WITH(pool.parallel_for(16, 1,
                                        [&](std::int64_t, std::int64_t) {
                                          const int turn = begun++;
                                          if (turn > 1) return;
                                          wait_until([&] { return begun > 1; });
                                          if (turn == 0) {
                                            is_thrown = true;
                                            throw std::runtime_error("the first");
                                          }
                                          wait_until([&] { return is_thrown.load(); });
                                          std::this_thread::sleep_for(std::chrono::milliseconds(20)); // it is caught
                                          throw std::runtime_error("the second");
                                        }),
                      "the first");
  }
}

TEST_CASE("a loop ends when all threads have done their part", "[parallel_for]") {
  worker_pool pool(4);
  const auto self = std::this_thread::get_id();
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::atomic<int> begun_elsewhere{0}, ended_elsewhere{0};
    pool.parallel_for(16, 1, [&](std::int64_t, std::int64_t) {
      if (std::this_thread::get_id() == self) {
        wait_until([&] { return begun_elsewhere > 0; });
        return;
      }
      ++begun_elsewhere;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended_elsewhere;
    });
    CHECK(ended_elsewhere > 0);
    CHECK(ended_elsewhere == begun_elsewhere);
  }
}

TEST_CASE("thousands of loops in a row, from two threads", "[parallel_for]") {
  worker_pool pool(3);
  std::atomic<int> wrong{0};
  const auto loops = [&] {
    std::vector<int> data(64);
    for (int repeat = 0; repeat < 5000; ++repeat) {
      pool.parallel_for(64, 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) data[static_cast<std::size_t>(i)] = repeat;
      });
      wrong += !std::all_of(data.begin(), data.end(), [&](int value) { return value == repeat; });
    }
  };
  std::thread other(loops);
  loops();
  other.join();
  CHECK(wrong == 0);
}

TEST_CASE("the process-wide pools follow the environment", "[parallel_for]") {
  CHECK(worker_pool::instance().threads() == environment_integer("PARALLAX_HOST_THREADS", core_count(), 1, 4096));
  CHECK(device_pool::instance().size() == environment_integer("PARALLAX_HOST_DEVICES", core_count(), 1, 4096));
  std::atomic<std::int64_t> total{0};
  parallel_for(1000, 10, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) total += i;
  });
  CHECK(total == 499500);
}

} // namespace parallel_for_test
