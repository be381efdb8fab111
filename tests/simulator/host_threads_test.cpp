// Several threads of the host on one simulated machine.
#include "support/simulator/team.hpp"
#include "support/test.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace host_threads_test {

using namespace simulator;

namespace {

/// Waits until another thread has asked that often since now.
void wait_for_questions(const machine& on, std::uint64_t count) {
  const std::uint64_t before = on.calls();
  while (on.calls() < before + count) std::this_thread::yield();
}

} // namespace

TEST_CASE("Each thread of the host has a device of its own that is current, 0 at first") {
  machine on({.devices = 2});
  {
    const queue first(0), second(1);
    auto other = std::async(std::launch::async, [] {
      const queue own;
      void* memory = nullptr;
      check(api::allocate(memory, 16, own.stream)); // would fault if another device were current
      return api::release(memory, own.stream);
    });
    check(other.get());
    void* memory = nullptr;
    check(api::allocate(memory, 16, second.stream)); // whose device is current still
    check(api::release(memory, second.stream));
  }
  on.finish();
}

TEST_CASE("Each thread of the host has groups of its own") {
  machine on({.devices = 2, .background = false});
  {
    const team all(2);
    const auto in = numbers(all, 2), out = room_for(all, 2), others = room_for(all, 2);
    check(api::group_start());
    for (std::size_t r = 0; r < 2; ++r) reduce(all, in[r], out[r], r);
    std::async(std::launch::async, [&] {
      together(all, [&](std::size_t r) { reduce(all, in[r], others[r], r, reduction_kind::max); });
    }).get();
    check(api::group_end());
    all.wait();
    REQUIRE(get(out[0]) == std::vector<float>{10, 12});
    REQUIRE(get(others[1]) == std::vector<float>{10, 11});
  }
  on.finish();
}

TEST_CASE("Threads make calls at the same time, under every seed") {
  under_seeds(20, {.devices = 4}, [](machine&) {
    std::vector<std::future<bool>> all;
    for (int device = 0; device < 4; ++device)
      all.push_back(std::async(std::launch::async, [device] {
        const queue on(device);
        bool right = true;
        for (int k = 0; k < 20; ++k) {
          const floats memory(on, 3);
          const float x = static_cast<float>(10 * device + k);
          put(memory, {x, x + 1, x + 2});
          right = right && get(memory) == std::vector<float>{x, x + 1, x + 2};
        }
        return right;
      }));
    for (auto& each : all) REQUIRE(each.get());
  });
}

TEST_CASE("A lock that one thread holds while it waits is found where another needs it to go on") {
  const auto read_while_the_other_enqueues = [](bool planted) {
    return fault_of([&] {
      machine on({.devices = 2, .time_until_stuck = std::chrono::milliseconds(100)});
      std::mutex of_the_program;
      const queue first(0), second(1);
      const floats result(first, 2), other(second, 2);
      check(api::fill_zero(other.data, other.bytes(), second.stream));
      put(result, {1, 2});
      on.stop_device(0);
      auto reader = std::async(std::launch::async, [&] {
        std::unique_lock lock(of_the_program);
        if (!planted) lock.unlock();
        static_cast<void>(get(result));
      });
      wait_for_questions(on, 20);
      {
        const std::lock_guard lock(of_the_program);
        static_cast<void>(api::set_device(1)); // the reader says what is wrong
        static_cast<void>(api::fill_zero(other.data, other.bytes(), second.stream));
      }
      on.resume_device(0);
      reader.get();
    });
  };
  CHECK(read_while_the_other_enqueues(false).empty());
  CHECK(has(read_while_the_other_enqueues(true), "and nothing can run:\n  stream 1 on device 0: stopped, "));
}

} // namespace host_threads_test
