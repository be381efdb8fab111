// The devices of one run as a mesh, and the barriers that its collectives meet at.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/wait.hpp>
#include <parallax/host/names.hpp>
#include <parallax/processes/process_mesh.hpp>
#include <parallax/runtime/environment.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The largest number of axes a mesh may have.
inline constexpr int max_mesh_axes = 4;

/// The largest number of devices.
inline constexpr int max_devices = 4096;

/// What members of a group must agree on.
using collective = exchange_kind;

/// The state that the devices of one run share: the shape of their mesh, and, for every set of its axes and every group
/// of devices along them, a barrier and memory in which members publish their operands. Positions in the mesh are
/// row-major, outer axis first. A set of axes is a mask, bit k being axis k. The group of a position consists of all
/// positions that differ from it only along the axes of the mask, in row-major order of these axes.
class team {
 public:
  /// The data that a member publishes to the others of its group during a collective.
  struct publication {
    static constexpr std::size_t capacity = 1024;

    collective kind;
    std::size_t bytes;
    const void* in;
    void* out;
    alignas(64) std::byte data[capacity];
  };

  /// A device's place in one of its groups.
  struct alignas(64) member {
    /// The phase that the barrier which the member has entered last will have when it is complete.
    std::atomic<std::uint32_t> entered{0};
    std::uint64_t sequence = 0;
    // Two, used in turn: a member may publish for the next collective while another still reads for this one.
    publication published[2];
  };

  /// A mesh of the given sizes. `devices` are the devices in order of position, 0, 1, 2, ... by default; `axis_names`
  /// are used in error messages (the characters must outlive the team).
  explicit team(plain_span<const std::int64_t> mesh_sizes, plain_span<const int> devices = {},
                plain_span<const std::string_view> axis_names = {})
      : axis_count(count_of(mesh_sizes)) {
    if (mesh_sizes.size() > max_mesh_axes) throw error("a mesh has at most 4 axes");
    std::int64_t size = 1;
    for (int axis = axis_count - 1; axis >= 0; --axis) {
      const std::int64_t extent = mesh_sizes[index_of(axis)];
      if (extent < 1 || extent > max_devices || (size *= extent) > max_devices) {
        throw error("the axes of a mesh have from 1 to 4096 devices, and so has their product");
      }
      axis_sizes[index_of(axis)] = static_cast<int>(extent);
    }
    device_total = static_cast<int>(size);
    spin_time = spin_for(device_total);
    if (devices.empty()) {
      for (int position = 0; position < device_total; ++position) device_numbers.push_back(position);
    } else if (std::cmp_equal(devices.size(), device_total)) {
      device_numbers.assign(devices.begin(), devices.end());
    } else {
      throw error("a mesh of " + std::to_string(device_total) + " was given " + std::to_string(devices.size()) +
                  " devices");
    }
    if (axis_names.size() == mesh_sizes.size()) std::copy(axis_names.begin(), axis_names.end(), axis_labels.begin());
    std::size_t barriers = 0;
    for (unsigned mask = 1; mask <= all_axes(); ++mask) {
      first_barriers[mask] = barriers;
      barriers += index_of(device_total / group_size(mask));
    }
    barrier_total = barriers;
    all_barriers = std::make_unique<barrier[]>(barriers);
    all_members = std::make_unique_for_overwrite<member[]>(index_of(device_total) * all_axes());
  }

  /// How many devices there are.
  int size() const noexcept { return device_total; }

  /// Whether this is a team of these devices on a mesh of these sizes.
  bool is_for(plain_span<const std::int64_t> mesh_sizes, plain_span<const int> devices) const noexcept {
    return std::cmp_equal(axis_count, mesh_sizes.size()) && plain::equal(device_numbers, devices) &&
           std::equal(mesh_sizes.begin(), mesh_sizes.end(), axis_sizes.begin(),
                      [](std::int64_t a, int b) { return std::cmp_equal(a, b); });
  }

