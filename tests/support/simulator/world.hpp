// All that a simulated machine consists of, and how the host gives it work.
#pragma once

#include "support/simulator/collectives.hpp"
#include "support/simulator/memory.hpp"
#include "support/simulator/random.hpp"
#include "support/simulator/recorder.hpp"
#include "support/simulator/scheduler.hpp"
#include "support/simulator/stream.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

/// What a machine has, and how it behaves.
struct machine_options {
  int devices = 8; ///< 64 at most
  std::uint64_t seed = 1;
  std::size_t memory_bytes = std::size_t{1} << 30; ///< of each device
  int multiprocessors = 2;
  std::size_t shared_bytes_per_block = 48 * 1024;
  int largest_cluster = 8;        ///< of blocks; 1 where devices have no clusters
  bool refuses_epilogues = false; ///< and matrices at addresses: when they are launched, after it said that it has them
  bool has_no_addresses = false;  ///< products go along strides alone
  bool peer_access = true;        ///< false: enabling it fails
  bool reuses_addresses = false;  ///< memory lies where memory of its size was released; otherwise nowhere twice
  bool conditional_graphs = true; ///< graphs may have nodes that conditions decide
  std::size_t queue_capacity = std::numeric_limits<std::size_t>::max(); ///< of a stream; who enqueues more waits
  bool background = true;                           ///< group_end and create_clique may go on after they returned
  bool fail_when_stuck = true;                      ///< false: a machine that hangs is asked for ever, as a real one is
  unsigned polls_until_stuck = 1000;                ///< questions in a row, while nothing can run
  std::chrono::milliseconds time_until_stuck{1000}; ///< where there are several threads of the host
};

/// Handles: numbers that no other object of the process ever has.
template <class Of> struct handle {
  std::uint64_t number = 0;
  bool operator==(const handle&) const = default;
};

/// A release of memory, once the device has come to it.
using release_record = std::optional<access>;

/// What a device's memory is taken from. What was released is kept in pieces, and serves what fits one of them.
struct memory_pool {
  std::size_t used = 0;
  std::multimap<std::size_t, std::shared_ptr<const release_record>> kept; ///< by size

  bool take(std::size_t bytes, std::size_t all) {
    if (const auto piece = kept.lower_bound(bytes); piece != kept.end()) {
      if (piece->first != bytes) kept.emplace(piece->first - bytes, piece->second);
      kept.erase(piece);
    } else if (used + kept_bytes() + bytes > all) {
      return false;
    }
    used += bytes;
    return true;
  }
  void put_back(std::size_t bytes, std::shared_ptr<const release_record> released) {
    used -= bytes;
    kept.emplace(bytes, std::move(released));
  }
  /// What the host, which knows `known`, has not seen released is outstanding still.
  void trim(const vector_clock& known) {
    std::erase_if(kept, [&](const auto& piece) { return piece.second->has_value() && known.covers(**piece.second); });
  }
  std::size_t kept_bytes() const {
    return std::accumulate(kept.begin(), kept.end(), std::size_t{0},
                           [](std::size_t sum, const auto& piece) { return sum + piece.first; });
  }
};

/// The calls since group_start.
struct group_state {
  int depth = 0;
  bool failed = false; ///< one of its calls did
  std::vector<collective_call> calls;
};

/// What each thread of the host has by itself.
struct host_thread {
  int device = 0; ///< the current one
  group_state group;
  int captures = 0;           ///< that go on, bodies of nodes among them
  bool may_be_unsafe = false; ///< while it captures
};

/// What one thread of the host has seen, all know from then on: what orders the threads is theirs, and none of the
/// simulator's business.
struct world {
  explicit world(const machine_options& how) : options(how), random(how.seed), scheduled(table, peers, random) {
    for (int d = 0; d < options.devices; ++d) peers[static_cast<std::size_t>(d)] = std::uint64_t{1} << d;
  }

  machine_options options;
  generator random;
  memory table;
  peer_table peers{};
  scheduler scheduled;
  std::map<std::uint64_t, event_state> events;
  std::map<std::uint64_t, std::shared_ptr<clique_member>> communicators;
  std::map<std::uint64_t, std::shared_ptr<graph_state>> graphs;
  std::map<int, memory_pool> pools;                             ///< of each device
  std::set<int> libraries;                                      ///< devices that the library has been used on
  std::set<std::pair<int, parallax::element_type>> known_signs; ///< what it was asked for on them
  std::map<std::uint64_t, host_thread> threads;                 ///< of the host, that have made a call
  host_thread* caller = nullptr;                                ///< of the call that runs
  std::shared_ptr<const vector_clock> known = std::make_shared<const vector_clock>(); ///< to the host
  bool failing = false;                                                               ///< the call that runs is to fail
  std::uint64_t activity = 0; ///< counts what the host has enqueued, and what the background has done
  std::uint64_t failed_ranks = 0;
  /// Lets other threads of the host make calls, while one waits since that time; false where none of them helps.
  std::function<bool(std::chrono::steady_clock::time_point)> let_others_call;
  std::uint64_t cliques = 0;

