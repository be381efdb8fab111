// The places of a mesh on processes, and the groups that meet in a collective.
#pragma once

#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/mesh_part.hpp>
#include <parallax/processes/tree_order.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

class world;

/// The members that meet in a collective, or in a part of one. A slot is a member's number among them.
class process_group {
 public:
  /// The members of the group that lie in one process.
  struct share {
    int process;
    std::vector<int> slots;
    std::vector<tree_node> nodes; ///< highest nodes of the tree of combinations without other processes
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
  /// The processes that have members, in order, and the number of this process among them; -1 if it has none.
  const std::vector<share>& of_processes() const noexcept { return shares; }
  int own_place() const noexcept { return own_number; }
  const share& own() const { return shares[index_of(own_number)]; }
  bool is_own(int slot) const { return local[index_of(slot)] >= 0; }
  /// A member's number among this process' places along the axes.
  int local_index(int slot) const { return local[index_of(slot)]; }

 private:
  int count;
  int own_number = -1;
  std::vector<share> shares;
  std::vector<int> local;
};

/// A mesh of devices of all processes. Places are numbered row-major: those of process 0 first, then those of process
/// 1, and so on.
class process_mesh {
 public:
  /// `counts` are the numbers of places of the processes.
  process_mesh(world& processes, int own_process, std::vector<std::int64_t> mesh_sizes,
               const std::vector<std::int64_t>& counts)
      : all(&processes), own(own_process), axis_sizes(std::move(mesh_sizes)) {
    for (std::int64_t each : counts) first.push_back(first.back() + each);
    own_part = {axis_sizes, first[index_of(own)], counts[index_of(own)]};
  }

  world& of() const noexcept { return *all; }
  plain_span<const std::int64_t> sizes() const noexcept { return axis_sizes; }
  /// The places of this process.
  const mesh_part& part() const noexcept { return own_part; }
  /// The first place of each process, and behind them the number of all places.
  const std::vector<std::int64_t>& starts() const noexcept { return first; }
  /// Whether groups along the axes of a mask have members in several processes.
  bool is_divided(unsigned axes) const noexcept {
    for (int axis = 0; axis < own_part.rank(); ++axis)
      if ((axes >> axis & 1U) != 0 && !own_part[axis].is_whole()) return true;
    return false;
  }
  /// The size of a group along the axes of a mask, and the row-major index of a place along these axes.
  std::int64_t size_along(unsigned axes) const {
    std::int64_t size = 1;
    for_each_axis(axes, [&](std::size_t axis, std::int64_t) { size *= axis_sizes[axis]; });
    return size;
  }
  std::int64_t index_along(unsigned axes, std::int64_t place) const {
    std::int64_t index = 0, scale = 1;
    for_each_axis(axes, [&](std::size_t axis, std::int64_t stride) {
      index += place / stride % axis_sizes[axis] * scale;
      scale *= axis_sizes[axis];
    });
    return index;
  }

  /// The group of a place along the axes of a mask. If `indices` are given, only the members with these indices, in
  /// that order. Each group is built once.
  const process_group& group(unsigned axes, std::int64_t place, plain_span<const int> indices) const {
    const group_key key{axes, place - offset_along(axes, place), indices.data(), indices.size()};
    for (const known_group* known = groups_like(key).load(std::memory_order_acquire); known != nullptr;
         known = known->next)
      if (known->key == key) return known->group;
    return add(key, indices);
  }

 private:
  world* all;
  int own;
  std::vector<std::int64_t> axis_sizes;
  std::vector<std::int64_t> first{0}; ///< first place by process, and behind them the number of places
  mesh_part own_part;

  struct group_key {
    unsigned axes;
    std::int64_t begin; ///< place with index 0 along each of the axes
    const int* indices;
    std::size_t count;
    bool operator==(const group_key&) const = default;
  };
  /// In lists that are read without a lock, since they only grow.
  struct known_group {
    group_key key;
    process_group group;
    const known_group* next;
  };
  mutable std::mutex mutex; ///< for threads that add to the lists
  mutable std::deque<known_group> memory;
  mutable std::array<std::atomic<const known_group*>, 256> groups{};

  std::atomic<const known_group*>& groups_like(const group_key& key) const {
    const std::uint64_t like = mix(mix(key.axes, static_cast<std::uint64_t>(key.begin)),
                                   static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key.indices)));
    return groups[like % groups.size()];
  }

  const process_group& add(const group_key& key, plain_span<const int> indices) const {
    const auto place_of = [&](int slot) {
      return key.begin + place_at(key.axes, indices.empty() ? slot : indices[index_of(slot)]);
    };
    const int count = indices.empty() ? static_cast<int>(size_along(key.axes)) : count_of(indices);
    process_group made(
        own, count, [&](int slot) { return process_of(place_of(slot)); },
        [&](int slot) { return own_index(key.axes, place_of(slot)); });
    std::lock_guard lock(mutex);
    std::atomic<const known_group*>& list = groups_like(key);
    memory.push_back({key, std::move(made), list.load(std::memory_order_relaxed)}); // nvcc 12.4 emplaces no aggregates
    const known_group& added = memory.back();
    list.store(&added, std::memory_order_release);
    return added.group;
  }

  int process_of(std::int64_t place) const noexcept {
    return static_cast<int>(std::upper_bound(first.begin(), first.end(), place) - first.begin()) - 1;
  }
  /// Calls `f(axis, stride)` for the axes of a mask, the innermost first.
  template <class F> void for_each_axis(unsigned axes, const F& f) const {
    std::int64_t stride = 1;
    for (std::size_t axis = axis_sizes.size(); axis-- > 0; stride *= axis_sizes[axis])
      if (axes >> axis & 1U) f(axis, stride);
  }
  /// The part of a place's number that comes from its indices along the axes.
  std::int64_t offset_along(unsigned axes, std::int64_t place) const {
    std::int64_t offset = 0;
    for_each_axis(axes,
                  [&](std::size_t axis, std::int64_t stride) { offset += place / stride % axis_sizes[axis] * stride; });
    return offset;
  }
  /// That part, given the row-major index along the axes.
  std::int64_t place_at(unsigned axes, std::int64_t index) const {
    std::int64_t place = 0;
    for_each_axis(axes, [&](std::size_t axis, std::int64_t stride) {
      place += index % axis_sizes[axis] * stride;
      index /= axis_sizes[axis];
    });
    return place;
  }
  /// The row-major index of one of this process' places along the axes, counted among its places.
  int own_index(unsigned axes, std::int64_t place) const {
    std::int64_t index = 0, scale = 1;
    for_each_axis(axes, [&](std::size_t axis, std::int64_t stride) {
      const axis_part& along = own_part[static_cast<int>(axis)];
      index += (place / stride % along.all - along.first) * scale;
      scale *= along.here;
    });
    return static_cast<int>(index);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
