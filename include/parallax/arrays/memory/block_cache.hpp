// Freed blocks of the host's memory, kept so that repeated calls allocate no memory from the system.
#pragma once

#include <parallax/arrays/memory/at_fork.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/kept_copies.hpp>
#include <parallax/arrays/memory/memory_block.hpp>
#include <parallax/arrays/memory/size_class.hpp>
#include <parallax/arrays/memory/system_memory.hpp>
#include <parallax/arrays/memory/thread_blocks.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// The distance from a block's header to a large array. Arrays at the same offset in their pages, such as those at the
/// beginning of blocks, slow a loop down: the processor takes its loads and stores for accesses to one place, and they
/// fall into the same sets of its caches. So consecutive blocks have different shifts.
struct array_shift {
  static constexpr std::size_t step = 256, room = 4096, least_shifted = std::size_t{128} << 10;

  /// The room for shifts in a block for `size` bytes.
  static std::size_t room_for(std::size_t size) { return caches_memory && size >= least_shifted ? room : 0; }
  /// The shift of the next block that is made.
  static std::uint8_t next() {
    static constinit std::atomic<std::uint8_t> blocks{0};
    return static_cast<std::uint8_t>(blocks.fetch_add(1, std::memory_order_relaxed) * 5U % (room / step));
  }
};

inline void release_block(memory_block* block) {
  const std::size_t capacity = block->capacity;
  block->~memory_block();
  system_memory::give_back(block, capacity);
}

/// Free blocks: those of the calling thread, and those that all threads share.
class block_cache {
 public:
  static constexpr std::size_t largest_block = size_class::largest;

  /// The cache of this process. It is never destroyed: arrays with static storage may outlive any other object.
  static block_cache& instance();

  /// A free block of exactly `capacity` bytes, or null.
  static memory_block* take(std::size_t capacity);

  /// Keeps the block for a later `take`, or gives it back to the system.
  static void put(memory_block* block);

  /// Gives up the copies of the block's bytes; to be called before a change.
  static void forget_copies(memory_block* block);

  /// Gives up all copies of the host's bytes on devices. Returns false if there are none.
  static bool forget_kept_copies();

  /// The size of all free blocks together, without those of other threads.
  std::size_t bytes();

  /// Gives all free blocks back to the system. Other threads give theirs back when they next keep a block.
  void clear();

 private:
  /// Gives up a handle to each block of a list.
  static void give_up(memory_block* list);
  static bool keep_in_thread(memory_block* block);
  static bool begin_in_thread();
  static void follow(std::uint32_t wanted);
  memory_block* take_shared(std::size_t capacity);
  void put_shared(memory_block* block);

  static inline constinit std::atomic<std::uint32_t> releases{0};
  std::mutex access;
  std::array<memory_block*, size_class::count_up_to(largest_block)> heads{};
  std::size_t kept_bytes = 0;
};

/// A block for `bytes` bytes with room for `here` behind its header. Throws `out_of_memory`.
PARALLAX_RUNTIME_FUNCTION memory_block* new_block(std::size_t bytes, std::size_t here);

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION block_cache& block_cache::instance() {
  static block_cache& cache = *[] {
    std::unique_ptr<block_cache> made(new (std::nothrow) block_cache);
    if (made == nullptr) throw out_of_memory(sizeof(block_cache), "the host");
    // A child of fork would find a lock that another thread held locked for ever.
    at_fork([] { instance().access.lock(); }, [] { instance().access.unlock(); }, [] { instance().access.unlock(); });
    return made.release();
  }();
  return cache;
}

PARALLAX_RUNTIME_FUNCTION memory_block* block_cache::take(std::size_t capacity) {
  if (!caches_memory || capacity > largest_block) return nullptr;
  if (capacity <= thread_blocks::largest_block)
    if (memory_block* const own = blocks_of_thread.take(capacity)) return own;
  return instance().take_shared(capacity);
}

PARALLAX_RUNTIME_FUNCTION void block_cache::put(memory_block* block) {
  forget_copies(block);
  if (block->on_device != nullptr) block->on_device.reset();
  if (block->destroy_owner != nullptr) block->destroy_owner(block);
  if (!caches_memory || block->capacity > largest_block) return release_block(block);
  if (block->capacity <= thread_blocks::largest_block && keep_in_thread(block)) return;
  instance().put_shared(block);
}

