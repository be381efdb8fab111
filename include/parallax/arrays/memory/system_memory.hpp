// The system's memory, in blocks.
#pragma once

#include <parallax/core/version.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Takes blocks from the system and gives them back. For large blocks it asks for large pages, of which far fewer are
/// needed: the system clears a page, and looks for it, when it is first touched.
struct system_memory {
  static constexpr std::size_t large_page = std::size_t{2} << 20;
  static constexpr std::size_t least_alignment = 64; ///< of a block

  /// A block; null if there is no memory.
  static void* take(std::size_t capacity) noexcept {
    void* const memory = ::operator new(capacity, alignment_of(capacity), std::nothrow);
#if defined(__linux__)
    if (memory != nullptr && capacity >= large_page) {
      const int before = errno; // a system without large pages reports an error, which is ignored
      static_cast<void>(::madvise(memory, capacity, MADV_HUGEPAGE));
      errno = before;
    }
#endif
    return memory;
  }
  static void give_back(void* memory, std::size_t capacity) noexcept {
    ::operator delete(memory, alignment_of(capacity));
  }
  /// The most bytes to keep for later use: a quarter of this process' share of the memory, but at least 256 MiB.
  static std::size_t most_to_keep() noexcept {
    static const std::size_t most = std::max(std::size_t{256} << 20, all() / 4 / processes_here());
    return most;
  }

 private:
  /// The memory of the machine, or of its container if that has less; 0 if it is not known.
  static std::size_t all() noexcept {
    std::size_t bytes = 0;
#if defined(__linux__)
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
    for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::FILE* const file = std::fopen(limit, "r");
      if (file == nullptr) continue;
      unsigned long long allowed = 0; // the file may also say "max"
      if (std::fscanf(file, "%llu", &allowed) == 1 && allowed > 0)
        bytes = std::min(bytes, static_cast<std::size_t>(allowed));
      std::fclose(file);
    }
#endif
    return bytes;
  }
  /// How many processes a launcher has started on this machine.
  static std::size_t processes_here() noexcept {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "LOCAL_WORLD_SIZE"})
      if (const char* const text = std::getenv(name); text != nullptr)
        if (const long count = std::atol(text); count > 0) return static_cast<std::size_t>(count);
    return 1;
  }
  static std::align_val_t alignment_of(std::size_t capacity) {
    return std::align_val_t{capacity >= large_page ? large_page : least_alignment};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
