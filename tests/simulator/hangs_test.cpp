// Simulated machines that hang: a rank that never comes, a device that stands still.
#include "support/simulator/team.hpp"
#include "test.hpp"

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
