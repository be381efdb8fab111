// Shared ownership of raw memory: the host's, with a cache of freed blocks so that repeated calls ask the system for
// nothing, or a device's, which the host sees a copy of once it asks.
#pragma once

#include <parallax/arrays/at_fork.hpp>
#include <parallax/arrays/device_memory.hpp>
#include <parallax/arrays/errors.hpp>
#include <parallax/arrays/transfers.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace parallax {
namespace runtime {

/// False under a sanitizer, which must see each block given back to find uses after the end or after the release. Where
/// files with and without one are linked, either is right: a block is as large as its size class wherever it is made.
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
    static block_cache& cache = *[] {
      std::unique_ptr<block_cache> made(new (std::nothrow) block_cache);
      if (made == nullptr) throw out_of_memory(sizeof(block_cache), "the host");
      // A child of fork would find a lock that another thread held then locked for ever.
      at_fork([] { instance().access.lock(); }, [] { instance().access.unlock(); }, [] { instance().access.unlock(); });
      return made.release();
    }();
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
    std::lock_guard lock(access);
    memory_block*& head = heads[class_index(capacity)];
    if (head == nullptr) return nullptr;
    kept_bytes -= capacity;
    return std::exchange(head, head->next);
  }

  /// Keeps the block for a later `take`, or gives it back to the system.
  void put(memory_block* block) {
    if (memory_block* copy = block->on_host.exchange(nullptr)) put(copy);
    block->on_device.reset();
    if (caches_memory && block->capacity <= largest_block) {
      std::lock_guard lock(access);
      if (kept_bytes + block->capacity <= most_bytes) {
        kept_bytes += block->capacity;
        memory_block*& head = heads[class_index(block->capacity)];
        block->next = std::exchange(head, block);
        return;
      }
    }
    release(block);
  }

  /// The size of all free blocks together.
  std::size_t bytes() {
    std::lock_guard lock(access);
    return kept_bytes;
  }

  /// Gives all free blocks back to the system.
  void clear() {
    std::lock_guard lock(access);
    for (memory_block*& head : heads)
      while (head != nullptr) release(std::exchange(head, head->next));
    kept_bytes = 0;
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

  std::mutex access;
  std::array<memory_block*, class_count> heads{};
  std::size_t kept_bytes = 0;
};

} // namespace runtime

/// A shared handle to memory that starts at a multiple of 64 bytes. Copies share the memory, which is given back with
/// the last of them. Handles may be copied and dropped by several threads; the bytes are not guarded.
class buffer {
 public:
  /// A handle to no memory.
  buffer() = default;

  /// `bytes` uninitialised bytes; none at all for 0. Throws `out_of_memory`.
  static buffer allocate(std::size_t bytes) {
    buffer result;
    if (bytes > 0) result.owned = new_block(bytes, bytes);
    return result;
  }

  /// A handle to `bytes` bytes of a device.
  static buffer adopt(std::unique_ptr<device_memory> memory, std::size_t bytes) {
    buffer result;
    result.owned = new_block(bytes, 1); // the smallest block there is
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
    if (owned != nullptr && owned->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      runtime::block_cache::instance().put(owned);
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
  /// A block for `bytes` bytes, of which `here` lie behind its header.
  static runtime::memory_block* new_block(std::size_t bytes, std::size_t here) {
    if (here > std::numeric_limits<std::ptrdiff_t>::max() - 2 * sizeof(runtime::memory_block))
      throw out_of_memory(bytes, "the host");
    auto& cache = runtime::block_cache::instance();
    std::size_t capacity = runtime::block_cache::rounded(here + sizeof(runtime::memory_block));
    void* memory = cache.take(capacity);
    if (memory == nullptr) memory = from_system(capacity);
    if (memory == nullptr) {
      cache.clear();
      memory = from_system(capacity);
    }
    if (memory == nullptr) throw out_of_memory(bytes, "the host");
    auto* block = ::new (memory) runtime::memory_block;
    block->bytes = bytes;
    block->capacity = capacity;
    return block;
  }

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

  static void* from_system(std::size_t capacity) {
    return ::operator new(capacity, std::align_val_t{alignof(runtime::memory_block)}, std::nothrow);
  }

  runtime::memory_block* owned = nullptr;
};

/// Gives the memory that freed buffers left in the cache back to the system.
inline void release_cached_memory() { runtime::block_cache::instance().clear(); }

} // namespace parallax
