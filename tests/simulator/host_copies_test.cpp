// The simulator's pinned memory, and its graphs.
#include "support/simulator/programs.hpp"
#include "support/test.hpp"

#include <parallax/cuda/kernels/copies/copy_pieces.hpp>

#include <cmath>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace host_copies_test {

using namespace simulator;

TEST_CASE("Values pass through a device") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7};
  under_seeds(100, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats memory(on, values.size());
    put(memory, values);
    REQUIRE(get(memory) == values);
  });
}

TEST_CASE("Rows are copied by their pitches") {
  under_seeds(10, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats from(on, 6), to(on, 8);
    put(from, {0, 1, 2, 10, 11, 12});
    check(api::fill_zero(to.data, to.bytes(), on.stream));
    check(api::copy_rows(to.data + 1, 16, from.data + 1, 12, 8, 2, on.stream));
    REQUIRE(get(to) == std::vector<float>{0, 1, 2, 0, 0, 11, 12, 0});
  });
}

TEST_CASE("What a copy has not brought yet is wrong on the host") {
  bool any_early = false;
  under_seeds(50, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats memory(on, 3);
    const pinned to(3);
    put(memory, {1, 2, 3});
    to.data[0] = 1;
    check(api::copy_to_host(to.data, memory.data, 12, on.stream));
    any_early = any_early || std::isnan(to.data[0]);
    on.wait();
    REQUIRE(to.data[0] == 1);
  });
  CHECK(any_early);
}

TEST_CASE("Pinned memory that copies still need is not released") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = fault_of([&] {
      machine on({.devices = 1, .seed = seed});
      {
        const queue queue;
        const floats memory(queue, 4);
        const pinned from({1, 2, 3, 4});
        check(api::copy_to_device(memory.data, from.data, 16, queue.stream));
      }
      on.finish();
    });
    REQUIRE(has(text, "release_pinned of pinned memory 2 (16 bytes) "));
  }
}

TEST_CASE("Pinned memory is not changed before a copy has read it") {
  bool any = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string text = fault_of([&] {
      machine on({.devices = 1, .seed = seed});
      const queue queue;
      const floats memory(queue, 4);
      const pinned from({1, 2, 3, 4});
      check(api::copy_to_device(memory.data, from.data, 16, queue.stream));
      from.data[1] = 5;
      queue.wait();
    });
    any = any || has(text, "the host has changed pinned memory 2 (16 bytes) before copy_to_device");
  }
  CHECK(any);
}

TEST_CASE("What is captured runs when the graph is launched, as often as that") {
  under_seeds(100, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats a(on, 2), b(on, 2), c(on, 2);
    put(a, {1, 2});
    put(b, {3, 4});
    put(c, {5, 6});
    graph_handle graph;
    check(api::begin_capture(on.stream));
    check(api::copy_between(c.data, 0, b.data, 0, 8, on.stream));
    check(api::copy_between(b.data, 0, a.data, 0, 8, on.stream));
    check(api::end_capture(on.stream, graph));
    check(api::instantiate(graph));
    REQUIRE(get(c) == std::vector<float>{5, 6});
    check(api::launch_graph(graph, on.stream));
    REQUIRE(get(c) == std::vector<float>{3, 4});
    check(api::launch_graph(graph, on.stream));
    check(api::destroy_graph(graph));
    REQUIRE(get(c) == std::vector<float>{1, 2});
  });
}

TEST_CASE("A launch in a graph is given other arguments") {
  under_seeds(100, {.devices = 1}, [&](machine&) {
    const queue on;
    const floats a(on, 2), b(on, 2), c(on, 2);
    put(a, {1, 2});
    put(b, {3, 4});
    put(c, {5, 6});
    graph_handle graph;
    graph_node_handle second;
    const auto copied = [](const floats& from, const floats& to) {
      parallax::cuda::copy_pieces::arguments arguments{};
      arguments.count = 1, arguments.tiles = 1;
      arguments.pieces[0] = {reinterpret_cast<const std::byte*>(from.data), reinterpret_cast<std::byte*>(to.data), 8, 0,
                             0};
      return arguments;
    };
    const parallax::cuda::copy_pieces kernel;
    const parallax::cuda::launch_shape shape{1, 256};
    check(api::begin_capture(on.stream));
    check(api::launch(kernel, shape, on.stream, copied(a, b)));
    check(api::launch(kernel, shape, on.stream, copied(b, c)));
    check(api::last_captured(on.stream, second));
    check(api::end_capture(on.stream, graph));
    check(api::instantiate(graph));
    check(api::launch_graph(graph, on.stream));
    check(api::update_launch(graph, second, kernel, shape, copied(c, a)));
    REQUIRE(get(c) == std::vector<float>{1, 2}); // what was launched before is what it was
    put(c, {7, 8});
    check(api::launch_graph(graph, on.stream));
    REQUIRE(get(a) == std::vector<float>{7, 8});
    REQUIRE(get(b) == std::vector<float>{1, 2});
    check(api::destroy_graph(graph));
  });
}

