// How the instances of a mapped axis lie on processes, and who of them meets in a collective.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/processes/tree_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace parallax::processes {

class world;

/// Those that meet in a collective, or in a part of one. A slot is a member's place among them.
class process_group {
 public:
  /// What of the group lies in one process.
  struct share {
    int process;
    std::vector<int> slots;
    std::vector<tree_node> nodes; ///< the highest of the tree of combinations that need no other process
  };

  /// `process_of(slot)` and `local_index(slot)` say where a member is.
  template <class ProcessOf, class LocalIndex>
  process_group(int own_process, int size, const ProcessOf& process_of, const LocalIndex& local_index) : count(size) {
    std::vector<int> of_slot;
    for (int slot = 0; slot < size; ++slot) of_slot.push_back(process_of(slot));
    std::vector<int> all = of_slot;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (int process : all) {
      if (process == own_process) own_number = count_of(shares);
      shares.push_back({process, {}, {}});
    }
    const auto share_of = [&](int slot) -> share& {
      return shares[static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), of_slot[index_of(slot)]) -
                                             all.begin())];
    };
    for (int slot = 0; slot < size; ++slot) {
      share_of(slot).slots.push_back(slot);
      local.push_back(of_slot[index_of(slot)] == own_process ? local_index(slot) : -1);
    }
    const auto is_whole = [&](tree_node node) {
      for (int k = 1; k < node.count; ++k)
        if (of_slot[index_of(node.first + k)] != of_slot[index_of(node.first)]) return false;
      return true;
    };
    highest_nodes({0, size}, is_whole, [&](tree_node node) { share_of(node.first).nodes.push_back(node); });
  }

  int size() const noexcept { return count; }
  tree_node root() const noexcept { return {0, count}; }
  /// The processes that have members, in order, and which of them this one is; -1 where it has none.
  const std::vector<share>& of_processes() const noexcept { return shares; }
  int own_place() const noexcept { return own_number; }
  const share& own() const { return shares[index_of(own_number)]; }
  bool is_own(int slot) const { return local[index_of(slot)] >= 0; }
  /// A member's place among those of this process along the axes.
  int local_index(int slot) const { return local[index_of(slot)]; }

 private:
  int count;
  int own_number = -1;
  std::vector<share> shares;
  std::vector<int> local;
};

/// The instances of a mapped axis: those of process 0 first, then those of process 1, and so on.
class process_rows {
 public:
  /// `counts` are the numbers of instances of the processes.
  process_rows(world& processes, int own_process, const std::vector<std::int64_t>& counts)
      : all(&processes), own(own_process) {
    for (std::int64_t each : counts) first.push_back(first.back() + each);
  }

  world& of() const noexcept { return *all; }
  /// How many instances there are, and which is this process' first.
  std::int64_t size() const noexcept { return first.back(); }
  std::int64_t own_first() const noexcept { return first[index_of(own)]; }
  /// The first instance of each process, and behind them the number of all.
  const std::vector<std::int64_t>& starts() const noexcept { return first; }

  /// Who meets along some axes of a mesh, of which each instance has `per_row` places; of them those of `indices` where
  /// these are given. It is found once.
  const process_group& group(int per_row, plain_span<const int> indices) const {
    std::lock_guard lock(mutex);
    std::unique_ptr<const process_group>& known = groups[{per_row, indices.data(), indices.size()}];
    if (!known) {
      const auto place = [&](int slot) { return indices.empty() ? slot : indices[index_of(slot)]; };
      const int count = indices.empty() ? static_cast<int>(size()) * per_row : count_of(indices);
      known = std::make_unique<const process_group>(
          own, count, [&](int slot) { return process_of(place(slot) / per_row); },
          [&](int slot) { return place(slot) - static_cast<int>(own_first()) * per_row; });
    }
    return *known;
  }

 private:
  world* all;
  int own;
  std::vector<std::int64_t> first{0}; ///< of each process, and behind them their number
  mutable std::mutex mutex;
  mutable std::map<std::tuple<int, const int*, std::size_t>, std::unique_ptr<const process_group>> groups;

  int process_of(std::int64_t instance) const noexcept {
    return static_cast<int>(std::upper_bound(first.begin(), first.end(), instance) - first.begin()) - 1;
  }
};

} // namespace parallax::processes
