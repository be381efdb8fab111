// Sizes and places of memory, checked.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_beyond_memory(std::int64_t count, element_type type);
[[noreturn]] PARALLAX_RUNTIME_FUNCTION void throw_uncountable_loop();

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION void throw_beyond_memory(std::int64_t count, element_type type) {
  throw shape_error("an array of " + std::to_string(count) + " elements of " + std::string(name_of(type)) +
                    " is beyond the memory of any machine");
}
PARALLAX_RUNTIME_FUNCTION void throw_uncountable_loop() { throw shape_error("a loop over more than 2^63 elements"); }
#endif

/// The number of bytes of an array. Throws `shape_error` if it is beyond 63 bits.
inline std::size_t checked_bytes(std::int64_t count, element_type type) {
  const auto element_bytes = static_cast<std::int64_t>(size_of(type));
  if (count > std::numeric_limits<std::int64_t>::max() / element_bytes) throw_beyond_memory(count, type);
  return index_of(count * element_bytes);
}

/// The address `offset` bytes behind `first`; null if `first` is null.
inline std::byte* byte_at(std::byte* first, std::int64_t offset) { return first == nullptr ? nullptr : first + offset; }

/// Throws `shape_error` for a loop that cannot be counted.
inline void check_loop(const std::int64_t* loop, int rank) {
  std::int64_t positions = 1;
  for (int d = 0; d < rank; ++d)
    if (loop[d] == 0) return;
  for (int d = 0; d < rank; ++d)
    if (!checked_multiply(positions, loop[d])) throw_uncountable_loop();
}

/// The sum of two numbers of bytes. Throws `out_of_memory` if it cannot be counted.
inline std::size_t checked_sum(std::size_t a, std::size_t b) {
  if (a > std::numeric_limits<std::size_t>::max() - b)
    throw out_of_memory(std::numeric_limits<std::size_t>::max(), "the memory of intermediate values");
  return a + b;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
