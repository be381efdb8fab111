// Streams and events: queues of operations, and what they wait for.
#pragma once

#include "support/simulator/clock.hpp"
#include "support/simulator/memory.hpp"
#include "support/simulator/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace simulator {

struct collective_step;
struct collective_call;
struct graph_state;

/// One time that an event was recorded.
struct event_record {
  bool reached = false;
  bool captured = false; ///< as part of a graph
  std::string where;     ///< for faults
  vector_clock clock;
};

/// What an operation needs of pinned memory until it has run.
struct pinned_use {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
  std::vector<std::byte> seen{}; ///< what a copy from there has to find: what was there when it was enqueued
};

/// One launch of a graph: the numbers of its conditions, which are 0 at first.
struct graph_run {
  std::uint64_t graph = 0;
  std::map<std::uint64_t, unsigned> conditions;
};

/// An entry of a stream's queue. It may only order, or do something too.
struct operation {
  const char* name = "";
  std::function<void(recorder&)> run{};
  pinned_use pinned{};
  std::shared_ptr<event_record> waits_for{};
  std::shared_ptr<event_record> records{};
  std::shared_ptr<collective_step> step{};                     ///< is done together with other streams' entries
  int rank = 0;                                                ///< in `step`
  std::shared_ptr<const std::vector<collective_call>> calls{}; ///< of a member, while they are part of a graph
  bool arrived = false;                                        ///< in `step`
  bool launched = true;                                        ///< false while a group goes on in the background
  std::shared_ptr<const vector_clock> enqueued{};              ///< what the host knew
  std::shared_ptr<graph_state> body{};                         ///< of a node of a graph that a condition decides
  std::uint64_t condition = 0;
  bool repeats = false;                ///< its body
  std::shared_ptr<graph_run> launch{}; ///< of a graph that it is part of
};

/// What is enqueued while a stream is captured.
struct graph_state {
  std::uint64_t number = 0; ///< of the capture, which nodes have
  int device = 0;
  bool instantiated = false;
  std::vector<operation> operations;
  std::set<std::uint64_t> conditions;     ///< of a whole graph and its bodies
  std::set<std::uint64_t> own_conditions; ///< that have no node yet
  graph_state* whole = nullptr;           ///< of a body, while it is captured: the graph that it is part of
};

struct stream_state {
  std::uint64_t handle = 0;
  int device = 0;
  std::uint32_t index = 0; ///< in clocks
  vector_clock clock;
  std::shared_ptr<const vector_clock> joined; ///< the last of `operation::enqueued`
  std::deque<operation> queue;
  bool destroyed = false;
  int launching = 0; ///< communicators whose group goes on in the background
  std::uint64_t priority = 0;
  std::shared_ptr<graph_state> capture; ///< while it is captured

  std::string name() const { return text("stream ", index + 1, " on device ", device); }
};

struct event_state {
  int device = 0;
  std::shared_ptr<event_record> latest;
};

} // namespace simulator
