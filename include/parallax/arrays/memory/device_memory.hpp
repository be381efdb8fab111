// Memory of a device that a backend owns, as buffers see it.
#pragma once

#include <parallax/arrays/memory/host_part.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Memory that the host cannot read; the backend that made it derives from this.
class device_memory {
 public:
  explicit device_memory(int logical_device) : device_number(logical_device) {}
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  /// Gives the memory back after all work on it that was enqueued before.
  virtual ~device_memory() = default;

  /// Copies the first `bytes` bytes to the host. Returns when they are there.
  virtual void copy_to_host(std::byte* to, std::size_t bytes) = 0;

  const int device_number; ///< the number that users see
  host_part copied;        ///< of a kept copy: the part of the host's bytes that it copies
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
