// Communicators and the calls of a group: what NCCL would do with them once all members have come.
#pragma once

#include "support/simulator/combine.hpp"
#include "support/simulator/meeting.hpp"
#include "support/simulator/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

inline constexpr int elsewhere = -1; ///< instead of a device: in another process

/// What a clique whose members several processes have is, beside its members.
struct shared_clique {
  meeting where;
  bool have_all_come = false;
  std::uint64_t collectives = 0, splits = 0;           ///< so far
  std::map<std::pair<int, int>, std::uint64_t> sent{}; ///< by sender and receiver, those that one of them has here
  std::map<std::pair<std::uint64_t, int>, std::shared_ptr<struct clique_state>> parts{}; ///< by split and number
};

/// Communicators that belong together.
struct clique_state {
  std::uint64_t number = 0;
  std::vector<int> devices;              ///< by rank; `elsewhere` for members of other processes
  std::shared_ptr<shared_clique> shared; ///< null where there are none

  bool is_here(int rank) const { return devices[static_cast<std::size_t>(rank)] != elsewhere; }
};

/// One member of a clique.
struct clique_member {
  std::uint64_t handle = 0;
  std::shared_ptr<clique_state> clique;
  int rank = 0;
  unsigned polls_left = 0;     ///< until what goes on in the background is over
  std::uint64_t launching = 0; ///< the stream that a group goes on for; 0: none does
  std::size_t unfinished = 0;  ///< steps
  bool aborted = false;
  std::uint64_t child = 0;              ///< of a split that goes on
  std::uint64_t* child_place = nullptr; ///< where its handle is to be written
  std::uint64_t split = 0;
  bool splits = false; ///< and waits for what other processes say of it

  /// What a split made is known when nothing goes on in the background any more.
  void deliver_child() {
    if (child_place != nullptr) *child_place = child;
    child_place = nullptr;
  }

  int device() const { return clique->devices[static_cast<std::size_t>(rank)]; }
  std::string name() const { return text("rank ", rank, " of clique ", clique->number, " (device ", device(), ")"); }
};

enum class collective_kind : unsigned char { all_reduce, all_gather, reduce_scatter, broadcast, send, receive };

inline constexpr const char* collective_names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                                   "broadcast",  "send",       "receive"};

/// One call of a collective function.
struct collective_call {
  collective_kind kind{};
  const void* source = nullptr;
  void* target = nullptr;
  std::size_t count = 0;
  element_type type{};
  reduction_kind how{};
  int peer = -1; ///< of a send and a receive; the source of a broadcast
  std::shared_ptr<clique_member> communicator;
  std::uint64_t stream = 0;
  std::uint64_t number = 0; ///< in a clique of several processes: among its collectives, or the messages of a pair

  bool is_collective() const { return kind < collective_kind::send; }
  std::size_t members() const { return communicator->clique->devices.size(); }
  std::size_t bytes() const { return count * size_of(type); }
  std::size_t source_bytes() const {
    if (kind == collective_kind::receive || (kind == collective_kind::broadcast && communicator->rank != peer))
      return 0;
    return kind == collective_kind::reduce_scatter ? bytes() * members() : bytes();
  }
  std::size_t target_bytes() const {
    return kind == collective_kind::send ? 0 : kind == collective_kind::all_gather ? bytes() * members() : bytes();
  }

  /// Whether the two are the same collective as seen by two members.
  bool matches(const collective_call& other) const {
    return kind == other.kind && count == other.count && type == other.type &&
           (kind == collective_kind::all_gather || how == other.how) &&
           (kind != collective_kind::broadcast || peer == other.peer);
  }

  /// Such as "all_reduce (sum) of 4 float32".
  std::string name() const {
    static constexpr const char* ways[] = {" (sum)", " (max)", " (min)"};
    const bool reduces = kind == collective_kind::all_reduce || kind == collective_kind::reduce_scatter;
    return text(collective_names[static_cast<int>(kind)], reduces ? ways[static_cast<int>(how)] : "", " of ", count,
                " ", name_of(type),
                kind == collective_kind::send                                            ? " to rank "
                : kind == collective_kind::receive || kind == collective_kind::broadcast ? " from rank "
                                                                                         : "",
                peer < 0 ? "" : std::to_string(peer));
  }
};

/// What one group has for one clique: it runs when all its members' streams have come to it.
struct collective_step {
  std::shared_ptr<clique_state> clique;
  std::vector<std::vector<collective_call>> calls; ///< of each rank
  std::vector<std::uint64_t> streams;              ///< of each rank; 0 where it has no call
  std::vector<std::shared_ptr<clique_member>> communicators;
  int participants = 0;
  int arrived = 0;
  bool broken = false;                     ///< a member was aborted, and the others will wait for it until they are too
  bool is_told = false, has_heard = false; ///< other processes know of what this one has, and this one of theirs
  std::vector<byte_string> received;       ///< from other processes

  /// Such as "all_reduce (sum) of 4 float32 and 2 more".
  std::string name(int rank) const {
    const std::vector<collective_call>& own = calls[static_cast<std::size_t>(rank)];
    return own.front().name() + (own.size() > 1 ? text(" and ", own.size() - 1, " more of its group") : "");
  }
};

