// The system's memory, in blocks.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>

#include <unistd.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace parallax::runtime {

/// Where blocks come from, and go. Large ones are asked for in large pages, of which a thousandth is needed: the system
/// clears a page, and finds it, when it is first touched.
struct system_memory {
  static constexpr std::size_t large_page = std::size_t{2} << 20;
  static constexpr std::size_t least_alignment = 64; ///< of a block

  /// Null where there is none.
  static void* take(std::size_t capacity) noexcept {
    void* const memory = ::operator new(capacity, alignment_of(capacity), std::nothrow);
#if defined(__linux__)
    if (memory != nullptr && capacity >= large_page) {
      const int before = errno; // the system may know no large pages, which is no error
      static_cast<void>(::madvise(memory, capacity, MADV_HUGEPAGE));
      errno = before;
    }
#endif
    return memory;
  }
  static void give_back(void* memory, std::size_t capacity) noexcept {
    ::operator delete(memory, alignment_of(capacity));
  }
  /// How much of it may be kept for later: a quarter of what the machine has.
  static std::size_t most_to_keep() noexcept {
    static const std::size_t most = [] {
      constexpr std::size_t least = std::size_t{256} << 20;
      const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
      if (pages <= 0 || page <= 0) return least;
      return std::max(least, static_cast<std::size_t>(pages) / 4 * static_cast<std::size_t>(page));
    }();
    return most;
  }

 private:
  static std::align_val_t alignment_of(std::size_t capacity) {
    return std::align_val_t{capacity >= large_page ? large_page : least_alignment};
  }
};

} // namespace parallax::runtime
