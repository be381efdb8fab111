// The team of a thread's last call.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/team.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// Keeps the team of a thread's last call for the next one, which has often the same mesh.
class kept_team {
 public:
  /// A team with this mesh: the kept one, which leaves this place, if its mesh is the same, otherwise a new one.
  static std::unique_ptr<team> take(plain_span<const std::int64_t> mesh, plain_span<const int> devices) {
    std::unique_ptr<team> last(std::exchange(of_thread().last, nullptr));
    if (last && last->is_for(mesh, devices)) return last;
    return std::make_unique<team>(mesh, devices);
  }

  /// Keeps a team that no run uses.
  static void keep(std::unique_ptr<team> unused) noexcept {
    thread_local const dropped_at_end object_of_thread;
    static_cast<void>(object_of_thread);
    if (!of_thread().ended) delete std::exchange(of_thread().last, unused.release());
  }

 private:
  // Without a destructor, so that it can still be used when the thread's objects are destroyed: in a handler of exit,
  // or in the destructor of another object.
  struct slot {
    team* last = nullptr;
    bool ended = false;
  };

  struct dropped_at_end {
    ~dropped_at_end() {
      delete std::exchange(of_thread().last, nullptr);
      of_thread().ended = true;
    }
  };

  static slot& of_thread() noexcept {
    thread_local constinit slot here;
    return here;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