TEST_CASE("Graphs are instantiated, and only their own nodes are updated") {
  const parallax::cuda::copy_pieces kernel;
  const parallax::cuda::copy_pieces::arguments nothing{};
  const auto with_graphs = [&](auto program) {
    return fault_of([&] {
      machine on({.devices = 1});
      std::optional<queue> queue;
      queue.emplace();
      graph_handle graphs[2];
      graph_node_handle nodes[2];
      for (int i = 0; i < 2; ++i) {
        check(api::begin_capture(queue->stream));
        check(api::launch(kernel, {1, 256}, queue->stream, nothing));
        check(api::last_captured(queue->stream, nodes[i]));
        check(api::end_capture(queue->stream, graphs[i]));
      }
      program(*queue, graphs, nodes);
    });
  };
  CHECK(with_graphs([](const queue& on, auto& graphs, auto&) { check(api::launch_graph(graphs[0], on.stream)); }) ==
        "launch_graph of a graph that was not instantiated");
  CHECK(with_graphs([&](const queue&, auto& graphs, auto& nodes) {
          check(api::instantiate(graphs[0]));
          check(api::update_launch(graphs[0], nodes[1], kernel, {1, 256}, nothing));
        }) == "update_launch of a node that is not the graph's");
  CHECK(with_graphs([](const queue& on, auto& graphs, auto&) {
          check(api::begin_capture(on.stream));
          check(api::instantiate(graphs[0]));
        }) == "instantiate while stream 1 on device 0 is captured");
}

TEST_CASE("A graph whose memory is gone is found") {
  const std::string text = fault_of([] {
    under_seeds(1, {.devices = 1}, [](machine&) {
      const queue on;
      graph_handle graph;
      {
        const floats memory(on, 2);
        check(api::begin_capture(on.stream));
        check(api::fill_zero(memory.data, 8, on.stream));
        check(api::end_capture(on.stream, graph));
        check(api::instantiate(graph));
      }
      check(api::launch_graph(graph, on.stream));
      on.wait();
    });
  });
  CHECK(has(text, "after its release"));
}

TEST_CASE("Captures end, and neither ask nor allocate") {
  const auto during = [](auto program) {
    return fault_of([&] {
      machine on({.devices = 1});
      std::optional<queue> queue;
      queue.emplace();
      check(api::begin_capture(queue->stream));
      program(*queue);
      on.finish();
    });
  };
  CHECK(during([](const queue&) {}) == "the capture of stream 1 on device 0 was never ended");
  CHECK(during([](const queue& on) { check(api::query_stream(on.stream)); }) ==
        "query_stream while stream 1 on device 0 is captured");
  CHECK(during([](const queue& on) { const floats memory(on, 2); }) ==
        "allocate while stream 1 on device 0 is captured");
}

TEST_CASE("What may wait or takes memory at once ends a capture of its thread, unless that has said so") {
  /// In one thread or another, while this one captures.
  const auto during = [](const auto& program, bool relaxed = false, bool elsewhere = false) {
    return fault_of([&] {
      machine on({.devices = 1});
      {
        const queue captured, other;
        const auto done = [&] { program(other); };
        done();
        graph_handle graph;
        check(api::begin_capture(captured.stream));
        api::capture_mode mode = api::relaxed_capture_mode;
        if (relaxed) check(api::exchange_capture_mode(mode));
        elsewhere ? std::async(std::launch::async, done).get() : done();
        if (relaxed) check(api::exchange_capture_mode(mode));
        check(api::end_capture(captured.stream, graph));
        check(api::destroy_graph(graph));
        done();
      }
      on.finish();
    });
  };
  const auto waits = [](const queue& on) { on.wait(); };
  const auto takes = [](const queue&) { const pinned memory(2); };
  const auto trims = [](const queue&) { check(api::trim_memory()); };
  CHECK(has(during(waits), "query_stream while the thread captures a stream, which CUDA does not allow"));
  CHECK(has(during(takes), "allocate_pinned while the thread captures a stream"));
  CHECK(has(during(trims), "trim_memory while the thread captures a stream"));
  for (const bool elsewhere : {false, true}) {
    CHECK(during(waits, !elsewhere, elsewhere) == "");
    CHECK(during(takes, !elsewhere, elsewhere) == "");
    CHECK(during(trims, !elsewhere, elsewhere) == "");
  }
}

TEST_CASE("A library's first call on a device, and its first question about signs, may wait") {
  const auto multiply_while_captured = [](bool before, bool keeps_signs) {
    return fault_of([&] {
      machine on({.devices = 1});
      const queue queue;
      const floats memory(queue, 64);
      graph_handle graph;
      parallax::cuda::matrix_product p;
      p.rows = p.columns = p.depth = p.left_row = p.right_depth = 4;
      p.left = memory.data, p.right = memory.data + 16, p.result = memory.data + 32;
      check(api::fill_zero(memory.data, memory.bytes(), queue.stream));
      if (keeps_signs) {
        check(api::multiply(p, 0, queue.stream));
        p.epilogue.activation = parallax::cuda::product_activation::relu;
        p.epilogue.auxiliary = memory.data + 48;
      }
      const auto ask = [&] { check(keeps_signs ? api::can_multiply(p, 0) : api::multiply(p, 0, queue.stream)); };
      if (before) ask();
      check(api::begin_capture(queue.stream));
      ask();
      check(api::end_capture(queue.stream, graph));
      check(api::destroy_graph(graph));
    });
  };
  CHECK(multiply_while_captured(true, false) == "");
  CHECK(multiply_while_captured(true, true) == "");
  CHECK(has(multiply_while_captured(false, false), "the first multiply while the thread captures a stream"));
  CHECK(has(multiply_while_captured(false, true), "can_multiply, which asks for the sign of 0, while the thread"));
}

} // namespace host_copies_test
