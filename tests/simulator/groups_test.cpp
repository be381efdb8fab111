// The simulator's collectives: right results, and what NCCL would hang on or spoil.
#include "support/simulator/team.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace groups_test {

using namespace simulator;

TEST_CASE("Collectives give all ranks their results under every seed") {
  under_seeds(100, {.devices = 4}, [](machine&) {
    const team all(4);
    const auto in = numbers(all, 4), sums = room_for(all, 4), largest = room_for(all, 4), gathered = room_for(all, 16),
               scattered = room_for(all, 1);
    together(all, [&](std::size_t r) {
      reduce(all, in[r], sums[r], r);
      reduce(all, in[r], largest[r], r, reduction_kind::max);
    });
    together(all, [&](std::size_t r) {
      const communicator_handle mine = all.communicators[r];
      const stream_handle on = all.queues[r].stream;
      check(api::all_gather(in[r].data, gathered[r].data, 4, f32, mine, on));
      check(api::reduce_scatter(in[r].data, scattered[r].data, 1, f32, reduction_kind::sum, mine, on));
    });
    for (std::size_t r = 0; r < 4; ++r) {
      REQUIRE(get(sums[r]) == std::vector<float>{60, 64, 68, 72});
      REQUIRE(get(largest[r]) == std::vector<float>{30, 31, 32, 33});
      REQUIRE(get(gathered[r]) == std::vector<float>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33});
      REQUIRE(get(scattered[r]) == std::vector<float>{static_cast<float>(60 + 4 * r)});
    }
  });
}

TEST_CASE("Sends meet receives") {
  under_seeds(100, {.devices = 3}, [](machine&) {
    const team all(3);
    const auto in = numbers(all, 2), out = room_for(all, 2);
    together(all, [&](std::size_t r) {
      const int next = static_cast<int>((r + 1) % 3), previous = static_cast<int>((r + 2) % 3);
      check(api::send(in[r].data, 2, f32, next, all.communicators[r], all.queues[r].stream));
      check(api::receive(out[r].data, 2, f32, previous, all.communicators[r], all.queues[r].stream));
    });
    REQUIRE(get(out[0]) == std::vector<float>{20, 21});
    REQUIRE(get(out[1]) == std::vector<float>{0, 1});
    REQUIRE(get(out[2]) == std::vector<float>{10, 11});
  });
}

TEST_CASE("A broadcast gives all ranks what one has") {
  const auto program = [](int second_source) {
    return fault_of([&] {
      under_seeds(100, {.devices = 3}, [&](machine&) {
        const team all(3);
        const auto in = numbers(all, 2), out = room_for(all, 2);
        together(all, [&](std::size_t r) {
          const int source = r == 1 ? second_source : 2;
          check(api::broadcast(in[r].data, out[r].data, 2, f32, source, all.communicators[r], all.queues[r].stream));
        });
        for (const auto& each : out) REQUIRE(get(each) == std::vector<float>{20, 21});
      });
    });
  };
  CHECK(program(2).empty());
  CHECK(has(program(0), "mismatched collective order: call 1 of a group is broadcast of 2 float32 from rank 2"));
}

TEST_CASE("A collective orders what its members had done before it") {
  const auto program = [](bool reduces) {
    under_seeds(100, {.devices = 2}, [&](machine&) {
      const team all(2);
      const auto in = numbers(all, 2), out = room_for(all, 2);
      const floats seen(all.queues[1], 2);
      check(api::fill_zero(in[0].data, 8, all.queues[0].stream));
      if (reduces) together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
      check(api::copy_between(seen.data, 1, in[0].data, 0, 8, all.queues[1].stream));
      const std::vector<float> values = get(seen);
      all.wait();
      REQUIRE(values == std::vector<float>{0, 0});
    });
  };
  CHECK(fault_of([&] { program(true); }).empty());
  CHECK(has(fault_of([&] { program(false); }), "a missing event"));
}

TEST_CASE("A missing group is found") {
  const auto program = [](auto call) {
    return fault_of([&] {
      under_seeds(100, {.devices = 2}, [&](machine&) {
        const team all(2);
        const auto in = numbers(all, 2), out = room_for(all, 2);
        call(all, in, out);
        all.wait();
      });
    });
  };
  CHECK(program([](const team& all, const auto& in, const auto& out) {
          for (std::size_t r = 0; r < 2; ++r) reduce(all, in[r], out[r], r);
        }) == "missing group: all_reduce (sum) of 2 float32 of rank 0 of clique 1 (device 0) outside group_start and "
              "group_end");
  CHECK(has(
      program([](const team& all, const auto& in, const auto& out) {
        for (std::size_t r = 0; r < 2; ++r) {
          check(api::group_start());
          reduce(all, in[r], out[r], r);
          check(api::group_end());
        }
      }),
      "missing group: a group has all_reduce (sum) of 2 float32 of rank 0 of clique 1 (device 0) and no call of rank "
      "1 of clique 1 (device 1)"));
  CHECK(has(
      program([](const team& all, const auto& in, const auto&) {
        together(all, [&](std::size_t r) {
          if (r == 0) check(api::send(in[0].data, 2, f32, 1, all.communicators[0], all.queues[0].stream));
        });
      }),
      "missing group: a group has send of 2 float32 to rank 1 of rank 0 of clique 1 (device 0) without its receive"));
  CHECK(program([](const team& all, const auto& in, const auto& out) {
          together(all, [&](std::size_t r) { reduce(all, in[r], out[r], r); });
        }).empty());
}