  static std::uint64_t new_number() {
    static std::uint64_t last = 0;
    return ++last;
  }

  /// Faults where the calling thread may not make calls that may wait or take memory at once.
  void check_safe(const char* what) const {
    if (caller->captures > 0 && !caller->may_be_unsafe)
      fail(what, " while the thread captures a stream, which CUDA does not allow unless it is told to");
  }
  /// The library's first call for a device, or its first of a kind, takes memory and waits.
  template <class Kind> void check_first(std::set<Kind>& met, const Kind& kind, const char* what) const {
    if (met.insert(kind).second) check_safe(what);
  }

  bool has_device(int number) const { return number >= 0 && number < options.devices; }

  void host_learns(const vector_clock& of) {
    auto more = std::make_shared<vector_clock>(*known);
    more->join(of);
    known = std::move(more);
  }

  /// The stream of a handle, which may be given work or asked for its state.
  stream_state& stream(std::uint64_t number, const char* what) const {
    stream_state* found = number == 0 ? nullptr : scheduled.find(number);
    if (found == nullptr || found->destroyed)
      fail(what, number == 0 ? " of the null stream" : " of a stream that was destroyed");
    if (found->launching != 0)
      fail(what, " of ", found->name(),
           " while a group goes on for it: communicator_state has to be asked until it is ready");
    return *found;
  }

  /// The same, of the current device.
  stream_state& current_stream(std::uint64_t number, const char* what) const {
    stream_state& found = stream(number, what);
    if (found.device != caller->device)
      fail(what, " of ", found.name(), " while device ", caller->device, " is current");
    return found;
  }

  event_state& event(std::uint64_t number, const char* what) {
    const auto found = events.find(number);
    if (found == events.end()) fail(what, number == 0 ? " of a null event" : " of an event that was destroyed");
    return found->second;
  }

  const std::shared_ptr<clique_member>& communicator(std::uint64_t number, const char* what) const {
    const auto found = communicators.find(number);
    if (found == communicators.end())
      fail(what, number == 0 ? " of a null communicator" : " of a communicator that was destroyed or aborted");
    return found->second;
  }

  /// Gives a stream an operation once its queue has room, or its capture.
  void enqueue(stream_state& to, operation next) {
    if (to.capture != nullptr) {
      to.capture->operations.push_back(std::move(next));
    } else {
      wait_for_room(to, next.name);
      push(to, std::move(next));
    }
  }
  /// Waits until a stream's queue takes another operation.
  void wait_for_room(const stream_state& in, const char* what) {
    if (in.queue.size() < options.queue_capacity) return;
    const auto since = std::chrono::steady_clock::now();
    while (in.queue.size() >= options.queue_capacity)
      if (!scheduled.run_one() && !let_others_call(since))
        fail("stuck: ", what, " waits for room in the queue of ", in.name(),
             ", and nothing can run:", scheduled.waiting());
  }

  /// Gives a stream an operation at once.
  void push(stream_state& to, operation next) {
    if (next.pinned.pointer != nullptr) prepare(next.pinned, next.name);
    next.enqueued = known;
    ++activity;
    to.queue.push_back(std::move(next));
  }

  /// A communicator whose group is launched now has its stream free again.
  void launch_group(clique_member& of) const {
    if (of.launching == 0) return;
    stream_state& to = *scheduled.find(std::exchange(of.launching, 0));
    --to.launching;
    for (operation& each : to.queue)
      if (each.step != nullptr && each.step->communicators[static_cast<std::size_t>(each.rank)].get() == &of)
        each.launched = true;
  }

 private:
  /// What is to be copied to the host is wrong there until it has been; what is to be copied from there has to stay.
  void prepare(pinned_use& use, const char* what) const {
    allocation* of = table.find(use.pointer);
    const auto* begin = static_cast<const std::byte*>(use.pointer);
    if (of == nullptr || of->device != on_host || of->released_by_host || begin < of->data() ||
        begin + use.bytes > of->data() + of->bytes)
      fail(what, ": ", use.bytes, " bytes of the host that are not pinned",
           of == nullptr ? std::string() : ", beside or of " + of->name());
    if (use.writes && of->pending == 0) std::memset(use.pointer, 0xff, use.bytes);
    if (!use.writes && of->pending_writes == 0) use.seen.assign(begin, begin + use.bytes);
    ++of->pending;
    if (use.writes) ++of->pending_writes;
  }
};

} // namespace simulator
