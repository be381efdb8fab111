// Shared ownership of raw memory: the host's, or a device's, which the host sees a copy of once it asks.
#pragma once

#include <parallax/arrays/block_cache.hpp>
#include <parallax/arrays/device_memory.hpp>
#include <parallax/arrays/errors.hpp>
#include <parallax/arrays/transfers.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace parallax {
/// A shared handle to memory that starts at a multiple of 64 bytes. Copies share the memory, which is given back with
/// the last of them. Handles may be copied and dropped by several threads; the bytes are not guarded.
class buffer {
 public:
  /// A handle to no memory.
  buffer() = default;

  /// `bytes` uninitialised bytes; none at all for 0. Throws `out_of_memory`.
  static buffer allocate(std::size_t bytes) {
    buffer result;
    if (bytes > 0) result.owned = runtime::new_block(bytes, bytes);
    return result;
  }

  /// A handle to `bytes` bytes of a device.
  static buffer adopt(std::unique_ptr<device_memory> memory, std::size_t bytes) {
    buffer result;
    result.owned = runtime::new_block(bytes, 1); // the smallest block there is
    result.owned->on_device = std::move(memory);
    return result;
  }

  buffer(const buffer& other) noexcept : owned(other.owned) {
    if (owned != nullptr) owned->owners.fetch_add(1, std::memory_order_relaxed);
  }
  buffer(buffer&& other) noexcept : owned(std::exchange(other.owned, nullptr)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(owned, other.owned);
    return *this;
  }
  ~buffer() {
    // The last owner sees so, and spares an atomic change.
    if (owned != nullptr && (owned->owners.load(std::memory_order_acquire) == 1 ||
                             owned->owners.fetch_sub(1, std::memory_order_acq_rel) == 1))
      runtime::block_cache::put(owned);
  }

  /// The first byte on the host; null where there are none. A device's bytes are copied here the first time, which is
  /// counted, and must not be changed then. Throws what the backend throws.
  std::byte* data() const {
    if (owned == nullptr) return nullptr;
    return owned->on_device == nullptr ? owned->here() : copy_on_host()->here();
  }

  /// The device's memory, where the bytes lie there.
  device_memory* on_device() const noexcept { return owned == nullptr ? nullptr : owned->on_device.get(); }

  /// Whether this is a handle to no memory.
  bool is_null() const noexcept { return owned == nullptr; }

  /// The number of bytes asked for.
  std::size_t bytes() const noexcept { return owned == nullptr ? 0 : owned->bytes; }

  /// True where the memory is the host's and no other handle shares it, so that its owner may change it.
  bool unique() const noexcept {
    return owned == nullptr || (owned->on_device == nullptr && owned->owners.load(std::memory_order_acquire) == 1);
  }

 private:
  runtime::memory_block* copy_on_host() const {
    if (auto* copy = owned->on_host.load(std::memory_order_acquire)) return copy;
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    if (auto* copy = owned->on_host.load(std::memory_order_acquire)) return copy;
    buffer copy = allocate(owned->bytes);
    owned->on_device->copy_to_host(copy.data(), owned->bytes);
    runtime::count_device_to_host(owned->bytes);
    owned->on_host.store(copy.owned, std::memory_order_release);
    return std::exchange(copy.owned, nullptr);
  }

  runtime::memory_block* owned = nullptr;
};

/// Gives the memory that freed buffers left in the cache back to the system. Other threads keep up to 1 MiB of their
/// own until they next free a buffer.
inline void release_cached_memory() { runtime::block_cache::instance().clear(); }

} // namespace parallax
