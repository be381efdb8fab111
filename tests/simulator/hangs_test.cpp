// Simulated machines that hang: a rank that never comes, a device that stands still.
#include "support/simulator/team.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hangs_test {

using namespace simulator;

TEST_CASE("A dropped rank is found") {
  const auto program = [](bool drops) {
    return fault_of([&] {
      under_seeds(100, {.devices = 3, .background = false}, [&](machine& on) {
        const team all(3);
        const auto in = numbers(all, 2), out = room_for(all, 2);
        if (drops) on.drop_rank(2);
        together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
        all.wait();
      });
    });
  };
  const std::string text = program(true);
  CHECK(has(text, "stuck: the host has asked 1000 times, and nothing can run:"));
  CHECK(has(text,
            "stream 1 on device 0: all_reduce (sum) of 2 float32, rank 0 of clique 1, waits for rank 2 (device 2, "
            "dropped)"));
  CHECK(program(false).empty());
}

TEST_CASE("The host sees a hang or a failure of a peer, and an abort ends it") {
  for (const bool says_so : {false, true})
    under_seeds(50, {.devices = 3, .fail_when_stuck = false}, [&](machine& on) {
      team all(3);
      const auto in = numbers(all, 2), out = room_for(all, 2);
      says_so ? on.fail_rank(1) : on.drop_rank(1);
      check(api::group_start());
      for (std::size_t r = 0; r < 3; ++r) reduce(all, in[r], out[r], r);
      const status ended = api::group_end();
      REQUIRE(ended.is != status::kind::failure);
      status seen;
      for (int i = 0; i < 2000; ++i) {
        seen = api::communicator_state(all.communicators[says_so ? 1 : 0]);
        if (seen.is == status::kind::success) seen = api::query_stream(all.queues[0].stream);
        if (seen.is != status::kind::not_ready) break;
      }
      REQUIRE(seen.is == (says_so ? status::kind::failure : status::kind::not_ready));
      all.abort();
      all.wait();
    });
}

TEST_CASE("An abort waits for its devices, where another clique's collective may go on") {
  const auto abort = [](bool all_together) {
    return fault_of([&] {
      machine on({.devices = 2, .background = false, .fail_when_stuck = false});
      team first(2), second(2);
      const auto in = numbers(first, 2), out = room_for(first, 2), others = room_for(second, 2);
      on.drop_rank(1);
      together(first, [&](std::size_t r) { reduce(first, in[r], out[r], r); });
      together(second, [&](std::size_t r) { reduce(second, others[r], others[r], r); });
      on.drain();
      std::vector<communicator_handle> all = std::exchange(second.communicators, {});
      if (all_together) {
        all.insert(all.end(), first.communicators.begin(), first.communicators.end());
        first.communicators.clear();
      }
      static_cast<void>(api::abort_communicators(all)); // the next call says what is wrong
      static_cast<void>(api::query_stream(first.queues[0].stream));
      on.drain();
    });
  };
  CHECK(abort(true).empty());
  CHECK(has(abort(false),
            "where all_reduce (sum) of 2 float32 of rank 0 of clique 1 (device 0) goes on, which is not aborted"));
}

TEST_CASE("A queue that is full of what the host has not made possible yet is found") {
  const auto enqueue = [](int count) {
    return fault_of([&] {
      under_seeds(20, {.devices = 2, .queue_capacity = 8}, [&](machine& on) {
        const queue first(0);
        const floats memory(first, 2);
        on.drain();
        on.stop_device(0); // what goes on there ends when the host says so below
        for (int k = 0; k < count; ++k) check(api::fill_zero(memory.data, memory.bytes(), first.stream));
        on.resume_device(0);
      });
    });
  };
  CHECK(enqueue(8).empty());
  CHECK(has(enqueue(9), "stuck: fill_zero waits for room in the queue of stream 1 on device 0, and nothing can run:"));
}

TEST_CASE("A queue that is full takes more as the devices go on") {
  under_seeds(50, {.devices = 2, .queue_capacity = 2}, [](machine& on) {
    const team all(2);
    const auto in = numbers(all, 2), out = room_for(all, 2);
    for (int k = 0; k < 10; ++k) {
      together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
      for (std::size_t d = 0; d < 2; ++d) {
        all.queues[d].activate();
        check(api::copy_between(in[d].data, static_cast<int>(d), out[d].data, static_cast<int>(d), 8,
                                all.queues[d].stream));
        REQUIRE(on.inside().scheduled.streams()[d]->queue.size() <= 2);
      }
    }
    REQUIRE(get(in[1]) == std::vector<float>{10 * 512, 12 * 512});
  });
}

TEST_CASE("Pinned memory that is released while a device goes on for ever is found") {
  const auto release = [](bool goes_on) {
    return fault_of([&] {
      machine on({.devices = 2});
      const queue first(0), second(1);
      const floats memory(second, 2);
      on.drain();
      if (goes_on) on.stop_device(1);
      check(api::fill_zero(memory.data, memory.bytes(), second.stream));
      {
        const pinned block(2);
      }
      check(api::set_device(0)); // says what is wrong
      on.resume_device(1);
      on.drain();
    });
  };
  CHECK(release(false).empty());
  CHECK(has(release(true),
            "release_pinned waits for all devices, and nothing can run:\n  stream 2 on device 1: stopped"));
}

TEST_CASE("A stopped device holds the others up until it goes on") {
  under_seeds(50, {.devices = 2, .background = false, .fail_when_stuck = false}, [](machine& on) {
    const team all(2);
    const auto in = numbers(all, 2), out = room_for(all, 2);
    on.stop_device(1);
    together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
    on.drain();
    REQUIRE(api::query_stream(all.queues[0].stream).is == status::kind::not_ready);
    on.resume_device(1);
    REQUIRE(get(out[0]) == std::vector<float>{10, 12});
    all.wait();
  });
}

} // namespace hangs_test
