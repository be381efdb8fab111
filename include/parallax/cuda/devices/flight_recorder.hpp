// The last collectives of this process, for the error message about one that did not end.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/api/errors.hpp>
#include <parallax/cuda/devices/device.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

template <device_api Api> class flight_recorder {
 public:
  static constexpr std::size_t capacity = 16; ///< collectives that have ended; all that have not are kept

  /// Notes a collective over mesh axes. Call `begin` before and `end` after it is enqueued: the events of the devices'
  /// streams there show who has arrived and who has completed it. `shared`: its number among the collectives with
  /// members in other processes, or 0. `in_graph`: it stands for all collectives of a graph, which begins with other
  /// work.
  void begin(const char* name, unsigned axes, std::size_t bytes, plain_span<device<Api>* const> members,
             std::uint64_t shared, bool in_graph = false) {
    while (entries.size() > capacity && has_ended(entries.front())) entries.pop_front();
    if (entries.size() == capacity && has_ended(entries.front())) {
      entries.push_back(std::move(entries.front())); // with its events
      entries.pop_front();
    } else {
      entries.emplace_back();
    }
    entry& e = entries.back();
    e.name = name, e.axes = axes, e.bytes = bytes, e.sequence = ++count;
    e.shared = shared, e.step = steps;
    e.members.assign(members.begin(), members.end());
    e.in_graph = in_graph, e.enqueued = e.is_over = false;
    mark(e.arrived, members);
  }
  void end(std::size_t started) {
    for (std::size_t i = entries.size() - std::min(started, entries.size()); i < entries.size(); ++i) {
      mark(entries[i].completed, entries[i].members);
      entries[i].enqueued = true;
    }
  }

  /// Notes a step of a program that is enqueued next.
  void note_step() { ++steps; }
  /// Whether more than `most` steps have been noted behind a collective that has not ended.
  bool is_ahead(std::uint64_t most) const {
    const auto known = std::find_if(entries.begin(), entries.end(), [](const entry& e) { return !e.is_over; });
    if (known == entries.end() || steps - known->step <= most) return false;
    const entry* const first = first_unended();
    return first != nullptr && first->enqueued && steps - first->step > most;
  }

  /// Forgets collectives that were not enqueued, because something failed before.
  void forget_begun() {
    std::erase_if(entries, [](const entry& e) { return !e.enqueued; });
  }

  /// Whether a collective that some device has reached has not ended on all devices. Before devices reach one, their
  /// work may take any time.
  bool is_going_on() const {
    const entry* const first = first_unended();
    return first != nullptr && first->enqueued && !passed(first->arrived, first->members, true).empty();
  }

  /// How far the devices have come: the first collective that has not ended, and the numbers of devices that have
  /// reached and left it.
  struct position {
    std::uint64_t sequence = 0;
    std::size_t arrived = 0, completed = 0;
    bool operator==(const position&) const = default;
  };
  position progress() const {
    const entry* const first = first_unended();
    if (first == nullptr) return {count + 1};
    return {first->sequence, passed(first->arrived, first->members, true).size(),
            first->enqueued ? passed(first->completed, first->members, true).size() : 0};
  }

  /// A collective with members in other processes, and its number among these; without a name there is none.
  struct shared_collective {
    const char* name = nullptr;
    std::uint64_t number = 0;
    bool in_graph = false;
    explicit operator bool() const { return name != nullptr; }
  };
  /// The first collective that has not ended, if it has members in other processes; otherwise none.
  shared_collective waits_for_others() const {
    const entry* const first = first_unended();
    if (first == nullptr || first->shared == 0) return {};
    return {first->name, first->shared, first->in_graph};
  }

  /// The error that says which collective has not ended, who has come, and what was before; `reason` says why it is
  /// thrown.
  collective_error failure(const std::string& reason) const {
    const entry* first = nullptr;
    std::string log;
    std::size_t behind = 0; // the first
    for (const entry& e : entries) {
      if (first != nullptr && ++behind >= capacity) {
        log += "\n  and " + std::to_string(count - e.sequence + 1) + " more";
        break;
      }
      const std::vector<int> completed =
          e.enqueued ? passed(e.completed, e.members, true, is_known_past) : std::vector<int>{};
      if (first == nullptr && completed.size() < e.members.size()) first = &e;
      log += "\n  " + std::to_string(e.sequence) + ": " + describe(e) + ", completed on " +
             std::to_string(completed.size()) + " of " + std::to_string(e.members.size()) + " devices";
    }
    if (first == nullptr) return {reason + "; no collective was going on; the last ones:" + log, "", {}, {}};
    std::vector<int> arrived = passed(first->arrived, first->members, true, is_known_past);
    std::vector<int> missing = passed(first->arrived, first->members, false, is_known_past);
    return {reason + " in " + describe(*first) + "; arrived: " + list(arrived) + "; missing: " + list(missing) +
                "; the last collectives:" + log,
            first->name, arrived, missing};
  }

 private:
  struct entry {
    std::uint64_t sequence = 0, shared = 0, step = 0;
    const char* name = "";
    unsigned axes = 0;
    std::size_t bytes = 0;
    bool in_graph = false, enqueued = false;
    mutable bool is_over = false; ///< as it was found to be
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
  static bool is_past(const device_event<Api>& mark) { return is_ready(Api::query_event(mark.event.get())); }
  /// Whether an event is past, without throwing: while one error is described, another one must not hide it.
  static bool is_known_past(const device_event<Api>& mark) { return Api::query_event(mark.event.get()).ok(); }

  static std::vector<int> passed(const std::deque<device_event<Api>>& events, const std::vector<device<Api>*>& members,
                                 bool wanted, bool (*is_past_mark)(const device_event<Api>&) = is_past) {
    std::vector<int> devices;
    for (std::size_t i = 0; i < members.size(); ++i)
      if (is_past_mark(events[i]) == wanted) devices.push_back(members[i]->number);
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

  /// The first collective that has not ended: they end one after another.
  const entry* first_unended() const {
    for (const entry& e : entries)
      if (!has_ended(e)) return &e;
    return nullptr;
  }

  static bool has_ended(const entry& e) {
    if (!e.is_over) e.is_over = e.enqueued && passed(e.completed, e.members, true).size() == e.members.size();
    return e.is_over;
  }

  std::deque<entry> entries; ///< the oldest first
  std::uint64_t count = 0, steps = 0;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
