// The simulated api's devices and memory.
#pragma once

#include "support/simulator/machine.hpp"

#include <parallax/cuda/api/api.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace simulator {

using stream_handle = handle<struct stream_tag>;
using event_handle = handle<struct event_tag>;
using graph_handle = handle<struct graph_tag>;
using communicator_handle = handle<struct communicator_tag>;

/// The `place`-th operation of a capture, from 1.
struct graph_node_handle {
  std::uint64_t capture = 0;
  std::size_t place = 0;
};

inline constexpr call_traits ordinary{};
inline constexpr call_traits question{.asks = true};
inline constexpr call_traits ending{.ends = true};

struct device_functions {
  /// One, so that the seed decides all; a test may want more.
  static inline int threads_of_host = 1;
  static int host_threads() { return threads_of_host; }

  static status device_count(int& count) {
    return call("device_count", [&](world& w) {
      count = w.options.devices;
      return status{};
    });
  }

  static status set_device(int device) {
    return call("set_device", [&](world& w) {
      if (!w.has_device(device)) return no_device("set_device");
      w.caller->device = device;
      return status{};
    });
  }

  static status properties_of(parallax::cuda::device_properties& properties, int device) {
    return call("properties_of", [&](world& w) {
      if (!w.has_device(device)) return no_device("properties_of");
      properties = {text("simulated device ", device), w.options.multiprocessors, w.options.shared_bytes_per_block,
                    w.options.memory_bytes, w.options.largest_cluster};
      return status{};
    });
  }

  static status enable_peer_access(int device, int peer) {
    return call("enable_peer_access", [&](world& w) {
      if (!w.has_device(device) || !w.has_device(peer)) return no_device("enable_peer_access");
      if (!w.options.peer_access)
        return machine::failure("enable_peer_access", "peer access is not supported between these two devices", 217,
                                status::kind::unsupported);
      w.peers[static_cast<std::size_t>(device)] |= std::uint64_t{1} << peer;
      return status{};
    });
  }

  static status allocate(void*& pointer, std::size_t bytes, stream_handle on) {
    return call("allocate", [&](world& w) {
      stream_state& of = w.current_stream(on.number, "allocate");
      if (of.capture != nullptr) fail("allocate while ", of.name(), " is captured");
      if (bytes == 0) fail("allocate of 0 bytes");
      if (!w.pools[of.device].take(bytes, w.options.memory_bytes))
        return machine::failure("allocate", "out of memory", 2, status::kind::out_of_memory);
      allocation& made =
          w.options.reuses_addresses ? w.table.add_again(of.device, bytes) : w.table.add(of.device, bytes);
      pointer = made.data();
      w.enqueue(of, {.name = "allocate", .run = [&made](recorder& log) {
                       made.is = allocation::state::live;
                       made.history.reset(log.who(), false);
                     }});
      return status{};
    });
  }

  static status release(void* pointer, stream_handle on) {
    return call("release", ending, [&](world& w) {
      stream_state& of = w.stream(on.number, "release");
      if (of.capture != nullptr) fail("release while ", of.name(), " is captured");
      allocation& released = w.table.starting(pointer, "release");
      if (released.device == on_host) fail("release of ", released.name());
      released.released_by_host = true;
      auto record = std::make_shared<release_record>();
      w.pools[released.device].put_back(released.bytes, record);
      w.enqueue(of, {.name = "release", .run = [&w, &released, record = std::move(record)](recorder& log) {
                       *record = log.who();
                       log.write_of(released.device, released.data(), released.bytes);
                       log.finish();
                       w.table.retire(released);
                     }});
      return status{};
    });
  }

  static status memory_info(std::size_t& free, std::size_t& total) {
    return call("memory_info", [&](world& w) {
      total = w.options.memory_bytes;
      free = total - w.pools[w.caller->device].used;
      return status{};
    });
  }

  static status trim_memory() {
    return call("trim_memory", [&](world& w) {
      w.check_safe("trim_memory");
      w.pools[w.caller->device].trim(*w.known);
      return status{};
    });
  }

  static status allocate_pinned(void*& pointer, std::size_t bytes) {
    return call("allocate_pinned", [&](world& w) {
      w.check_safe("allocate_pinned");
      if (bytes == 0) fail("allocate_pinned of 0 bytes");
      allocation& made = w.table.add(on_host, bytes);
      made.is = allocation::state::live;
      pointer = made.data();
      return status{};
    });
  }

  /// As real devices do, this waits for all that goes on.
  static status release_pinned(void* pointer) {
    return call("release_pinned", ending, [&](world& w) {
      w.check_safe("release_pinned");
      allocation& released = w.table.starting(pointer, "release_pinned");
      if (released.device != on_host) fail("release_pinned of ", released.name());
      if (released.pending != 0)
        fail("release_pinned of ", released.name(), " while ", released.pending, " copies of it are pending");
      if (const auto user = released.history.unknown_to(*w.known))
        fail("release_pinned of ", released.name(), " before the host has seen the end of ", name_of(*user));
      while (w.scheduled.run_one()) {
      }
      if (const std::string left = w.scheduled.waiting(); !left.empty())
        fail("release_pinned waits for all devices, and nothing can run:", left);
      released.released_by_host = true;
      w.table.retire(released);
      return status{};
    });
  }

 protected:
  template <class F> static status call(const char* name, const call_traits& traits, F f) {
    machine& on = machine::current();
    return on.call(name, traits, [&] { return f(on.inside()); });
  }
  template <class F> static status call(const char* name, F f) { return call(name, ordinary, f); }

  static status no_device(const char* name) { return machine::failure(name, "invalid device ordinal", 101); }
};

} // namespace simulator
