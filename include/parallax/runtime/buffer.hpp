// Shared ownership of raw host memory, with a cache of freed blocks so that repeated calls ask the system for nothing.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "parallax/runtime/errors.hpp"

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

/// Lies directly in front of the bytes it describes, and keeps them aligned as itself.
struct alignas(64) memory_block {
  std::atomic<std::size_t> owners{1};
  std::size_t bytes = 0;
  std::size_t capacity = 0; // of the whole block, with this header
  memory_block* next = nullptr;

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
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

/// A shared handle to host memory that starts at a multiple of 64 bytes. Copies share the memory, which is given back
/// with the last of them. Handles may be copied and dropped by several threads; the bytes are not guarded.
class buffer {
 public:
  /// A handle to no memory.
  buffer() = default;

  /// `bytes` uninitialised bytes; none at all for 0. Throws `out_of_memory`.
  static buffer allocate(std::size_t bytes) {
    buffer result;
    if (bytes == 0) return result;
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - 2 * sizeof(detail::memory_block))
      throw out_of_memory(bytes, "the host");
    auto& cache = detail::block_cache::instance();
    std::size_t capacity = detail::block_cache::rounded(bytes + sizeof(detail::memory_block));
    void* memory = cache.take(capacity);
    if (memory == nullptr) memory = from_system(capacity);
    if (memory == nullptr) {
      cache.clear();
      memory = from_system(capacity);
    }
    if (memory == nullptr) throw out_of_memory(bytes, "the host");
    result.block_ = ::new (memory) detail::memory_block;
    result.block_->bytes = bytes;
    result.block_->capacity = capacity;
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

  /// The first byte; null where there are none.
  std::byte* data() const noexcept { return block_ == nullptr ? nullptr : block_->data(); }

  /// The number of bytes asked for.
  std::size_t bytes() const noexcept { return block_ == nullptr ? 0 : block_->bytes; }

  /// True where no other handle shares the memory, which its owner may then change.
  bool unique() const noexcept { return block_ == nullptr || block_->owners.load(std::memory_order_acquire) == 1; }

 private:
  static void* from_system(std::size_t capacity) {
    return ::operator new(capacity, std::align_val_t{alignof(detail::memory_block)}, std::nothrow);
  }

  detail::memory_block* block_ = nullptr;
};

/// Gives the memory that freed buffers left in the cache back to the system.
inline void release_cached_memory() { detail::block_cache::instance().clear(); }

} // namespace parallax
