// Vectors whose memory comes from the cache of freed blocks, so that a repeated call allocates no memory.
#pragma once

#include <parallax/arrays/memory/block_cache.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

template <class T> struct recycling_allocator {
  using value_type = T;

  recycling_allocator() = default;
  template <class U> recycling_allocator(const recycling_allocator<U>&) {}

  /// Throws `out_of_memory`.
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(memory_block));
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw out_of_memory(std::numeric_limits<std::size_t>::max(), "the host");
    return reinterpret_cast<T*>(new_block(count * sizeof(T), count * sizeof(T))->here());
  }
  void deallocate(T* first, std::size_t) noexcept { block_cache::put(reinterpret_cast<memory_block*>(first) - 1); }
  friend bool operator==(recycling_allocator, recycling_allocator) { return true; }
};

template <class T> using recycled_vector = std::vector<T, recycling_allocator<T>>;

template <class T> bool operator==(const recycled_vector<T>& a, const std::vector<T>& b) { return plain::equal(a, b); }

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
