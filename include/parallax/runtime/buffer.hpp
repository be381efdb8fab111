// Shared ownership of raw memory: the host's, with a cache of freed blocks so that repeated calls ask the system for
// nothing, or a device's, which the host sees a copy of once it asks.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "parallax/runtime/device_memory.hpp"
#include "parallax/runtime/errors.hpp"
#include "parallax/runtime/transfers.hpp"

namespace parallax {
namespace detail {

/// False under a sanitizer, which must see each block given back to find uses after the end or after the release.
inline constexpr bool caches_memory =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#elif !defined(__has_feature)
    true;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    false;
#else
    true;
#endif

/// Lies directly in front of the bytes it describes, and keeps them aligned as itself; alone where a device has them.
struct alignas(64) memory_block {
  std::atomic<std::size_t> owners{1};
  std::size_t bytes = 0;
  std::size_t capacity = 0; // of the whole block, with this header
  memory_block* next = nullptr;
  std::unique_ptr<device_memory> on_device;
  std::atomic<memory_block*> on_host{nullptr}; // the copy of a device's bytes

  std::byte* here() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Free blocks by size class: four classes to each power of two, so that at most a fifth of a block is unused.
class block_cache {
 public:
  static constexpr std::size_t largest_block = std::size_t{64} << 20;
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  /// The cache of this process. It is never destroyed: arrays with static storage may outlive any other object.
  static block_cache& instance() {
    static block_cache& cache = *new block_cache;
    return cache;
  }

  /// The capacity to allocate for a block of `size` bytes.
  static std::size_t rounded(std::size_t size) {
    if (!caches_memory || size > largest_block) return size;
    std::size_t step = class_step(size);
    return (size + step - 1) / step * step;
  }

  /// A free block of exactly `capacity` bytes, or null.
  void* take(std::size_t capacity) {
    if (!caches_memory || capacity > largest_block) return nullptr;
    std::lock_guard lock(mutex_);
    memory_block*& head = free_[class_index(capacity)];
    if (head == nullptr) return nullptr;
    bytes_ -= capacity;
    return std::exchange(head, head->next);
  }

  /// Keeps the block for a later `take`, or gives it back to the system.
  void put(memory_block* block) {
    if (memory_block* copy = block->on_host.exchange(nullptr)) put(copy);
    block->on_device.reset();
    if (caches_memory && block->capacity <= largest_block) {
      std::lock_guard lock(mutex_);
      if (bytes_ + block->capacity <= most_bytes) {
        bytes_ += block->capacity;
        memory_block*& head = free_[class_index(block->capacity)];
        block->next = std::exchange(head, block);
        return;
      }
    }
    release(block);
  }

  /// The size of all free blocks together.
  std::size_t bytes() {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

  /// Gives all free blocks back to the system.
  void clear() {
    std::lock_guard lock(mutex_);
    for (memory_block*& head : free_)
      while (head != nullptr) release(std::exchange(head, head->next));
    bytes_ = 0;
  }

 private:
  static constexpr int smallest_width = 7; // of the sizes up to 128 bytes, header included
  static constexpr int class_count = 4 * (std::bit_width(largest_block - 1) - smallest_width + 1);

  static int width(std::size_t size) {
    int bits = static_cast<int>(std::bit_width(size - 1));
    return bits < smallest_width ? smallest_width : bits;
  }
  static std::size_t class_step(std::size_t size) { return std::size_t{1} << (width(size) - 3); }
  static std::size_t class_index(std::size_t capacity) {
    return 4 * static_cast<std::size_t>(width(capacity) - smallest_width) + capacity / class_step(capacity) - 5;
  }
  static void release(memory_block* block) {
    block->~memory_block();
    ::operator delete(block, std::align_val_t{alignof(memory_block)});
  }

  std::mutex mutex_;
  std::array<memory_block*, class_count> free_{};
  std::size_t bytes_ = 0;
};

} // namespace detail

/// A shared handle to memory that starts at a multiple of 64 bytes. Copies share the memory, which is given back with
/// the last of them. Handles may be copied and dropped by several threads; the bytes are not guarded.
class buffer {
 public:
  /// A handle to no memory.
  buffer() = default;

  /// `bytes` uninitialised bytes; none at all for 0. Throws `out_of_memory`.
  static buffer allocate(std::size_t bytes) {
    buffer result;
    if (bytes > 0) result.block_ = new_block(bytes, bytes);
    return result;
  }

  /// A handle to `bytes` bytes of a device.
  static buffer adopt(std::unique_ptr<device_memory> memory, std::size_t bytes) {
    buffer result;
    result.block_ = new_block(bytes, 1); // the smallest block there is
    result.block_->on_device = std::move(memory);
    return result;
  }

  buffer(const buffer& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  buffer(buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~buffer() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      detail::block_cache::instance().put(block_);
  }

  /// The first byte on the host; null where there are none. A device's bytes are copied here the first time, which is
  /// counted, and must not be changed then. Throws what the backend throws.
  std::byte* data() const {
    if (block_ == nullptr) return nullptr;
    return block_->on_device == nullptr ? block_->here() : copy_on_host()->here();
  }

  /// The device's memory, where the bytes lie there.
  device_memory* on_device() const noexcept { return block_ == nullptr ? nullptr : block_->on_device.get(); }

  /// The number of bytes asked for.
  std::size_t bytes() const noexcept { return block_ == nullptr ? 0 : block_->bytes; }

  /// True where the memory is the host's and no other handle shares it, so that its owner may change it.
  bool unique() const noexcept {
    return block_ == nullptr || (block_->on_device == nullptr && block_->owners.load(std::memory_order_acquire) == 1);
  }

 private:
  /// A block for `bytes` bytes, of which `here` lie behind its header.
  static detail::memory_block* new_block(std::size_t bytes, std::size_t here) {
    if (here > std::numeric_limits<std::ptrdiff_t>::max() - 2 * sizeof(detail::memory_block))
      throw out_of_memory(bytes, "the host");
    auto& cache = detail::block_cache::instance();
    std::size_t capacity = detail::block_cache::rounded(here + sizeof(detail::memory_block));
    void* memory = cache.take(capacity);
    if (memory == nullptr) memory = from_system(capacity);
    if (memory == nullptr) {
      cache.clear();
      memory = from_system(capacity);
    }
    if (memory == nullptr) throw out_of_memory(bytes, "the host");
    auto* block = ::new (memory) detail::memory_block;
    block->bytes = bytes;
    block->capacity = capacity;
    return block;
  }

  detail::memory_block* copy_on_host() const {
    if (auto* copy = block_->on_host.load(std::memory_order_acquire)) return copy;
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    if (auto* copy = block_->on_host.load(std::memory_order_acquire)) return copy;
    buffer copy = allocate(block_->bytes);
    block_->on_device->copy_to_host(copy.data(), block_->bytes);
    detail::count_device_to_host(block_->bytes);
    block_->on_host.store(copy.block_, std::memory_order_release);
    return std::exchange(copy.block_, nullptr);
  }

  static void* from_system(std::size_t capacity) {
    return ::operator new(capacity, std::align_val_t{alignof(detail::memory_block)}, std::nothrow);
  }

  detail::memory_block* block_ = nullptr;
};

/// Gives the memory that freed buffers left in the cache back to the system.
inline void release_cached_memory() { detail::block_cache::instance().clear(); }

} // namespace parallax
