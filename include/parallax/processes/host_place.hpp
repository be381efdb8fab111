// The part of a host that a process has, if several processes run on it.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/version.hpp>

#include <mutex>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::processes {

/// The number of a process among those on its host.
struct host_place {
  int index = 0, count = 1;
  friend bool operator==(host_place, host_place) = default;
};

namespace detail {
struct known_place {
  std::mutex mutex;
  host_place place;
  bool is_used = false;

  static known_place& of_process() {
    static known_place only;
    return only;
  }
};
} // namespace detail

/// Sets this process' place on its host. Throws `error` if devices have been divided in another way already.
inline void set_host_place(host_place place) {
  detail::known_place& known = detail::known_place::of_process();
  std::lock_guard lock(known.mutex);
  if (known.is_used && !(known.place == place))
    throw error("distributed::initialize: this process uses its devices already, and shares them with other processes "
                "of this host now; call it before anything else");
  known.place = place;
}

/// The range of this process among `count` devices of the host: its first device, and the one behind its last. Each
/// process has as many as the others, or one more; if there are fewer devices than processes, they share them.
inline std::pair<int, int> part_of_host(int count) {
  detail::known_place& known = detail::known_place::of_process();
  std::lock_guard lock(known.mutex);
  known.is_used = true;
  const host_place place = known.place;
  if (count < place.count) return {count == 0 ? 0 : place.index % count, count == 0 ? 0 : place.index % count + 1};
  return {count * place.index / place.count, count * (place.index + 1) / place.count};
}

} // namespace parallax::PARALLAX_INLINE_VERSION::processes
