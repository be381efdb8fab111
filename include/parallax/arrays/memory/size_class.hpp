// The sizes that blocks of the host's memory are rounded up to, so that freed ones serve again.
#pragma once

#include <parallax/core/version.hpp>

#include <bit>
#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// False under a sanitizer, which finds uses after the end or after the release only if each block is given back. In a
/// program linked from files with and without a sanitizer, either value is right: a block is as large as its size class
/// wherever it is made.
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

/// Sizes that blocks are rounded up to: four to each power of two, so that at most a fifth of a block is unused.
struct size_class {
  static constexpr std::size_t largest = std::size_t{1} << 40; // more than machines have

  /// The classes of blocks of up to `most` bytes, a power of two.
  static constexpr std::size_t count_up_to(std::size_t most) {
    return 4 * static_cast<std::size_t>(std::bit_width(most - 1) - smallest_width + 1);
  }
  /// The capacity to allocate for a block of `size` bytes.
  static std::size_t rounded(std::size_t size) {
    if (!caches_memory || size > largest) return size;
    const std::size_t step = step_of(size);
    return (size + step - 1) / step * step;
  }
  /// The class of blocks of a rounded capacity.
  static std::size_t index_of(std::size_t capacity) {
    return 4 * static_cast<std::size_t>(width(capacity) - smallest_width) + capacity / step_of(capacity) - 5;
  }

 private:
  static constexpr int smallest_width = 7; // of the sizes up to 128 bytes, header included

  static int width(std::size_t size) {
    const int bits = static_cast<int>(std::bit_width(size - 1));
    return bits < smallest_width ? smallest_width : bits;
  }
  static std::size_t step_of(std::size_t size) { return std::size_t{1} << (width(size) - 3); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