TEST_CASE("A mismatched collective order is found") {
  const auto program = [](bool mismatched) {
    return fault_of([&] {
      under_seeds(100, {.devices = 2}, [&](machine&) {
        const team all(2);
        const auto a = numbers(all, 2), b = numbers(all, 3), sum_a = room_for(all, 2), sum_b = room_for(all, 3);
        together(all, [&](std::size_t r) {
          const bool swaps = mismatched && r == 1;
          reduce(all, (swaps ? b : a)[r], (swaps ? sum_b : sum_a)[r], r);
          reduce(all, (swaps ? a : b)[r], (swaps ? sum_a : sum_b)[r], r);
        });
        all.wait();
      });
    });
  };
  CHECK(has(program(true),
            "mismatched collective order: call 1 of a group is all_reduce (sum) of 2 float32 for rank 0 of "
            "clique 1 (device 0) and all_reduce (sum) of 3 float32 for rank 1 of clique 1 (device 1)"));
  CHECK(program(false).empty());
}

TEST_CASE("A mismatched order of cliques is found") {
  const auto program = [](bool mismatched) {
    return fault_of([&] {
      under_seeds(100, {.devices = 2}, [&](machine&) {
        const team first(2);
        std::vector<communicator_handle> second(2);
        const int devices[] = {1, 0};
        check(api::create_clique(second, devices));
        for (const communicator_handle each : second)
          while (!is_ready(api::communicator_state(each))) {
          }
        const auto in = numbers(first, 2), one = room_for(first, 2), other = room_for(first, 2);
        const auto reduce_second = [&](std::size_t r) {
          check(api::all_reduce(in[r].data, other[r].data, 2, f32, reduction_kind::min, second[1 - r],
                                first.queues[r].stream));
        };
        together(first, [&](std::size_t r) {
          if (mismatched && r == 1) reduce_second(r);
          reduce(first, in[r], one[r], r);
          if (!mismatched || r == 0) reduce_second(r);
        });
        for (const communicator_handle each : second)
          while (!is_ready(api::communicator_state(each))) {
          }
        first.wait();
        REQUIRE(get(other[1]) == std::vector<float>{0, 1});
        for (const communicator_handle each : second) check(api::destroy_communicator(each));
      });
    });
  };
  CHECK(program(true) == "mismatched collective order: device 0 calls for clique 1 and then for clique 2, device 1 the "
                         "other way round");
  CHECK(program(false).empty());
}

TEST_CASE("A group in the background is waited for") {
  bool any = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = fault_of([&] {
      machine on({.devices = 2, .seed = seed});
      const team all(2);
      const auto in = numbers(all, 2), out = room_for(all, 2);
      check(api::group_start());
      for (std::size_t r = 0; r < 2; ++r) reduce(all, in[r], out[r], r);
      static_cast<void>(api::group_end());
      check(api::fill_zero(in[0].data, 8, all.queues[0].stream));
      all.settle();
      all.wait();
      on.finish();
    });
    any = any || has(text, "fill_zero of stream 1 on device 0 while a group goes on for it");
  }
  CHECK(any);
}

TEST_CASE("A clique has each device once") {
  const machine on({.devices = 2});
  std::vector<communicator_handle> clique(2);
  const int twice[] = {1, 1};
  const int absent[] = {1, 2};
  CHECK(api::create_clique(clique, twice).code == 5);
  CHECK(api::create_clique(clique, absent).code == 101);
}

TEST_CASE("Calls of one group do not depend on each other") {
  const std::string text = fault_of([] {
    under_seeds(1, {.devices = 2}, [](machine&) {
      const team all(2);
      const auto in = numbers(all, 2), out = room_for(all, 2), more = room_for(all, 2);
      together(all, [&](std::size_t r) {
        reduce(all, in[r], out[r], r);
        reduce(all, out[r], more[r], r);
      });
    });
  });
  CHECK(has(text, "calls of one group depend on each other"));
}

} // namespace groups_test
