// The simulated api's communicators: cliques that are made, split, asked for their state, and ended.
#pragma once

#include "support/simulator/collectives.hpp"
#include "support/simulator/graph_functions.hpp"
#include "support/simulator/meeting.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace simulator {

using parallax::cuda::clique_place;

struct clique_functions : graph_functions {
  static status create_clique(std::span<communicator_handle> clique, std::span<const int> devices) {
    std::vector<int> ranks(devices.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return call("create_clique", [&](world& w) {
      return add_clique(w, "create_clique", clique, devices, ranks, static_cast<int>(devices.size()), {});
    });
  }

  static status create_clique_id(clique_name& created) {
    return call("create_clique_id", [&](world&) {
      created = meeting::create();
      return status{};
    });
  }

  static status join_clique(std::span<communicator_handle> clique, std::span<const int> devices,
                            std::span<const int> ranks, int size, const clique_name& name) {
    return call("join_clique",
                [&](world& w) { return add_clique(w, "join_clique", clique, devices, ranks, size, name); });
  }

  static status split_clique(std::span<communicator_handle* const> children, std::span<const communicator_handle> whole,
                             std::span<const clique_place> places) {
    return call("split_clique", [&](world& w) {
      if (children.size() != whole.size() || places.size() != whole.size() || whole.empty())
        fail("split_clique of ", whole.size(), " communicators into ", children.size(), " at ", places.size());
      const std::shared_ptr<clique_state> old = w.communicator(whole[0].number, "split_clique")->clique;
      const std::vector<int> own = ranks_here(*old);
      std::map<int, std::map<std::pair<int, std::size_t>, std::shared_ptr<clique_member>>> parts; // members in order
      for (std::size_t r = 0; r < whole.size(); ++r) {
        const auto member = w.communicator(whole[r].number, "split_clique");
        if (member->clique != old || own.size() != whole.size() || member->rank != own[r])
          fail("split_clique needs all communicators of a clique, by rank; ", member->name(), " is given as rank ", r);
        if (member->polls_left != 0 || member->launching != 0)
          fail("split_clique of ", member->name(),
               ", which is not ready: communicator_state has to be asked until it is");
        if (member->unfinished != 0)
          fail("split_clique of ", member->name(), " with work left, which it may come to wait for for ever");
        *children[r] = {};
        if (old->shared) begin_split(*member, places[r], children[r]);
        else if (places[r].clique >= 0) parts[places[r].clique][{places[r].rank, r}] = member;
      }
      for (const auto& [number, members] : parts) add_part(w, members, children);
      if (old->shared) ++old->shared->splits;
      return status{};
    });
  }

  static status communicator_state(communicator_handle of) {
    return call("communicator_state", question, [&](world& w) {
      clique_member& found = *w.communicator(of.number, "communicator_state");
      if ((w.failed_ranks >> found.device() & 1) != 0)
        return machine::failure("communicator_state", "remote process exited or there was a network error", 6);
      bool dropped = false;
      for (const int device : found.clique->devices) dropped |= device != elsewhere && w.scheduled.is_dropped(device);
      if (found.clique->shared && !has_met(w, found)) {
        ++w.activity; // others may still come
        std::this_thread::yield();
        return not_ready("communicator_state");
      }
      if (found.polls_left > 0) {
        if (dropped) return not_ready("communicator_state"); // nobody answers
        --found.polls_left;
        ++w.activity;
        return not_ready("communicator_state");
      }
      found.deliver_child();
      w.launch_group(found);
      return status{};
    });
  }

  static status destroy_communicator(communicator_handle of) {
    return call("destroy_communicator", ending, [&](world& w) {
      const auto found = w.communicator(of.number, "destroy_communicator");
      if (found->unfinished != 0)
        fail("destroy_communicator of ", found->name(), " with work left: wait for it, or abort");
      check_graphs(w, "destroy_communicator", *found);
      found->deliver_child();
      w.communicators.erase(of.number);
      return status{};
    });
  }

  static status abort_communicators(std::span<const communicator_handle> all) {
    return call("abort_communicators", ending, [&](world& w) {
      std::set<int> devices;
      for (const communicator_handle of : all) {
        const auto found = w.communicator(of.number, "abort_communicators");
        check_graphs(w, "abort_communicators", *found);
        found->aborted = true;
        found->deliver_child();
        w.launch_group(*found);
        w.communicators.erase(of.number);
        devices.insert(found->device());
      }
      check_others(w, devices);
      return status{};
    });
  }

 private:
  static status add_clique(world& w, const char* caller, std::span<communicator_handle> clique,
                           std::span<const int> devices, std::span<const int> ranks, int size,
                           const clique_name& name) {
    if (clique.size() != devices.size() || ranks.size() != devices.size() || clique.empty())
      fail(caller, " of ", clique.size(), " communicators for ", devices.size(), " devices and ", ranks.size(),
           " ranks");
    if (std::set<int>(devices.begin(), devices.end()).size() != devices.size())
      return machine::failure(caller, "invalid usage: a device is twice in a clique", 5);
    auto made = std::make_shared<clique_state>();
    made->number = ++w.cliques;
    made->devices.assign(static_cast<std::size_t>(size), elsewhere);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      if (!w.has_device(devices[k])) return no_device(caller);
      if (ranks[k] < 0 || ranks[k] >= size) return machine::failure(caller, "invalid argument: a rank", 4);
      made->devices[static_cast<std::size_t>(ranks[k])] = devices[k];
    }
    if (ranks.size() != static_cast<std::size_t>(size))
      made->shared = std::make_shared<shared_clique>(shared_clique{.where = meeting(name.folder.data())});
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      clique[k].number = add_member(w, made, ranks[k], 4);
      if (made->shared) made->shared->where.leave(text("member", ranks[k]), {});
    }
    return {};
  }
  static std::uint64_t add_member(world& w, const std::shared_ptr<clique_state>& of, int rank,
                                  std::uint64_t most_polls) {
    auto member = std::make_shared<clique_member>();
    member->handle = world::new_number();
    member->clique = of;
    member->rank = rank;
    if (w.options.background) member->polls_left = static_cast<unsigned>(w.random.below(most_polls));
    const std::uint64_t handle = member->handle;
    w.communicators.emplace(handle, std::move(member));
    return handle;
  }
  static std::vector<int> ranks_here(const clique_state& of) {
    std::vector<int> ranks;
    for (int rank = 0; rank < static_cast<int>(of.devices.size()); ++rank)
      if (of.is_here(rank)) ranks.push_back(rank);
    return ranks;
  }

  // Cliques of several processes

  /// Where a member goes in a split, which other processes are told.
  struct split_place {
    int clique, key;
  };
  static std::string name_of_split(std::uint64_t number, int rank) { return text("split", number, "of", rank); }

  static void begin_split(clique_member& of, const clique_place& to, communicator_handle* child) {
    shared_clique& shared = *of.clique->shared;
    of.split = shared.splits;
    of.child_place = to.clique < 0 ? nullptr : &child->number;
    of.splits = true;
    shared.where.leave(name_of_split(of.split, of.rank), as_bytes(split_place{to.clique, to.rank}));
  }
  /// Whether all members have come, to the clique and to a split that goes on.
  static bool has_met(world& w, clique_member& of) {
    shared_clique& shared = *of.clique->shared;
    const int size = static_cast<int>(of.clique->devices.size());
    for (int rank = 0; !shared.have_all_come && rank < size; ++rank)
      if (!shared.where.find(text("member", rank))) return false;
    shared.have_all_come = true;
    if (!of.splits) return true;
    std::vector<split_place> places;
    for (int rank = 0; rank < size; ++rank) {
      const auto said = shared.where.find(name_of_split(of.split, rank));
      if (!said) return false;
      places.push_back(value_of<split_place>(*said));
    }
    of.splits = false;
    if (of.child_place != nullptr) add_shared_part(w, of, places);
    return true;
  }
  /// The member's new clique, which its other members here may have made already.
  static void add_shared_part(world& w, clique_member& of, const std::vector<split_place>& places) {
    const int number = places[static_cast<std::size_t>(of.rank)].clique;
    std::vector<std::pair<int, int>> members; // key and old rank
    for (std::size_t rank = 0; rank < places.size(); ++rank)
      if (places[rank].clique == number) members.push_back({places[rank].key, static_cast<int>(rank)});
    std::sort(members.begin(), members.end());
    std::shared_ptr<clique_state>& made = of.clique->shared->parts[{of.split, number}];
    if (!made) {
      made = std::make_shared<clique_state>();
      made->number = ++w.cliques;
      for (const auto& [key, rank] : members)
        made->devices.push_back(of.clique->devices[static_cast<std::size_t>(rank)]);
      if (std::find(made->devices.begin(), made->devices.end(), elsewhere) != made->devices.end())
        made->shared = std::make_shared<shared_clique>(shared_clique{
            .where = of.clique->shared->where.part(text("split", of.split, "part", number)), .have_all_come = true});
    }
    for (std::size_t rank = 0; rank < members.size(); ++rank)
      if (members[rank].second == of.rank) of.child = add_member(w, made, static_cast<int>(rank), 3);
    of.deliver_child();
  }

  /// Makes one clique of a split: of these members of the old one, which are ready, in this order.
  static void add_part(world& w, const std::map<std::pair<int, std::size_t>, std::shared_ptr<clique_member>>& members,
                       std::span<communicator_handle* const> children) {
    auto made = std::make_shared<clique_state>();
    made->number = ++w.cliques;
    for (const auto& [place, old] : members) {
      const int rank = static_cast<int>(made->devices.size());
      made->devices.push_back(old->device());
      if (w.options.background) old->polls_left = static_cast<unsigned>(w.random.below(4));
      old->child = add_member(w, made, rank, 3);
      old->child_place = &children[static_cast<std::size_t>(old->rank)]->number;
      if (old->polls_left == 0) old->deliver_child();
    }
  }

  /// Faults where a graph has calls of a communicator that is to end: that waits for the graph's end.
  static void check_graphs(const world& w, const char* name, const clique_member& of) {
    for (const auto& [number, graph] : w.graphs)
      for (const operation& each : graph->operations)
        if (each.calls != nullptr && each.calls->front().communicator.get() == &of)
          fail(name, " of ", of.name(), ", which waits for a graph that has calls of it");
  }

  /// Faults where an abort, which waits for devices, would wait for a collective that only another abort ends.
  static void check_others(const world& w, const std::set<int>& devices) {
    for (const auto& each : w.scheduled.streams()) {
      const operation* const next = each->queue.empty() ? nullptr : &each->queue.front();
      if (next == nullptr || next->step == nullptr || !devices.contains(each->device)) continue;
      const clique_member& member = *next->step->communicators[static_cast<std::size_t>(next->rank)];
      if (!member.aborted && next->arrived && (next->step->broken || next->step->arrived != next->step->participants))
        fail("abort_communicators waits for device ", each->device, ", where ", next->step->name(next->rank), " of ",
             member.name(), " goes on, which is not aborted");
    }
  }
};

} // namespace simulator
