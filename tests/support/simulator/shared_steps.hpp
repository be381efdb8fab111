// Steps of cliques whose members several processes have: what each tells the others, and what it hears of them.
#pragma once

#include "support/simulator/collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

namespace detail {

/// What is left of a call, before the bytes of its operand.
struct told_call {
  collective_kind kind{};
  std::uint64_t count = 0;
  element_type type{};
  reduction_kind how{};
  int peer = -1;
};

inline std::string name_of_collective(std::uint64_t number, int rank) { return text("collective", number, "of", rank); }
inline std::string name_of_message(std::uint64_t number, int from, int to) {
  return text("message", number, "of", from, "to", to);
}

inline byte_string told(const collective_call& call) {
  byte_string content = as_bytes(
      told_call{.kind = call.kind, .count = call.count, .type = call.type, .how = call.how, .peer = call.peer});
  const auto* from = static_cast<const std::byte*>(call.source);
  if (call.source_bytes() != 0) content.insert(content.end(), from, from + call.source_bytes());
  return content;
}

/// The call of a member of another process, which is to fit one of this process.
inline void hear(collective_step& step, int rank, byte_string content, const collective_call& own) {
  const auto said = value_of<told_call>(content);
  auto member = std::make_shared<clique_member>();
  member->clique = step.clique;
  member->rank = rank;
  collective_call heard{.kind = said.kind,
                        .count = said.count,
                        .type = said.type,
                        .how = said.how,
                        .peer = said.peer,
                        .communicator = std::move(member)};
  const bool fits = own.is_collective()
                        ? heard.matches(own)
                        : heard.kind == collective_kind::send && heard.bytes() == own.bytes() && heard.type == own.type;
  if (!fits)
    fail("mismatched collectives: ", own.name(), " of ", own.communicator->name(), " meets ", heard.name(), " of rank ",
         rank, " in another process");
  step.received.push_back(std::move(content));
  heard.source = step.received.back().data() + sizeof(told_call);
  if (own.is_collective()) {
    step.received.emplace_back(heard.target_bytes()); // which nobody reads
    heard.target = step.received.back().data();
  }
  step.calls[static_cast<std::size_t>(rank)].push_back(std::move(heard));
}

} // namespace detail

/// Numbers a step's calls, as other processes number theirs: all make them in the same order.
inline void number_calls(collective_step& step) {
  shared_clique& shared = *step.clique->shared;
  std::uint64_t collectives = 0;
  for (auto& own : step.calls) {
    std::uint64_t next = 0;
    for (collective_call& each : own) {
      const int rank = each.communicator->rank;
      if (each.is_collective()) each.number = shared.collectives + next++;
      else if (each.kind == collective_kind::send) each.number = shared.sent[{rank, each.peer}]++;
      else if (!step.clique->is_here(each.peer)) each.number = shared.sent[{each.peer, rank}]++;
    }
    collectives = std::max(collectives, next);
  }
  shared.collectives += collectives;
}

/// Tells other processes what a step has whose members here have all come.
inline void tell_others(collective_step& step) {
  if (std::exchange(step.is_told, true)) return;
  for (const auto& own : step.calls)
    for (const collective_call& each : own) {
      const int rank = each.communicator->rank;
      const meeting& where = step.clique->shared->where;
      if (each.is_collective()) where.leave(detail::name_of_collective(each.number, rank), detail::told(each));
      else if (each.kind == collective_kind::send && !step.clique->is_here(each.peer))
        where.leave(detail::name_of_message(each.number, rank, each.peer), detail::told(each));
    }
}

/// Whether all that a step needs of other processes has come; it is part of the step then.
inline bool have_others_come(collective_step& step) {
  if (step.has_heard) return true;
  struct arrival {
    int rank;
    byte_string content;
    const collective_call* own;
  };
  std::vector<arrival> all;
  const meeting& where = step.clique->shared->where;
  const auto look = [&](const std::string& name, int rank, const collective_call& own) {
    std::optional<byte_string> content = where.find(name);
    if (content) all.push_back({rank, std::move(*content), &own});
    return content.has_value();
  };
  const int size = static_cast<int>(step.clique->devices.size());
  bool first = true;
  for (const auto& own : step.calls) {
    for (const collective_call& each : own) {
      if (each.kind == collective_kind::receive && !step.clique->is_here(each.peer) &&
          !look(detail::name_of_message(each.number, each.peer, each.communicator->rank), each.peer, each))
        return false;
      for (int rank = 0; first && each.is_collective() && rank < size; ++rank)
        if (!step.clique->is_here(rank) && !look(detail::name_of_collective(each.number, rank), rank, each))
          return false;
    }
    if (!own.empty()) first = false; // all members here have the same collectives
  }
  step.received.reserve(2 * all.size());
  for (arrival& each : all) detail::hear(step, each.rank, std::move(each.content), *each.own);
  step.has_heard = true;
  return true;
}

} // namespace simulator
