// One call of a program that several processes run together.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/gather_bytes.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/runtime/agreement/agreement.hpp>
#include <parallax/runtime/agreement/world_of.hpp>

#include <exception>
#include <optional>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// While it lives, messages between processes are about this call. It is empty if this process runs the program by
/// itself.
class agreed_call {
 public:
  agreed_call() = default;
  /// Throws as `agreement::about` does. `device_count()` is how many devices this process has.
  template <class DeviceCount>
  agreed_call(const plan_view& plan, runner_name by, const recycled_vector<runtime_value>& arguments,
              const DeviceCount& device_count) {
    processes::world* const all = world_of(plan);
    if (all == nullptr) return;
    meeting.emplace(*all);
    agreed = &agreement::about(*all, plan, by, device_count(), arguments);
    all->set_about(agreed->stamp());
  }

  /// Waits until all processes make this call, if the program exchanges anything between processes. For exchanges
  /// without messages: messages say themselves which call they are about. Throws as the first exchange would.
  void meet(const plan_view& plan) {
    if (!meeting) return;
    for (const exchange_step& each : plan.all<exchange_step>()) {
      if (each.is_of_process) continue;
      processes::gather_bytes(meeting->in(), processes::gathering::call, name_of(each.kind), {});
      return;
    }
  }

  explicit operator bool() const { return agreed != nullptr; }

  /// The extents of this process.
  resolved_extents extents_of(const plan_view& plan, const recycled_vector<runtime_value>& arguments) const {
    if (agreed != nullptr) return resolved_extents(agreed->extents().values());
    return resolved_extents(plan, [&](std::size_t leaf) { return arguments[leaf].shape.data(); });
  }
  /// The mesh of all processes that a section runs on; null if this process is by itself.
  const processes::process_mesh* mesh_of(section_id section) const {
    return agreed == nullptr ? nullptr : &agreed->mesh_of(section);
  }

  /// Returns `run()`. If it throws, the other processes are told so.
  template <class Run> auto or_fail(const Run& run) {
    if (!meeting) return run();
    try {
      return run();
    } catch (...) {
      processes::world& all = meeting->in();
      all.fail(all.index(), message_of(std::current_exception()), true);
      throw;
    }
  }

  /// Keeps copies of handles to memory for ever: messages may still be read from or written to that memory.
  template <class... Handles> void keep_for_ever(const Handles&... handles) noexcept {
    if (meeting) meeting->in().keep_for_ever(handles...);
  }

 private:
  std::optional<processes::world::call> meeting;
  const agreement* agreed = nullptr;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
