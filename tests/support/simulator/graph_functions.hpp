// The simulated api's graphs: how they are captured, with conditional nodes, and launched.
#pragma once

#include "support/simulator/group.hpp"
#include "support/simulator/kernel_functions.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace simulator {

struct graph_functions : kernel_functions {
  /// What a thread may do while it captures.
  enum class capture_mode : unsigned char { safe, relaxed };
  static constexpr capture_mode relaxed_capture_mode = capture_mode::relaxed;
  static status exchange_capture_mode(capture_mode& mode) {
    return call("exchange_capture_mode", ending, [&](world& w) {
      if (w.failing) return status{};
      const bool before = std::exchange(w.caller->may_be_unsafe, mode == capture_mode::relaxed);
      mode = before ? capture_mode::relaxed : capture_mode::safe;
      return status{};
    });
  }

  static status begin_capture(stream_handle on) {
    return call("begin_capture", [&](world& w) {
      stream_state& stream = w.stream(on.number, "begin_capture");
      if (stream.capture != nullptr) fail("begin_capture while ", stream.name(), " is captured");
      stream.capture = std::make_shared<graph_state>();
      stream.capture->number = world::new_number();
      stream.capture->device = stream.device;
      ++w.caller->captures;
      return status{};
    });
  }

  static status last_captured(stream_handle on, graph_node_handle& node) {
    return call("last_captured", [&](world& w) {
      const stream_state& stream = w.stream(on.number, "last_captured");
      if (stream.capture == nullptr) fail("last_captured while ", stream.name(), " is not captured");
      if (stream.capture->operations.empty()) fail("last_captured before anything was");
      node = {stream.capture->number, stream.capture->operations.size()};
      return status{};
    });
  }

  static status end_capture(stream_handle on, graph_handle& graph) {
    return call("end_capture", call_traits{.closes = true}, [&](world& w) {
      stream_state& stream = w.stream(on.number, "end_capture");
      if (stream.capture == nullptr) fail("end_capture while ", stream.name(), " is not captured");
      if (stream.capture->whole != nullptr) fail("end_capture of a conditional node's body on ", stream.name());
      for (const auto& each : w.scheduled.streams())
        if (each->capture != nullptr && each->capture->whole == stream.capture.get())
          fail("end_capture while ", each->name(), " captures the body of a conditional node");
      std::shared_ptr<graph_state> captured = std::exchange(stream.capture, nullptr);
      end_capture_of_thread(w, "end_capture");
      if (w.failing) return status{};
      graph.number = world::new_number();
      w.graphs.emplace(graph.number, std::move(captured));
      return status{};
    });
  }

  static status can_branch(bool& possible) {
    return call("can_branch", [&](world& w) {
      possible = w.options.conditional_graphs;
      return status{};
    });
  }

  static status create_condition(parallax::cuda::graph_condition& made, stream_handle on) {
    return call("create_condition", [&](world& w) {
      stream_state& stream = w.stream(on.number, "create_condition");
      if (!w.options.conditional_graphs) fail("create_condition on a machine whose graphs have none");
      if (stream.capture == nullptr) fail("create_condition while ", stream.name(), " is not captured");
      made.handle = world::new_number();
      stream.capture->own_conditions.insert(made.handle);
      whole_graph(stream).conditions.insert(made.handle);
      return status{};
    });
  }

