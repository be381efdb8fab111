// The simulator's streams, events and memory: what is in order runs in order, and what is not is found.
#include "support/simulator/programs.hpp"
#include "support/test.hpp"

#include <set>
#include <string>
#include <vector>

namespace order_test {

namespace {

using namespace simulator;

constexpr machine_options two_devices{.devices = 2};

/// Device 1 gets what device 0 writes: at once, or once an event says so.
std::vector<float> hand_over(bool waits) {
  const queue first(0), second(1);
  const floats source(first, 5), target(second, 5);
  put(source, {1, 2, 3, 4, 5});
  check(api::fill_zero(source.data, source.bytes(), first.stream));
  if (waits) second.wait_for(first);
  check(api::copy_between(target.data, 1, source.data, 0, source.bytes(), second.stream));
  if (waits) first.wait_for(second);
  return get(target);
}

} // namespace

TEST_CASE("An event orders two streams under every seed") {
  under_seeds(100, two_devices, [](machine&) { REQUIRE(hand_over(true) == std::vector<float>(5, 0)); });
}

TEST_CASE("A missing event is found under every seed") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string text = fault_of([&] {
      under_seeds(1, {.devices = 2, .seed = seed}, [&](machine& on) {
        hand_over(false);
        on.drain();
      });
    });
    REQUIRE(has(text, "a missing event: "));
    REQUIRE(has(text, "of allocation 1 (20 bytes on device 0), and nothing orders it with "));
  }
}

TEST_CASE("Operations run at once or later, and those of streams that nothing orders in either order") {
  std::set<bool> at_once;
  std::set<std::vector<bool>> done;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    machine on({.devices = 2, .seed = seed});
    {
      const queue first(0), second(1);
      const floats a(first, 1), b(second, 1);
      const pinned to(2);
      for (int i = 0; i < 20; ++i) {
        check(api::fill_zero(a.data, 4, first.stream));
        check(api::fill_zero(b.data, 4, second.stream));
      }
      check(api::copy_to_host(to.data, a.data, 4, first.stream));
      check(api::copy_to_host(to.data + 1, b.data, 4, second.stream));
      at_once.insert(to.data[0] == 0);
      while (!is_ready(api::query_stream(first.stream))) done.insert({to.data[0] == 0, to.data[1] == 0});
      second.wait();
    }
    on.finish();
  }
  CHECK(at_once.size() == 2);
  CHECK(done.contains({false, true}));
  CHECK(done.contains({false, false}));
}

TEST_CASE("The same seed gives the same run") {
  const auto polls = [](std::uint64_t seed) {
    machine on({.devices = 2, .seed = seed});
    hand_over(true);
    return on.calls();
  };
  std::set<std::uint64_t> different;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    REQUIRE(polls(seed) == polls(seed));
    different.insert(polls(seed));
  }
  CHECK(different.size() > 1);
}

TEST_CASE("Memory used by another stream before its allocation is ordered is found") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = fault_of([&] {
      machine on({.devices = 1, .seed = seed});
      const queue first, second;
      const floats source(first, 4);
      check(api::fill_zero(source.data, 16, second.stream));
      on.drain();
    });
    REQUIRE(has(text, "a missing event"));
  }
  under_seeds(50, {.devices = 1}, [](machine&) {
    const queue first, second;
    const floats source(first, 4);
    second.wait_for(first);
    check(api::fill_zero(source.data, 16, second.stream));
    first.wait_for(second);
  });
}

TEST_CASE("Memory released while another stream may read it is found") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = fault_of([&] {
      under_seeds(1, {.devices = 1, .seed = seed}, [](machine&) {
        const queue first, second;
        const floats target(second, 4);
        {
          const floats source(first, 4);
          check(api::fill_zero(source.data, 16, first.stream));
          second.wait_for(first);
          check(api::copy_between(target.data, 0, source.data, 0, 16, second.stream));
        } // where first should have waited for second
      });
    });
    REQUIRE((has(text, "a missing event: release") || has(text, "after its release")));
  }
}

