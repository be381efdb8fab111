// The free blocks of the host's memory that one thread keeps for itself.
#pragma once

#include <parallax/arrays/memory/memory_block.hpp>
#include <parallax/arrays/memory/size_class.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Free blocks of one thread, which takes and keeps them without a lock. They are plain data, since arrays of static
/// storage may be destroyed after all other objects of a thread.
struct thread_blocks {
  static constexpr std::size_t largest_block = std::size_t{64} << 10;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  /// The most blocks of one size. If one thread frees blocks that another takes, further ones reach that thread by the
  /// list that all threads share.
  static constexpr std::uint8_t most_alike = 16;

  struct list {
    memory_block* first = nullptr;
    std::uint8_t count = 0;
  };
  std::array<list, size_class::count_up_to(largest_block)> lists{};
  std::size_t kept_bytes = 0;
  std::uint32_t releases = 0; ///< how many calls of `release_cached_memory` this thread has carried out
  bool serves = false;        ///< from the first block kept until the thread ends
  bool ended = false;

  memory_block* take(std::size_t capacity) noexcept {
    list& alike = lists[size_class::index_of(capacity)];
    if (alike.first == nullptr) return nullptr;
    kept_bytes -= capacity;
    --alike.count;
    return std::exchange(alike.first, alike.first->next);
  }
  bool put(memory_block* block) noexcept {
    list& alike = lists[size_class::index_of(block->capacity)];
    if (alike.count == most_alike || kept_bytes + block->capacity > most_bytes) return false;
    kept_bytes += block->capacity;
    ++alike.count;
    block->next = std::exchange(alike.first, block);
    return true;
  }
  /// Calls `take_over` with each block and keeps none.
  template <class F> void give_all_to(F take_over) {
    kept_bytes = 0;
    for (list& alike : lists) {
      alike.count = 0;
      while (alike.first != nullptr) take_over(std::exchange(alike.first, alike.first->next));
    }
  }
};
inline thread_local constinit thread_blocks blocks_of_thread{};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