  /// The devices in order of position.
  plain_span<const int> devices() const noexcept { return device_numbers; }

  /// The mask of all axes.
  unsigned all_axes() const noexcept { return (1U << axis_count) - 1; }

  /// How many positions a group along these axes has.
  int group_size(unsigned axes_mask) const noexcept {
    int size = 1;
    for (int axis = 0; axis < axis_count; ++axis) {
      if (axes_mask >> axis & 1) size *= axis_sizes[index_of(axis)];
    }
    return size;
  }

  /// The row-major index of a position along these axes: its place in its group.
  int axis_index(int position, unsigned axes_mask) const noexcept {
    int index = 0;
    int scale = 1;
    for (int axis = axis_count - 1; axis >= 0; --axis) {
      const int extent = axis_sizes[index_of(axis)];
      if (axes_mask >> axis & 1) {
        index += position % extent * scale;
        scale *= extent;
      }
      position /= extent;
    }
    return index;
  }

  /// The mesh of all processes that this one is a part of, for the next run; null if it is by itself.
  void set_whole(const processes::process_mesh* mesh) noexcept { between = mesh; }
  const processes::process_mesh* whole() const noexcept { return between; }
  /// Whether groups along these axes have members in other processes.
  bool spans_processes(unsigned axes_mask) const noexcept {
    return between != nullptr && between->is_divided(axes_mask);
  }
  /// A position's number in the whole mesh.
  std::int64_t whole_place(int position) const noexcept { return between->part().begin() + position; }
  /// The size of a group over all processes, and a position's index in it.
  int whole_group_size(unsigned axes_mask) const noexcept {
    return between == nullptr ? group_size(axes_mask) : static_cast<int>(between->size_along(axes_mask));
  }
  int whole_axis_index(int position, unsigned axes_mask) const noexcept {
    if (between == nullptr) return axis_index(position, axes_mask);
    return static_cast<int>(between->index_along(axes_mask, whole_place(position)));
  }

  /// The deadline of a wait in a collective, `collective_timeout()` at first; zero means none.
  void set_timeout(std::chrono::nanoseconds timeout) noexcept { time_limit = timeout; }

  /// Releases all members that wait for others in a collective, and all that enter one from now on, with `peer_failed`.
  void abort() noexcept {
    is_aborted.store(true, std::memory_order_release);
    for (std::size_t i = 0; i < barrier_total; ++i) {
      std::uint32_t phase = all_barriers[i].phase.load();
      while (!(phase & released) && !all_barriers[i].phase.compare_exchange(phase, phase | released)) {
        phase = all_barriers[i].phase.load();
      }
    }
  }

  /// Whether `abort` was called.
  bool aborted() const noexcept { return is_aborted.load(std::memory_order_acquire); }

  /// Makes the team usable again after `abort`; only when no device uses it.
  void reset() noexcept {
    for (std::size_t i = 0; i < barrier_total; ++i) {
      all_barriers[i].arrived.store(0, std::memory_order_relaxed);
      all_barriers[i].phase.store(next(all_barriers[i].phase.load() & ~released));
    }
    is_aborted.store(false, std::memory_order_release);
  }

 private:
  friend class rendezvous;
  friend class device_pool;

  // A barrier's phase is its number of completed rounds, times two, plus `released` after an abort. Completing a round
  // and aborting are changes of this one word, so that either all members pass a round or none does.
  static constexpr std::uint32_t released = 1;
  static constexpr std::uint32_t next(std::uint32_t phase) { return (phase + 2) & wait_word::mask; }

  struct alignas(64) barrier {
    wait_word phase;
    alignas(64) std::atomic<int> arrived{0};
  };

  struct place {
    barrier* at;
    member* members;
    int size;
    int index;
  };

