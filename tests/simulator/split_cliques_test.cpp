// The simulator's cliques that are split: what the parts do, and what a split must not meet.
#include "support/simulator/team.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <vector>

namespace split_cliques_test {

using namespace simulator;

namespace {

/// A clique of four devices in two parts: devices 0 and 3, where 3 is rank 0, and device 1 alone; 2 is in none.
struct split_team {
  explicit split_team(const team& all) : children(4) {
    std::vector<communicator_handle*> places;
    for (communicator_handle& each : children) places.push_back(&each);
    const std::vector<clique_place> where{{0, 1}, {1, 0}, {-1, 0}, {0, 0}};
    check(api::split_clique(places, all.communicators, where));
  }
  split_team(const split_team&) = delete;
  split_team& operator=(const split_team&) = delete;
  ~split_team() {
    for (const communicator_handle each : children)
      if (each.number != 0) static_cast<void>(api::destroy_communicator(each));
  }
  void settle() const {
    for (const communicator_handle each : children)
      while (each.number != 0 && !is_ready(api::communicator_state(each))) {
      }
  }
  std::vector<communicator_handle> children;
};

} // namespace

TEST_CASE("A clique is split into parts") {
  under_seeds(100, {.devices = 4}, [](machine&) {
    const team all(4);
    const auto in = numbers(all, 2), out = room_for(all, 4), sums = room_for(all, 2);
    const split_team parts(all);
    all.settle();
    REQUIRE(parts.children[2].number == 0);
    parts.settle();
    check(api::group_start());
    for (const std::size_t r : {0u, 3u})
      check(api::all_gather(in[r].data, out[r].data, 2, f32, parts.children[r], all.queues[r].stream));
    check(api::all_gather(in[1].data, out[1].data, 2, f32, parts.children[1], all.queues[1].stream));
    static_cast<void>(is_ready(api::group_end()));
    parts.settle();
    together(all, [&](std::size_t r) { reduce(all, in[r], sums[r], r); }); // the whole is of use as before
    for (const std::size_t r : {0u, 3u}) REQUIRE(get(out[r]) == std::vector<float>{30, 31, 0, 1});
    for (const auto& each : sums) REQUIRE(get(each) == std::vector<float>{60, 64});
  });
}

TEST_CASE("What a split must not meet is found") {
  const auto program = [](auto call) {
    return fault_of([&] {
      under_seeds(100, {.devices = 4}, [&](machine&) {
        const team all(4);
        call(all);
        all.wait();
      });
    });
  };
  // new communicators that nobody waited for
  CHECK(has(program([](const team& all) {
              const auto in = numbers(all, 1), out = room_for(all, 1);
              const split_team parts(all);
              check(api::all_reduce(in[1].data, out[1].data, 1, f32, reduction_kind::sum, parts.children[1],
                                    all.queues[1].stream));
              all.settle();
            }),
            "of a null communicator"));
  CHECK(has(program([](const team& all) {
              const split_team parts(all);
              const split_team again(all);
              all.settle();
            }),
            "which is not ready"));
  CHECK(has(program([](const team& all) {
              const auto in = numbers(all, 1), out = room_for(all, 1);
              together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
              const split_team parts(all);
              all.settle();
            }),
            "with work left"));
  CHECK(has(program([](const team& all) {
              std::vector<communicator_handle> made(3);
              const std::vector<communicator_handle*> places{&made[0], &made[1], &made[2]};
              const std::vector<communicator_handle> some(all.communicators.begin(), all.communicators.end() - 1);
              static_cast<void>(api::split_clique(places, some, std::vector<clique_place>(3)));
            }),
            "split_clique needs all communicators of a clique"));
}

} // namespace split_cliques_test