PARALLAX_RUNTIME_FUNCTION void block_cache::forget_copies(memory_block* block) {
  if (block->copies.load(std::memory_order_acquire) == nullptr) return;
  memory_block* const copies =
      block->on_device != nullptr ? block->copies.exchange(nullptr) : kept_copies::instance().taken_from(block);
  give_up(copies);
}

PARALLAX_RUNTIME_FUNCTION void block_cache::give_up(memory_block* list) {
  while (list != nullptr) {
    memory_block* const block = std::exchange(list, list->next);
    if (block->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) put(block);
  }
}

PARALLAX_RUNTIME_FUNCTION bool block_cache::forget_kept_copies() {
  memory_block* const copies = kept_copies::instance().taken_from_all();
  give_up(copies);
  return copies != nullptr;
}

PARALLAX_RUNTIME_FUNCTION std::size_t block_cache::bytes() {
  std::lock_guard lock(access);
  return kept_bytes + blocks_of_thread.kept_bytes;
}

PARALLAX_RUNTIME_FUNCTION void block_cache::clear() {
  follow(releases.fetch_add(1, std::memory_order_relaxed) + 1);
  std::lock_guard lock(access);
  for (memory_block*& head : heads)
    while (head != nullptr) release_block(std::exchange(head, head->next));
  kept_bytes = 0;
}

PARALLAX_RUNTIME_FUNCTION bool block_cache::keep_in_thread(memory_block* block) {
  thread_blocks& own = blocks_of_thread;
  if (!own.serves && !begin_in_thread()) return false;
  const std::uint32_t wanted = releases.load(std::memory_order_relaxed);
  if (own.releases != wanted) follow(wanted);
  return own.put(block);
}

PARALLAX_RUNTIME_FUNCTION bool block_cache::begin_in_thread() {
  if (blocks_of_thread.ended) return false;
  struct at_end {
    ~at_end() {
      blocks_of_thread.serves = false;
      blocks_of_thread.ended = true;
      blocks_of_thread.give_all_to([](memory_block* block) { instance().put_shared(block); });
    }
  };
  thread_local const at_end giving_back;
  static_cast<void>(giving_back);
  return blocks_of_thread.serves = true;
}

PARALLAX_RUNTIME_FUNCTION void block_cache::follow(std::uint32_t wanted) {
  blocks_of_thread.releases = wanted;
  blocks_of_thread.give_all_to(release_block);
}

PARALLAX_RUNTIME_FUNCTION memory_block* block_cache::take_shared(std::size_t capacity) {
  std::lock_guard lock(access);
  memory_block*& head = heads[size_class::index_of(capacity)];
  if (head == nullptr) return nullptr;
  kept_bytes -= capacity;
  return std::exchange(head, head->next);
}

PARALLAX_RUNTIME_FUNCTION void block_cache::put_shared(memory_block* block) {
  {
    std::lock_guard lock(access);
    if (kept_bytes + block->capacity <= system_memory::most_to_keep()) {
      kept_bytes += block->capacity;
      memory_block*& head = heads[size_class::index_of(block->capacity)];
      block->next = std::exchange(head, block);
      return;
    }
  }
  release_block(block);
}

PARALLAX_RUNTIME_FUNCTION memory_block* new_block(std::size_t bytes, std::size_t here) {
  if (here > std::numeric_limits<std::ptrdiff_t>::max() - 2 * sizeof(memory_block) - array_shift::room)
    throw out_of_memory(bytes, "the host");
  const std::size_t room = array_shift::room_for(here);
  const std::size_t capacity = size_class::rounded(here + room + sizeof(memory_block));
  memory_block* const kept = block_cache::take(capacity);
  const std::uint8_t shift = kept != nullptr ? kept->shift : array_shift::next();
  void* memory = kept;
  if (memory == nullptr) memory = system_memory::take(capacity);
  if (memory == nullptr) {
    block_cache::instance().clear();
    memory = system_memory::take(capacity);
  }
  if (memory == nullptr) throw out_of_memory(bytes, "the host");
  auto* block = ::new (memory) memory_block;
  block->shift = shift;
  block->bytes = bytes;
  block->capacity = capacity;
  block->first = block->here() + (room > 0 ? shift * array_shift::step : 0);
  return block;
}
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