namespace detail {

/// Bytes that a call reads or writes.
struct byte_range {
  const std::byte* begin;
  std::size_t bytes;

  bool overlaps(const byte_range& other) const {
    return bytes != 0 && other.bytes != 0 && begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

inline byte_range source_of(const collective_call& call) {
  return {static_cast<const std::byte*>(call.source), call.source_bytes()};
}
inline byte_range target_of(const collective_call& call) {
  return {static_cast<const std::byte*>(call.target), call.target_bytes()};
}

/// Whether operand and result are apart, or lie together as NCCL allows.
inline bool in_place_or_apart(const collective_call& call) {
  const byte_range from = source_of(call), to = target_of(call);
  if (!from.overlaps(to)) return true;
  const std::size_t own = call.bytes() * static_cast<std::size_t>(call.communicator->rank);
  if (call.kind == collective_kind::all_gather) return from.begin == to.begin + own;
  if (call.kind == collective_kind::reduce_scatter) return to.begin == from.begin + own;
  return from.begin == to.begin;
}

/// Faults where calls of one member and group touch what another of them writes: nothing orders them.
inline void check_apart(const std::vector<collective_call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!in_place_or_apart(calls[i]))
      fail(calls[i].name(), " of ", calls[i].communicator->name(), ": operand and result overlap");
    for (std::size_t j = 0; j < i; ++j)
      if (target_of(calls[i]).overlaps(target_of(calls[j])) || target_of(calls[i]).overlaps(source_of(calls[j])) ||
          source_of(calls[i]).overlaps(target_of(calls[j])))
        fail("calls of one group depend on each other: ", calls[j].name(), " and ", calls[i].name(), " of ",
             calls[i].communicator->name(), " share memory that one of them writes");
  }
}

/// One collective of all ranks: `calls[r]` is rank r's.
inline void run_collective(const std::vector<const collective_call*>& calls) {
  const collective_call& first = *calls[0];
  const std::size_t members = calls.size(), bytes = first.bytes();
  std::vector<std::byte> all;
  if (first.kind == collective_kind::all_gather) {
    for (const collective_call* each : calls) {
      const auto* from = static_cast<const std::byte*>(each->source);
      all.insert(all.end(), from, from + bytes);
    }
  } else if (first.kind == collective_kind::broadcast) {
    const auto* from = static_cast<const std::byte*>(calls[static_cast<std::size_t>(first.peer)]->source);
    all.assign(from, from + bytes);
  } else { // the sum, or the like, of all operands
    const auto* from = static_cast<const std::byte*>(first.source);
    all.assign(from, from + first.source_bytes());
    for (std::size_t r = 1; r < members; ++r)
      combine(all.data(), calls[r]->source, first.source_bytes() / size_of(first.type), first.type, first.how);
  }
  for (std::size_t r = 0; r < members; ++r) {
    const std::size_t offset = first.kind == collective_kind::reduce_scatter ? r * bytes : 0;
    if (first.target_bytes() != 0) std::memcpy(calls[r]->target, all.data() + offset, first.target_bytes());
  }
}

} // namespace detail

/// The calls of that kind by sender and receiver, in order: a send is matched with the receive of its place.
inline std::map<std::pair<int, int>, std::vector<const collective_call*>> pairs_of(const collective_step& step,
                                                                                   collective_kind kind) {
  std::map<std::pair<int, int>, std::vector<const collective_call*>> found;
  for (const auto& own : step.calls)
    for (const collective_call& each : own)
      if (each.kind == kind) {
        const int rank = each.communicator->rank;
        const bool sends = kind == collective_kind::send;
        found[{sends ? rank : each.peer, sends ? each.peer : rank}].push_back(&each);
      }
  return found;
}

/// The calls of one rank that are collectives.
inline std::vector<const collective_call*> collectives_of(const std::vector<collective_call>& own) {
  std::vector<const collective_call*> found;
  for (const collective_call& each : own)
    if (each.is_collective()) found.push_back(&each);
  return found;
}

/// Does the work of a step; each rank's accesses are logged by its recorder.
inline void run_step(const collective_step& step, std::span<const std::unique_ptr<recorder>> logs) {
  const std::size_t ranks = step.calls.size();
  for (std::size_t r = 0; r < ranks; ++r)
    for (const collective_call& each : step.calls[r]) {
      if (logs[r] == nullptr) continue; // of another process
      logs[r]->read(each.source, each.source_bytes());
      logs[r]->write(each.target, each.target_bytes());
    }
  std::vector<std::vector<const collective_call*>> collectives;
  for (const auto& own : step.calls) collectives.push_back(collectives_of(own));
  for (std::size_t i = 0; i < collectives[0].size(); ++i) {
    std::vector<const collective_call*> one;
    for (const auto& own : collectives) one.push_back(own[i]);
    detail::run_collective(one);
  }
  const auto receives = pairs_of(step, collective_kind::receive);
  for (const auto& [pair, sends] : pairs_of(step, collective_kind::send))
    for (std::size_t i = 0; step.clique->is_here(pair.second) && i < sends.size(); ++i)
      std::memcpy(receives.at(pair)[i]->target, sends[i]->source, sends[i]->bytes());
}

} // namespace simulator
