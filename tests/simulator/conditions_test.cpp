// Nodes of graphs that conditions decide: how often bodies run, and what the simulator says of those that CUDA refuses.
#include "support/simulator/programs.hpp"
#include "support/test.hpp"

#include <parallax/cuda/kernels/loop/conditions.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace conditions_test {

using namespace simulator;
using parallax::cuda::conditional_kind;
using parallax::cuda::count_rounds;
using parallax::cuda::graph_condition;

namespace {

/// Adds 1 to a number.
struct increment {
  static constexpr bool barriers = false;
  struct arguments {
    float* number;
  };
  template <class Block> static void run(const Block& block, const arguments& a) {
    block.store(a.number, block.load(a.number) + 1.f);
  }
};

/// A stream, another one for bodies, and a number.
struct bench {
  queue outer, inner;
  floats number{outer, 1};
  pinned counted{std::vector<float>{0, 0}}; ///< also room for a counter
  floats counter{outer, 2};

  bench() { put(number, {0}); }
  void add() const { check(api::launch(increment{}, {1, 1}, inner.stream, {number.data})); }
  void count(const queue& on, graph_condition more, std::int64_t before, std::int64_t rounds) const {
    check(api::launch(count_rounds{}, {1, 32}, on.stream,
                      {reinterpret_cast<std::int64_t*>(counter.data), before, before < 0 ? 1 : 0, rounds, more}));
  }
  graph_condition condition() const {
    graph_condition made;
    check(api::create_condition(made, outer.stream));
    return made;
  }
};

/// A graph that repeats a body so many times.
graph_handle repeated(const bench& b, std::int64_t rounds) {
  check(api::begin_capture(b.outer.stream));
  const graph_condition more = b.condition();
  b.count(b.outer, more, 0, rounds);
  check(api::begin_body(conditional_kind::repeatedly, more, b.outer.stream, b.inner.stream));
  b.add();
  b.count(b.inner, more, -1, rounds);
  check(api::end_body(b.inner.stream));
  graph_handle made;
  check(api::end_capture(b.outer.stream, made));
  check(api::instantiate(made));
  return made;
}

} // namespace

TEST_CASE("a body is repeated as long as its condition holds, at each launch") {
  under_seeds(20, {.devices = 1}, [](machine&) {
    const bench b;
    for (std::int64_t rounds : {0, 1, 5}) {
      const graph_handle graph = repeated(b, rounds);
      put(b.number, {10});
      for (int launch = 0; launch < 2; ++launch) check(api::launch_graph(graph, b.outer.stream));
      CHECK(get(b.number)[0] == 10.f + 2.f * static_cast<float>(rounds));
      check(api::destroy_graph(graph));
    }
  });
}

TEST_CASE("a condition is 0 until a kernel sets it") {
  machine on({.devices = 1});
  {
    const bench b;
    check(api::begin_capture(b.outer.stream));
    const graph_condition never = b.condition();
    check(api::begin_body(conditional_kind::once, never, b.outer.stream, b.inner.stream));
    b.add();
    check(api::end_body(b.inner.stream));
    graph_handle graph;
    check(api::end_capture(b.outer.stream, graph));
    check(api::instantiate(graph));
    check(api::launch_graph(graph, b.outer.stream));
    CHECK(get(b.number)[0] == 0);
    check(api::destroy_graph(graph));
  }
  on.finish();
}

TEST_CASE("what CUDA refuses of conditions is a fault") {
  auto fault_on = [](const auto& program) {
    return fault_of([&] {
      machine on({.devices = 1});
      const bench b;
      program(b);
      on.finish();
    });
  };
  CHECK(has(fault_on([](const bench& b) { b.condition(); }), "create_condition while stream"));
  CHECK(has(fault_on([](const bench& b) {
              b.count(b.outer, {12345}, 0, 1);
              b.outer.wait();
            }),
            "sets a condition outside of any graph"));
  CHECK(has(fault_on([](const bench& b) { // of another graph
              check(api::begin_capture(b.outer.stream));
              const graph_condition other = b.condition();
              graph_handle first, second;
              check(api::end_capture(b.outer.stream, first));
              check(api::begin_capture(b.outer.stream));
              b.count(b.outer, other, 0, 1);
              check(api::end_capture(b.outer.stream, second));
              check(api::instantiate(second));
              check(api::launch_graph(second, b.outer.stream));
              b.outer.wait();
            }),
            "sets a condition that is not its graph's"));
  CHECK(has(fault_on([](const bench& b) { // a node in another graph than its condition's
              check(api::begin_capture(b.outer.stream));
              const graph_condition first = b.condition(), second = b.condition();
              check(api::begin_body(conditional_kind::once, first, b.outer.stream, b.inner.stream));
              const queue innermost;
              check(api::begin_body(conditional_kind::once, second, b.inner.stream, innermost.stream));
            }),
            "begin_body of a condition that is not the graph's"));
  CHECK(has(fault_on([](const bench& b) { // two nodes of one condition
              check(api::begin_capture(b.outer.stream));
              const graph_condition first = b.condition();
              check(api::begin_body(conditional_kind::once, first, b.outer.stream, b.inner.stream));
              check(api::end_body(b.inner.stream));
              check(api::begin_body(conditional_kind::once, first, b.outer.stream, b.inner.stream));
            }),
            "or has a node already"));
  CHECK(has(fault_on([](const bench& b) { // a body that is left open
              check(api::begin_capture(b.outer.stream));
              check(api::begin_body(conditional_kind::once, b.condition(), b.outer.stream, b.inner.stream));
              graph_handle graph;
              check(api::end_capture(b.outer.stream, graph));
            }),
            "captures the body of a conditional node"));
  CHECK(has(fault_on([](const bench& b) { // a copy of the host's memory
              check(api::begin_capture(b.outer.stream));
              check(api::begin_body(conditional_kind::once, b.condition(), b.outer.stream, b.inner.stream));
              check(api::copy_to_device(b.number.data, b.counted.data, 4, b.inner.stream));
              check(api::end_body(b.inner.stream));
            }),
            "a conditional node's body with copy_to_device, which CUDA does not allow"));
}

} // namespace conditions_test