  place place_of(int position, unsigned axes_mask) const noexcept {
    const int size = group_size(axes_mask);
    const int group = axis_index(position, all_axes() & ~axes_mask);
    return {&all_barriers[first_barriers[axes_mask] + index_of(group)],
            &all_members[index_of((static_cast<int>(axes_mask) - 1) * device_total + group * size)], size,
            axis_index(position, axes_mask)};
  }

  patience limits() const noexcept { return {spin_time, time_limit}; }

  /// Waits until all members have come; throws if one never will.
  void meet(const place& here, int position, unsigned axes_mask, collective kind) {
    const std::uint32_t phase = here.at->phase.load();
    if (phase & released) throw peer_failed();
    here.members[here.index].entered.store(next(phase), std::memory_order_relaxed);
    if (here.at->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == here.size) {
      here.at->arrived.store(0, std::memory_order_relaxed);
      if (!here.at->phase.compare_exchange(phase, next(phase))) throw peer_failed();
      return;
    }
    std::uint32_t now = here.at->phase.wait(phase, limits());
    if (now == phase) {
      if (here.at->phase.compare_exchange(phase, phase | released)) {
        abort();
        throw_timeout(here, phase, position, axes_mask, kind);
      }
      now = here.at->phase.load();
    }
    if (now == (phase | released)) throw peer_failed();
  }

  /// Waits until all members have come. They all do: nothing that can fail lies between `meet` and here. An abort does
  /// not end this wait, since a member would otherwise give up memory that others still use.
  void part(const place& here) noexcept {
    std::uint32_t now = here.at->phase.load();
    const std::uint32_t round = now & ~released;
    if (here.at->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == here.size) {
      here.at->arrived.store(0, std::memory_order_relaxed);
      while (!here.at->phase.compare_exchange(now, next(now))) now = here.at->phase.load();
      return;
    }
    while ((now & ~released) == round) now = here.at->phase.wait(now, {spin_time, {}});
  }

  [[noreturn]] void throw_timeout(const place& here, std::uint32_t phase, int position, unsigned axes_mask,
                                  collective kind) const {
    std::vector<int> arrived;
    std::vector<int> missing;
    for (int other = 0; other < device_total; ++other) {
      if (axis_index(other, all_axes() & ~axes_mask) != axis_index(position, all_axes() & ~axes_mask)) continue;
      const member& its = here.members[axis_index(other, axes_mask)];
      const bool came = its.entered.load(std::memory_order_relaxed) == next(phase);
      (came ? arrived : missing).push_back(device_at(other));
    }
    throw timeout_error(device_at(position), std::string(name_of(kind)), axes_text(axes_mask),
                        here.members[here.index].sequence, std::chrono::duration<double>(time_limit).count(),
                        std::move(arrived), std::move(missing));
  }

  int device_at(int position) const { return device_numbers[index_of(position)]; }

  std::string axes_text(unsigned axes_mask) const {
    std::string text;
    int count = 0;
    for (int axis = 0; axis < axis_count; ++axis) {
      if (!(axes_mask >> axis & 1)) continue;
      const std::string_view name = axis_labels[index_of(axis)];
      text += count++ == 0 ? "" : ", ";
      text += name.empty() ? std::to_string(axis) : '"' + std::string(name) + '"';
    }
    return (count == 1 ? "axis " : "axes ") + text;
  }

  int axis_count;
  int device_total = 1;
  std::array<int, max_mesh_axes> axis_sizes{};
  std::array<std::string_view, max_mesh_axes> axis_labels{};
  std::vector<int> device_numbers;
  std::array<std::size_t, 1U << max_mesh_axes> first_barriers{};
  std::size_t barrier_total = 0;
  std::unique_ptr<barrier[]> all_barriers;
  std::unique_ptr<member[]> all_members;
  const processes::process_mesh* between = nullptr;
  std::chrono::nanoseconds time_limit = collective_timeout();
  std::chrono::nanoseconds spin_time{0};
  std::atomic<bool> is_aborted{false};
  std::atomic<bool> in_use{false};
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
