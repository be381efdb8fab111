// The number of bytes that this process has moved between the host and its devices, so that tests and users can see
// which data stays in place.
#pragma once

#include <parallax/core/version.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Bytes moved since the start of the process or the last `reset_transfers`.
struct transfer_counts {
  std::uint64_t host_to_device = 0;
  std::uint64_t device_to_host = 0;
  std::uint64_t device_to_device = 0;
};

namespace runtime {
struct transfer_counters {
  std::atomic<std::uint64_t> host_to_device{0};
  std::atomic<std::uint64_t> device_to_host{0};
  std::atomic<std::uint64_t> device_to_device{0};
};
inline transfer_counters transferred;

inline void count_host_to_device(std::size_t bytes) {
  transferred.host_to_device.fetch_add(bytes, std::memory_order_relaxed);
}
inline void count_device_to_host(std::size_t bytes) {
  transferred.device_to_host.fetch_add(bytes, std::memory_order_relaxed);
}
inline void count_device_to_device(std::size_t bytes) {
  transferred.device_to_device.fetch_add(bytes, std::memory_order_relaxed);
}
} // namespace runtime

/// The bytes moved so far by all threads.
inline transfer_counts transfers() {
  return {runtime::transferred.host_to_device.load(std::memory_order_relaxed),
          runtime::transferred.device_to_host.load(std::memory_order_relaxed),
          runtime::transferred.device_to_device.load(std::memory_order_relaxed)};
}

/// Starts counting from zero.
inline void reset_transfers() {
  runtime::transferred.host_to_device = 0;
  runtime::transferred.device_to_host = 0;
  runtime::transferred.device_to_device = 0;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
