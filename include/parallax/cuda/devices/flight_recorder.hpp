// The last collectives of this process: what an error message says about one that did not end.
#pragma once

#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/api/errors.hpp>
#include <parallax/cuda/devices/device.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace parallax::cuda {

template <device_api Api> class flight_recorder {
 public:
  static constexpr std::size_t capacity = 16;

  /// Notes a collective over mesh axes; call `begin` before and `end` after it is enqueued, the devices' work up to
  /// there being what has arrived and completed. `shared` is its number among those that other processes have members
  /// of, 0 where they have none.
  void begin(const char* name, unsigned axes, std::size_t bytes, plain_span<device<Api>* const> members,
             std::uint64_t shared) {
    entry& e = entries[count++ % capacity];
    if (!lost && e.shared != 0 && !has_ended(e)) lost = {e.name, e.shared};
    e.name = name, e.axes = axes, e.bytes = bytes, e.sequence = count;
    e.shared = shared;
    e.members.assign(members.begin(), members.end());
    mark(e.arrived, members);
    e.enqueued = false;
  }
  void end(std::size_t started) {
    for (std::uint64_t i = count - std::min(started, capacity); i < count; ++i) {
      entry& e = entries[i % capacity];
      mark(e.completed, e.members);
      e.enqueued = true;
    }
  }

  /// Whether a collective has not ended on all devices.
  bool is_going_on() const {
    for (std::uint64_t i = oldest(); i < count; ++i) {
      const entry& e = entries[i % capacity];
      if (e.enqueued && !has_ended(e)) return true;
    }
    return false;
  }

  /// A collective that other processes have members of, and its number among those; without a name there is none.
  struct shared_collective {
    const char* name = nullptr;
    std::uint64_t number = 0;
    explicit operator bool() const { return name != nullptr; }
  };
  /// The first of these that has not ended, where it is the first of all; otherwise none.
  shared_collective waits_for_others() {
    for (std::uint64_t i = oldest(); i < count; ++i) {
      const entry& e = entries[i % capacity];
      if (!has_ended(e)) return lost || e.shared == 0 ? lost : shared_collective{e.name, e.shared};
      if (e.shared > lost.number) lost = {}; // they end one after another
    }
    return {};
  }

  /// The error that says which collective has not ended, who has come, and what was before; `reason` says why it is
  /// thrown.
  collective_error failure(const std::string& reason) const {
    const entry* first = nullptr;
    std::string log;
    for (std::uint64_t i = oldest(); i < count; ++i) {
      const entry& e = entries[i % capacity];
      const std::vector<int> completed = e.enqueued ? passed(e.completed, e.members, true) : std::vector<int>{};
      if (first == nullptr && completed.size() < e.members.size()) first = &e;
      log += "\n  " + std::to_string(e.sequence) + ": " + describe(e) + ", completed on " +
             std::to_string(completed.size()) + " of " + std::to_string(e.members.size()) + " devices";
    }
    if (first == nullptr) return {reason + "; no collective was going on; the last ones:" + log, "", {}, {}};
    std::vector<int> arrived = passed(first->arrived, first->members, true);
    std::vector<int> missing = passed(first->arrived, first->members, false);
    return {reason + " in " + describe(*first) + "; arrived: " + list(arrived) + "; missing: " + list(missing) +
                "; the last collectives:" + log,
            first->name, arrived, missing};
  }

 private:
  struct entry {
    std::uint64_t sequence = 0, shared = 0;
    const char* name = "";
    unsigned axes = 0;
    std::size_t bytes = 0;
    bool enqueued = false;
    std::vector<device<Api>*> members;
    std::deque<device_event<Api>> arrived, completed;
  };

  static void mark(std::deque<device_event<Api>>& events, plain_span<device<Api>* const> members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->activate();
      while (i < events.size() && events[i].physical != members[i]->physical) events.pop_back();
      if (i == events.size()) events.emplace_back(members[i]->physical);
      check(Api::record_event(events[i].event.get(), members[i]->stream()), members[i]->number);
    }
  }
  static std::vector<int> passed(const std::deque<device_event<Api>>& events, const std::vector<device<Api>*>& members,
                                 bool wanted) {
    std::vector<int> devices;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (Api::query_event(events[i].event.get()).ok() == wanted) devices.push_back(members[i]->number);
    return devices;
  }
  static std::string describe(const entry& e) {
    std::string axes;
    for (int axis = 0; axis < 32; ++axis)
      if (e.axes >> axis & 1U) axes += (axes.empty() ? "" : ",") + std::to_string(axis);
    std::vector<int> devices;
    for (const device<Api>* each : e.members) devices.push_back(each->number);
    return std::string(e.name) + " over mesh axes " + axes + " of " + std::to_string(e.bytes) + " bytes on devices " +
           list(devices);
  }
  static std::string list(const std::vector<int>& devices) {
    std::string text;
    for (int device : devices) text += (text.empty() ? "" : ", ") + std::to_string(device);
    return text.empty() ? "none" : text;
  }

  std::uint64_t oldest() const { return count > capacity ? count - capacity : 0; }

  static bool has_ended(const entry& e) {
    if (!e.enqueued) return false;
    for (std::size_t i = 0; i < e.members.size(); ++i)
      if (!Api::query_event(e.completed[i].event.get()).ok()) return false;
    return true;
  }

  std::array<entry, capacity> entries;
  std::uint64_t count = 0;
  shared_collective lost; ///< the first that had not ended when its entry was needed
};

} // namespace parallax::cuda
