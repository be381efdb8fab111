// What the tests of the simulator's collectives are written with: a clique of all devices.
#pragma once

#include "support/simulator/programs.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

namespace simulator {

/// Streams of all devices, and a clique of them.
struct team {
  explicit team(int devices) : communicators(static_cast<std::size_t>(devices)) {
    for (int d = 0; d < devices; ++d) queues.emplace_back(d);
    std::vector<int> all(communicators.size());
    std::iota(all.begin(), all.end(), 0);
    check(api::create_clique(communicators, all));
    settle();
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team() {
    for (const communicator_handle each : communicators) static_cast<void>(api::destroy_communicator(each));
  }

  /// Waits for what goes on in the background.
  void settle() const {
    for (const communicator_handle each : communicators)
      while (!is_ready(api::communicator_state(each))) {
      }
  }
  void wait() const {
    for (const queue& each : queues) each.wait();
  }
  void abort() {
    check(api::abort_communicators(communicators));
    communicators.clear();
  }

  std::deque<queue> queues;
  std::vector<communicator_handle> communicators;
};

/// `count` floats on each device: device d's i-th is 10 * d + i.
inline std::deque<floats> numbers(const team& of, std::size_t count) {
  std::deque<floats> all;
  for (const queue& each : of.queues) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(10 * each.device) + static_cast<float>(i);
    put(all.emplace_back(each, count), values);
  }
  return all;
}

/// Memory of `count` floats on each device.
inline std::deque<floats> room_for(const team& of, std::size_t count) {
  std::deque<floats> all;
  for (const queue& each : of.queues) all.emplace_back(each, count);
  return all;
}

/// Calls `call(rank)` of all ranks in one group.
inline void together(const team& of, const std::function<void(std::size_t)>& call) {
  check(api::group_start());
  for (std::size_t r = 0; r < of.queues.size(); ++r) call(r);
  const status ended = api::group_end();
  if (ended.is != status::kind::not_ready) check(ended);
  of.settle();
}

inline constexpr element_type f32 = element_type::float32;

/// A rank's part of an all-reduce.
inline void reduce(const team& of, const floats& from, const floats& to, std::size_t rank,
                   reduction_kind how = reduction_kind::sum) {
  check(api::all_reduce(from.data, to.data, from.count, f32, how, of.communicators[rank], of.queues[rank].stream));
}

} // namespace simulator
