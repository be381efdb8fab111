// From the calls between group_start and group_end to steps of cliques: members' calls have to fit together.
#pragma once

#include "support/simulator/shared_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace simulator {

namespace detail {

/// Faults where two devices make calls for two cliques in different order: each may come to wait for the other.
inline void check_clique_order(const std::vector<collective_call>& calls) {
  std::map<int, std::vector<std::uint64_t>> cliques; // of each device, in the order of their first calls
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> before;
  for (const collective_call& call : calls) {
    const int device = call.communicator->device();
    const std::uint64_t number = call.communicator->clique->number;
    std::vector<std::uint64_t>& own = cliques[device];
    if (std::find(own.begin(), own.end(), number) != own.end()) continue;
    for (const std::uint64_t earlier : own) {
      const auto other = before.find({number, earlier});
      if (other != before.end())
        fail("mismatched collective order: device ", other->second, " calls for clique ", number,
             " and then for clique ", earlier, ", device ", device, " the other way round");
      before.emplace(std::pair{earlier, number}, device);
    }
    own.push_back(number);
  }
}

/// Faults unless all ranks have the same collectives in the same order.
inline void check_collectives(const collective_step& step) {
  const std::size_t ranks = step.calls.size();
  std::vector<std::vector<const collective_call*>> all;
  for (const auto& own : step.calls) all.push_back(collectives_of(own));
  const auto most = std::max_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  const auto member = [&](std::size_t rank) {
    return text("rank ", rank, " of clique ", step.clique->number, " (device ", step.clique->devices[rank], ")");
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    if (!step.clique->is_here(static_cast<int>(r))) continue;
    if (all[r].empty() && !most->empty())
      fail("missing group: a group has ", most->front()->name(), " of ", most->front()->communicator->name(),
           " and no call of ", member(r), "; all members' calls belong into one group");
    for (std::size_t i = 0; i < most->size(); ++i) {
      const collective_call& expected = *(*most)[i];
      if (i < all[r].size() && all[r][i]->matches(expected)) continue;
      fail("mismatched collective order: call ", i + 1, " of a group is ", expected.name(), " for ",
           expected.communicator->name(), " and ", i < all[r].size() ? all[r][i]->name() : "missing", " for ",
           member(r));
    }
  }
}

/// Faults unless each send has its receive.
inline void check_pairs(const collective_step& step) {
  const auto sends = pairs_of(step, collective_kind::send), receives = pairs_of(step, collective_kind::receive);
  const auto check = [&](const auto& these, const auto& those, const char* needed) {
    for (const auto& [pair, calls] : these) {
      if (!step.clique->is_here(pair.first) || !step.clique->is_here(pair.second)) continue;
      const auto other = those.find(pair);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        if (other == those.end() || i >= other->second.size())
          fail("missing group: a group has ", calls[i]->name(), " of ", calls[i]->communicator->name(), " without its ",
               needed, "; both belong into one group");
        const collective_call& match = *other->second[i];
        if (match.bytes() != calls[i]->bytes() || match.type != calls[i]->type)
          fail("mismatched collectives: ", calls[i]->name(), " of ", calls[i]->communicator->name(), " meets ",
               match.name(), " of ", match.communicator->name());
      }
    }
  };
  check(sends, receives, "receive");
  check(receives, sends, "send");
}

/// Adds a call of a group to its clique's step.
inline void add_call(collective_step& step, const collective_call& call) {
  const auto rank = static_cast<std::size_t>(call.communicator->rank);
  if (step.streams[rank] != 0 && step.streams[rank] != call.stream)
    fail("a group has calls of ", call.communicator->name(), " for two streams");
  step.streams[rank] = call.stream;
  step.communicators[rank] = call.communicator;
  step.calls[rank].push_back(call);
}

} // namespace detail

/// The steps of a group's calls, one of each clique. Faults where the calls do not fit together. Those that are
/// captured are numbered at each launch.
inline std::vector<std::shared_ptr<collective_step>> steps_of(const std::vector<collective_call>& calls,
                                                              bool captured = false) {
  detail::check_clique_order(calls);
  std::vector<std::shared_ptr<collective_step>> steps;
  for (const collective_call& call : calls) {
    auto found = std::find_if(steps.begin(), steps.end(),
                              [&](const auto& each) { return each->clique == call.communicator->clique; });
    if (found == steps.end()) {
      auto step = std::make_shared<collective_step>();
      step->clique = call.communicator->clique;
      step->calls.resize(step->clique->devices.size());
      step->streams.resize(step->calls.size());
      step->communicators.resize(step->calls.size());
      found = steps.insert(steps.end(), std::move(step));
    }
    detail::add_call(**found, call);
  }
  for (const auto& step : steps) {
    detail::check_collectives(*step);
    detail::check_pairs(*step);
    for (std::size_t r = 0; r < step->calls.size(); ++r) {
      detail::check_apart(step->calls[r]);
      std::erase_if(step->calls[r],
                    [](const collective_call& call) { return call.count == 0; }); // nothing to do or wait for
      if (step->calls[r].empty()) step->streams[r] = 0;
      else ++step->participants;
    }
  }
  std::erase_if(steps, [](const auto& step) { return step->participants == 0; });
  for (const auto& step : steps)
    if (step->clique->shared && !captured) number_calls(*step);
  return steps;
}

} // namespace simulator