  static status begin_body(parallax::cuda::conditional_kind kind, parallax::cuda::graph_condition condition,
                           stream_handle on, stream_handle inner) {
    return call("begin_body", [&](world& w) {
      stream_state& stream = w.stream(on.number, "begin_body");
      stream_state& body = w.stream(inner.number, "begin_body");
      if (stream.capture == nullptr) fail("begin_body while ", stream.name(), " is not captured");
      if (body.capture != nullptr) fail("begin_body on ", body.name(), ", which is captured already");
      if (!body.queue.empty()) fail("begin_body on ", body.name(), ", which has work");
      if (body.device != stream.device) fail("begin_body of ", stream.name(), " on ", body.name());
      if (stream.capture->own_conditions.erase(condition.handle) == 0)
        fail("begin_body of a condition that is not the graph's, or has a node already");
      body.capture = std::make_shared<graph_state>();
      body.capture->number = world::new_number();
      body.capture->device = stream.device;
      body.capture->whole = &whole_graph(stream);
      ++w.caller->captures;
      stream.capture->operations.push_back({.name = "conditional node",
                                            .body = body.capture,
                                            .condition = condition.handle,
                                            .repeats = kind == parallax::cuda::conditional_kind::repeatedly});
      return status{};
    });
  }

  static status end_body(stream_handle inner) {
    return call("end_body", call_traits{.closes = true}, [&](world& w) {
      stream_state& body = w.stream(inner.number, "end_body");
      if (body.capture == nullptr || body.capture->whole == nullptr)
        fail("end_body on ", body.name(), ", where no body is captured");
      for (const operation& each : body.capture->operations)
        if (each.waits_for != nullptr || each.records != nullptr || each.step != nullptr ||
            each.pinned.pointer != nullptr || each.calls != nullptr)
          fail("a conditional node's body with ", each.name, ", which CUDA does not allow");
      body.capture->whole = nullptr;
      body.capture = nullptr;
      end_capture_of_thread(w, "end_body");
      return status{};
    });
  }

  static status instantiate(graph_handle& graph) {
    return call("instantiate", [&](world& w) {
      const auto found = w.graphs.find(graph.number);
      if (found == w.graphs.end())
        fail("instantiate of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      for (const auto& each : w.scheduled.streams())
        if (each->capture != nullptr) fail("instantiate while ", each->name(), " is captured");
      found->second->instantiated = true;
      return status{};
    });
  }

  static status launch_graph(graph_handle graph, stream_handle on) {
    return call("launch_graph", [&](world& w) {
      stream_state& stream = w.current_stream(on.number, "launch_graph");
      const auto found = w.graphs.find(graph.number);
      if (found == w.graphs.end())
        fail("launch_graph of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      if (stream.capture != nullptr) fail("launch_graph while ", stream.name(), " is captured");
      if (!found->second->instantiated) fail("launch_graph of a graph that was not instantiated");
      if (found->second->device != stream.device)
        fail("launch_graph of a graph of device ", found->second->device, " on ", stream.name());
      w.wait_for_room(stream, "launch_graph");
      const auto run = std::make_shared<graph_run>();
      run->graph = graph.number;
      for (std::uint64_t condition : found->second->conditions) run->conditions[condition] = 0;
      for (operation each : found->second->operations) {
        each.launch = run;
        if (each.calls != nullptr) launch_collective(w, each);
        w.push(stream, std::move(each));
      }
      return status{};
    });
  }

  static status destroy_graph(graph_handle graph) {
    return call("destroy_graph", ending, [&](world& w) {
      if (w.graphs.erase(graph.number) == 0)
        fail("destroy_graph of a ", graph.number == 0 ? "null graph" : "graph that was destroyed");
      return status{};
    });
  }

 private:
  static graph_state& whole_graph(const stream_state& of) {
    return of.capture->whole != nullptr ? *of.capture->whole : *of.capture;
  }
  static void end_capture_of_thread(world& w, const char* what) {
    if (w.caller->captures == 0) fail(what, " by another thread than the one that began");
    --w.caller->captures;
  }

  /// The calls of a graph's node, for one launch.
  static void launch_collective(world& w, operation& node) {
    clique_member& member = *node.calls->front().communicator;
    if (member.polls_left != 0 || member.launching != 0)
      fail("launch_graph with calls of ", member.name(), ", which is not ready");
    node.step = steps_of(*node.calls).front();
    node.calls = nullptr;
    ++member.unfinished;
    ++w.activity;
  }
};

} // namespace simulator
