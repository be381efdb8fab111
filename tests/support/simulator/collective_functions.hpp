// The simulated api's collectives, and the groups that they are called in.
#pragma once

#include "support/simulator/clique_functions.hpp"
#include "support/simulator/group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace simulator {

struct collective_functions : clique_functions {
  static status group_start() {
    return call("group_start", [&](world& w) {
      ++w.caller->group.depth;
      return status{};
    });
  }

  static status group_end() {
    return call("group_end", call_traits{.in_group = true, .closes = true}, [&](world& w) {
      if (w.caller->group.depth == 0) fail("group_end without group_start");
      if (--w.caller->group.depth != 0) return status{};
      const group_state whole = std::exchange(w.caller->group, {});
      if (whole.failed) return machine::failure("group_end", "a call of the group failed");
      return begin(w, whole.calls) ? status{} : not_ready("group_end");
    });
  }

  static status all_reduce(const void* from, void* to, std::size_t count, element_type type, reduction_kind how,
                           communicator_handle of, stream_handle on) {
    return add("all_reduce", {collective_kind::all_reduce, from, to, count, type, how, -1, nullptr, on.number}, of);
  }

  static status all_gather(const void* from, void* to, std::size_t count, element_type type, communicator_handle of,
                           stream_handle on) {
    return add("all_gather", {collective_kind::all_gather, from, to, count, type, {}, -1, nullptr, on.number}, of);
  }

  static status reduce_scatter(const void* from, void* to, std::size_t count, element_type type, reduction_kind how,
                               communicator_handle of, stream_handle on) {
    return add("reduce_scatter", {collective_kind::reduce_scatter, from, to, count, type, how, -1, nullptr, on.number},
               of);
  }

  static status broadcast(const void* from, void* to, std::size_t count, element_type type, int member,
                          communicator_handle of, stream_handle on) {
    return add("broadcast", {collective_kind::broadcast, from, to, count, type, {}, member, nullptr, on.number}, of);
  }

  static status send(const void* from, std::size_t count, element_type type, int member, communicator_handle of,
                     stream_handle on) {
    return add("send", {collective_kind::send, from, nullptr, count, type, {}, member, nullptr, on.number}, of);
  }

  static status receive(void* to, std::size_t count, element_type type, int member, communicator_handle of,
                        stream_handle on) {
    return add("receive", {collective_kind::receive, nullptr, to, count, type, {}, member, nullptr, on.number}, of);
  }

 private:
  /// Adds a call to the group; without one, where the process has one member alone, it is a group by itself.
  static status add(const char* name, collective_call made, communicator_handle of) {
    return call(name, call_traits{.in_group = true}, [&](world& w) {
      const stream_state& stream = w.stream(made.stream, name);
      made.communicator = w.communicator(of.number, name);
      const clique_member& member = *made.communicator;
      if (w.caller->group.depth == 0 && made.members() > 1)
        fail("missing group: ", made.name(), " of ", member.name(), " outside group_start and group_end");
      if (member.polls_left != 0 || member.launching != 0)
        fail(name, " of ", member.name(), ", which is not ready: communicator_state has to be asked until it is");
      if (stream.device != member.device()) fail(name, " of ", member.name(), " on ", stream.name());
      const bool names_peer = !made.is_collective() || made.kind == collective_kind::broadcast;
      if (names_peer && (made.peer < 0 || static_cast<std::size_t>(made.peer) >= made.members()))
        return machine::failure(name, "invalid argument: no such member", 4);
      if (w.caller->group.depth != 0) w.caller->group.calls.push_back(made);
      else begin(w, {made});
      return status{};
    });
  }

  /// Starts the steps of a group's calls, or makes them part of a graph; false where something goes on in the
  /// background.
  static bool begin(world& w, const std::vector<collective_call>& calls) {
    const bool captured = are_captured(w, calls);
    bool ready = true;
    for (const auto& step : steps_of(calls, captured)) ready &= captured ? capture(w, *step) : start(w, step);
    return ready;
  }
  /// Whether the calls of a group become part of a graph. Of a process' devices that can be one alone: graphs on
  /// several may be launched in another order than their calls were made.
  static bool are_captured(const world& w, const std::vector<collective_call>& calls) {
    std::set<std::uint64_t> captured, streams;
    for (const collective_call& each : calls) {
      streams.insert(each.stream);
      if (w.scheduled.find(each.stream)->capture != nullptr) captured.insert(each.stream);
    }
    if (!captured.empty() && streams.size() != 1)
      fail("a group of ", streams.size(), " streams, of which ", captured.size(), " are captured");
    return !captured.empty();
  }
  /// What goes on in the background for a member, on a stream; false where something does.
  static bool go_on(world& w, clique_member& member, stream_state& stream) {
    if (w.options.background) member.polls_left = static_cast<unsigned>(w.random.below(3));
    if (member.polls_left == 0) return true;
    member.launching = stream.handle;
    ++stream.launching;
    return false;
  }
  /// Makes a member's part of a step part of a graph.
  static bool capture(world& w, const collective_step& step) {
    bool ready = true;
    for (std::size_t r = 0; r < step.calls.size(); ++r) {
      if (step.streams[r] == 0) continue;
      stream_state& stream = *w.scheduled.find(step.streams[r]);
      stream.capture->operations.push_back(
          {.name = collective_names[static_cast<int>(step.calls[r].front().kind)],
           .rank = static_cast<int>(r),
           .calls = std::make_shared<const std::vector<collective_call>>(step.calls[r])});
      ready = go_on(w, *step.communicators[r], stream) && ready;
    }
    return ready;
  }

  /// Gives each member's stream its part of a step; false where it goes on in the background.
  static bool start(world& w, const std::shared_ptr<collective_step>& step) {
    bool ready = true;
    for (std::size_t r = 0; r < step->calls.size(); ++r) {
      if (step->streams[r] == 0) continue;
      stream_state& stream = *w.scheduled.find(step->streams[r]);
      clique_member& member = *step->communicators[r];
      const bool launched = go_on(w, member, stream);
      w.push(stream, {.name = collective_names[static_cast<int>(step->calls[r].front().kind)],
                      .step = step,
                      .rank = static_cast<int>(r),
                      .launched = launched});
      ++member.unfinished;
      ready = ready && launched;
    }
    return ready;
  }
};

} // namespace simulator
