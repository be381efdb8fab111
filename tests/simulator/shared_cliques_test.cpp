// Cliques whose members several processes have: what the simulated machine of one tells the others, and waits for.
#include "support/simulator/programs.hpp"
#include "support/simulator/shared_steps.hpp"
#include "support/test.hpp"

#include <cstddef>
#include <vector>

namespace shared_cliques_test {

using namespace simulator;

namespace {

/// Device 0 as rank 0 of two, the other being in a process that the test plays.
struct half_of_two {
  half_of_two() : others((check(api::create_clique_id(name)), name.folder.data())) {
    const int device = 0, rank = 0;
    check(api::join_clique({&own, 1}, {&device, 1}, {&rank, 1}, 2, name));
  }
  half_of_two(const half_of_two&) = delete;
  half_of_two& operator=(const half_of_two&) = delete;
  ~half_of_two() { static_cast<void>(api::destroy_communicator(own)); }

  bool is_ready() const { return parallax::cuda::is_ready(api::communicator_state(own)); }
  void settle() const {
    while (!is_ready()) {
    }
  }
  void come() const {
    others.leave("member1", {});
    settle();
  }
  /// What the other process has for a collective of this one.
  void answer(const char* file, collective_kind kind, const std::vector<float>& values, int peer = -1) const {
    byte_string content = as_bytes(detail::told_call{
        .kind = kind, .count = values.size(), .type = parallax::element_type::float32, .how = {}, .peer = peer});
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    content.insert(content.end(), first, first + values.size() * sizeof(float));
    others.leave(file, content);
  }
  void sum(const floats& from, const floats& to) const {
    check(api::group_start());
    check(api::all_reduce(from.data, to.data, from.count, parallax::element_type::float32, reduction_kind::sum, own,
                          from.on->stream));
    const status ended = api::group_end();
    if (ended.is != status::kind::not_ready) check(ended);
    settle();
  }