TEST_CASE("A leaked buffer is found") {
  const auto leak = [](bool released) {
    under_seeds(100, {.devices = 1}, [&](machine&) {
      const queue on;
      void* memory = nullptr;
      check(api::allocate(memory, 12, on.stream));
      if (released) check(api::release(memory, on.stream));
    });
  };
  CHECK(fault_of([&] { leak(false); }) == "a leak: allocation 1 (12 bytes on device 0) was never released");
  CHECK(fault_of([&] { leak(true); }).empty());
}

TEST_CASE("Other leaks are found") {
  const auto after = [](auto program) {
    return fault_of([&] { under_seeds(1, two_devices, [&](machine&) { program(); }); });
  };
  CHECK(has(after([] {
              void* memory = nullptr;
              check(api::allocate_pinned(memory, 8));
            }),
            "a leak: pinned memory 1 (8 bytes) was never released"));
  CHECK(after([] {
          stream_handle stream;
          check(api::create_stream(stream));
        }) == "a leak: stream 1 on device 0 was never destroyed");
  CHECK(after([] {
          event_handle event;
          check(api::create_event(event));
        }) == "a leak: an event was never destroyed");
  CHECK(after([] {
          communicator_handle clique[2];
          const int devices[] = {0, 1};
          check(api::create_clique(clique, devices));
        }) == "a leak: a communicator was never destroyed, nor 1 more");
  CHECK(after([] { check(api::group_start()); }) == "a group_start without its group_end");
}

TEST_CASE("Memory is released once, and not used afterwards") {
  const auto use = [](auto program) {
    return fault_of([&] {
      machine on({.devices = 1});
      const queue queue;
      void* memory = nullptr;
      check(api::allocate(memory, 16, queue.stream));
      check(api::release(memory, queue.stream));
      program(queue, memory);
      on.finish();
    });
  };
  CHECK(has(use([](const queue& on, void* memory) { static_cast<void>(api::release(memory, on.stream)); }),
            "was released before"));
  CHECK(has(use([](const queue& on, void* memory) { check(api::fill_zero(memory, 16, on.stream)); }),
            "writes allocation 1 (16 bytes on device 0) after its release"));
}

TEST_CASE("What nobody has written is not read") {
  const std::string text = fault_of([] {
    under_seeds(1, {.devices = 1}, [](machine&) {
      const queue on;
      const floats source(on, 4), target(on, 4);
      check(api::fill_zero(source.data, 8, on.stream));
      check(api::copy_between(target.data, 0, source.data, 0, 16, on.stream));
    });
  });
  CHECK(has(text, "reads bytes 8 to 16 of allocation 1 (16 bytes on device 0), which nothing has written"));
}

TEST_CASE("Copies stay within their memory, and its device") {
  const auto use = [](auto program) {
    return fault_of([&] {
      under_seeds(1, two_devices, [&](machine&) {
        const queue on;
        const floats memory(on, 4);
        program(on, memory);
      });
    });
  };
  CHECK(has(use([](const queue& on, const floats& memory) { check(api::fill_zero(memory.data + 1, 16, on.stream)); }),
            "writes out of bounds: bytes 4 to 20 of allocation 1 (16 bytes on device 0)"));
  CHECK(has(use([](const queue& on, const floats& memory) {
              check(api::copy_between(memory.data, 1, memory.data, 0, 4, on.stream));
            }),
            "where memory of device 1 is expected"));
  CHECK(has(use([](const queue& on, const floats& memory) {
              float local = 1;
              check(api::copy_to_device(memory.data, &local, 4, on.stream));
            }),
            "not pinned"));
}

TEST_CASE("A device's memory is limited") {
  under_seeds(1, {.devices = 1, .memory_bytes = 1000}, [](machine&) {
    const queue on;
    void* first = nullptr;
    void* second = nullptr;
    check(api::allocate(first, 900, on.stream));
    CHECK(api::allocate(second, 101, on.stream).is == status::kind::out_of_memory);
    std::size_t free = 0, total = 0;
    check(api::memory_info(free, total));
    CHECK(free == 100);
    CHECK(total == 1000);
    check(api::release(first, on.stream));
    check(api::allocate(second, 101, on.stream));
    check(api::release(second, on.stream));
  });
}

} // namespace order_test
