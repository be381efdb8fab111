// What the simulator's own tests are written with: owners of streams and memory, and loops over seeds.
#pragma once

#include "support/simulator/api.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace simulator {

using parallax::cuda::check;
using parallax::cuda::is_ready;

/// A device and a stream of it.
struct queue {
  explicit queue(int number = 0) : device(number) {
    check(api::set_device(device));
    check(api::create_stream(stream));
  }
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;
  ~queue() { static_cast<void>(api::destroy_stream(stream)); }

  void activate() const { check(api::set_device(device)); }
  void wait() const {
    while (!is_ready(api::query_stream(stream))) {
    }
  }
  /// The same; even where it fails, the pinned memory may be released afterwards.
  void wait_for_copies() const {
    try {
      wait();
    } catch (const parallax::cuda_error&) {
      wait();
      throw;
    }
  }
  /// What is enqueued here from now on comes after what has been enqueued on `other`.
  void wait_for(const queue& other) const {
    struct owned_event {
      owned_event() { check(api::create_event(handle)); }
      owned_event(const owned_event&) = delete;
      owned_event& operator=(const owned_event&) = delete;
      ~owned_event() { static_cast<void>(api::destroy_event(handle)); }
      event_handle handle;
    };
    other.activate();
    const owned_event reached;
    check(api::record_event(reached.handle, other.stream));
    check(api::wait_event(stream, reached.handle));
    activate();
  }

  int device;
  stream_handle stream;
};

/// `count` floats of a device, in the order of a stream.
struct floats {
  floats(const queue& of, std::size_t size) : on(&of), count(size) {
    on->activate();
    void* address = nullptr;
    check(api::allocate(address, bytes(), on->stream));
    data = static_cast<float*>(address);
  }
  floats(const floats&) = delete;
  floats& operator=(const floats&) = delete;
  ~floats() { static_cast<void>(api::release(data, on->stream)); }

  std::size_t bytes() const { return count * sizeof(float); }

  const queue* on;
  std::size_t count;
  float* data = nullptr;
};

/// Pinned floats.
struct pinned {
  explicit pinned(std::size_t count) {
    void* address = nullptr;
    check(api::allocate_pinned(address, count * sizeof(float)));
    data = static_cast<float*>(address);
  }
  explicit pinned(const std::vector<float>& values) : pinned(values.size()) {
    std::memcpy(data, values.data(), values.size() * sizeof(float));
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() { static_cast<void>(api::release_pinned(data)); }

  float* data = nullptr;
};

/// Writes the values, waiting for it.
inline void put(const floats& to, const std::vector<float>& values) {
  const pinned from(values);
  check(api::copy_to_device(to.data, from.data, to.bytes(), to.on->stream));
  to.on->wait_for_copies();
}

/// The values, after all that was enqueued before.
inline std::vector<float> get(const floats& from) {
  const pinned to(from.count);
  check(api::copy_to_host(to.data, from.data, from.bytes(), from.on->stream));
  from.on->wait_for_copies();
  return {to.data, to.data + from.count};
}

/// Runs `program(machine)` on `seeds` machines, and faults where one leaves something.
template <class Program> void under_seeds(std::uint64_t seeds, machine_options options, const Program& program) {
  for (options.seed = 1; options.seed <= seeds; ++options.seed) {
    machine on(options);
    program(on);
    on.finish();
  }
}

/// The text of the fault that the program ends with; empty where it ends without.
template <class Program> std::string fault_of(const Program& program) {
  try {
    program();
  } catch (const fault& found) {
    return found.what();
  }
  return "";
}

/// Whether a fault's text has that part.
inline bool has(const std::string& whole, const std::string& part) { return whole.find(part) != std::string::npos; }

} // namespace simulator