  clique_name name;
  meeting others;
  communicator_handle own;
};

} // namespace

TEST_CASE("Members of other processes are waited for, and what they have is combined") {
  under_seeds(20, {.devices = 1}, [](machine&) {
    const half_of_two clique;
    for (int k = 0; k < 10; ++k) CHECK(!clique.is_ready());
    clique.come();
    const queue on;
    const floats in(on, 2), out(on, 2);
    put(in, {1, 2});
    for (float round : {1.f, 2.f}) {
      clique.sum(in, out);
      for (int k = 0; k < 10; ++k) CHECK(!is_ready(api::query_stream(on.stream)));
      clique.answer(round == 1 ? "collective0of1" : "collective1of1", collective_kind::all_reduce, {10, 20 * round});
      CHECK(get(out) == std::vector<float>{11, 2 + 20 * round});
    }
    CHECK(clique.others.find("collective0of0")); // for them
  });
}

TEST_CASE("Messages between processes are matched by their order") {
  under_seeds(20, {.devices = 1}, [](machine&) {
    const half_of_two clique;
    clique.come();
    const queue on;
    const floats in(on, 2), out(on, 2);
    put(in, {1, 2});
    clique.answer("message0of1to0", collective_kind::send, {3, 4}, 0);
    check(api::group_start());
    check(api::send(in.data, 2, parallax::element_type::float32, 1, clique.own, on.stream));
    check(api::receive(out.data, 2, parallax::element_type::float32, 1, clique.own, on.stream));
    static_cast<void>(api::group_end());
    clique.settle();
    CHECK(get(out) == std::vector<float>{3, 4});
    CHECK(clique.others.find("message0of0to1"));
  });
}

TEST_CASE("A collective that meets another one is a fault") {
  const auto meets = [](collective_kind kind, const std::vector<float>& values) {
    return fault_of([&] {
      under_seeds(1, {.devices = 1}, [&](machine&) {
        const half_of_two clique;
        clique.come();
        const queue on;
        const floats in(on, 2), out(on, 2);
        put(in, {1, 2});
        clique.sum(in, out);
        clique.answer("collective0of1", kind, values);
        get(out);
      });
    });
  };
  const std::string text = meets(collective_kind::all_gather, {1, 2});
  CHECK(has(text, "mismatched collectives: all_reduce (sum) of 2 float32"));
  CHECK(has(text, "meets all_gather of 2 float32 of rank 1 in another process"));
  CHECK(has(meets(collective_kind::all_reduce, {1, 2, 3}), "meets all_reduce (sum) of 3 float32"));
}

TEST_CASE("A clique is split among processes once all have said how") {
  under_seeds(20, {.devices = 1}, [](machine&) {
    const half_of_two clique;
    clique.come();
    struct place {
      int clique, key;
    };
    communicator_handle pair;
    communicator_handle* const child = &pair;
    const clique_place first{0, 0};
    check(api::split_clique({&child, 1}, {&clique.own, 1}, {&first, 1}));
    for (int k = 0; k < 10; ++k) CHECK(!clique.is_ready());
    clique.others.leave("split0of1", as_bytes(place{0, 1}));
    clique.settle();
    REQUIRE(pair != communicator_handle{});
    check(api::destroy_communicator(pair));
  });
}

namespace {

/// A sum on a stream that is captured meanwhile.
graph_handle captured_sum(const half_of_two& clique, const floats& in, const floats& out) {
  graph_handle graph;
  check(api::begin_capture(in.on->stream));
  clique.sum(in, out);
  check(api::end_capture(in.on->stream, graph));
  check(api::instantiate(graph));
  return graph;
}

} // namespace

TEST_CASE("A collective of a graph happens at each launch") {
  under_seeds(20, {.devices = 1}, [](machine&) {
    const half_of_two clique;
    clique.come();
    const queue on;
    const floats in(on, 2), out(on, 2);
    const graph_handle graph = captured_sum(clique, in, out);
    CHECK(!clique.others.find("collective0of0"));
    for (float round : {1.f, 2.f}) {
      put(in, {round, 2});
      check(api::launch_graph(graph, on.stream));
      for (int k = 0; k < 10; ++k) CHECK(!is_ready(api::query_stream(on.stream)));
      clique.answer(round == 1 ? "collective0of1" : "collective1of1", collective_kind::all_reduce, {10, 20});
      CHECK(get(out) == std::vector<float>{10 + round, 22});
    }
    check(api::destroy_graph(graph));
  });
}

TEST_CASE("What NCCL does not do with graphs is a fault") {
  const auto fault_on = [](const auto& program) {
    return fault_of([&] {
      machine on({.devices = 1});
      const half_of_two clique;
      clique.come();
      const queue outer;
      const floats in(outer, 2), out(outer, 2);
      program(clique, in, out);
      on.finish();
    });
  };
  const auto left = [](const half_of_two& clique, const floats& in, const floats& out) {
    captured_sum(clique, in, out);
    static_cast<void>(api::destroy_communicator(clique.own)); // the next call says so
    clique.settle();
  };
  CHECK(has(fault_on(left), "(device 0), which waits for a graph that has calls of it"));
  const auto conditional = [](const half_of_two& clique, const floats& in, const floats& out) {
    const queue inner;
    const floats from(inner, 2);
    check(api::begin_capture(in.on->stream));
    parallax::cuda::graph_condition once;
    check(api::create_condition(once, in.on->stream));
    check(api::begin_body(parallax::cuda::conditional_kind::once, once, in.on->stream, inner.stream));
    clique.sum(from, out);
    check(api::end_body(inner.stream));
  };
  CHECK(has(fault_on(conditional), "a conditional node's body with all_reduce, which CUDA does not allow"));
  const auto in_part = [](const half_of_two& clique, const floats& in, const floats& out) {
    const queue other;
    check(api::begin_capture(in.on->stream));
    check(api::group_start());
    check(api::send(in.data, 2, parallax::element_type::float32, 1, clique.own, in.on->stream));
    check(api::receive(out.data, 2, parallax::element_type::float32, 1, clique.own, other.stream));
    static_cast<void>(api::group_end());
  };
  CHECK(has(fault_on(in_part), "a group of 2 streams, of which 1 are captured"));
}

} // namespace shared_cliques_test
