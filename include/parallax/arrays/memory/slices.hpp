// Copying slices of contiguous row-major arrays, as raw bytes.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// One dimension of an array, at one index of which a piece lies: `outer` times, each `count` slices of `inner_bytes`
/// lie side by side, and the piece holds the slice at `index`.
struct slice_level {
  std::int64_t outer, count, index;
  std::size_t inner_bytes;
};

/// Calls `run(offset, bytes)` for the runs of the array that a piece consists of, in the order of the piece. `levels`
/// lists the fixed dimensions from the outermost in; with none, the piece is all `whole_bytes` of the array.
template <class Run>
void for_each_run(plain_span<const slice_level> levels, std::size_t whole_bytes, const Run& run,
                  std::size_t offset = 0) {
  if (levels.empty()) return run(offset, whole_bytes);
  const slice_level& level = levels.front();
  std::size_t step = static_cast<std::size_t>(level.count) * level.inner_bytes;
  offset += static_cast<std::size_t>(level.index) * level.inner_bytes;
  for (std::int64_t i = 0; i < level.outer; ++i, offset += step)
    for_each_run(levels.subspan(1), level.inner_bytes, run, offset);
}

/// memcpy with constant sizes for single elements, since slices of a last dimension are that short.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 4) std::memcpy(to, from, 4);
  else if (bytes == 8) std::memcpy(to, from, 8);
  else if (bytes != 0) std::memcpy(to, from, bytes);
}

/// Copies `slices` slices, side by side along one dimension, from one contiguous array to another. The dimension has
/// `from_count` and `to_count` slices. `outer` is the product of the extents before it, `slice_bytes` the size of one
/// slice. The pointers are at the first slices to copy.
inline void copy_slices(const std::byte* from, std::int64_t from_count, std::byte* to, std::int64_t to_count,
                        std::int64_t outer, std::int64_t slices, std::size_t slice_bytes) {
  const std::size_t from_step = static_cast<std::size_t>(from_count) * slice_bytes;
  const std::size_t to_step = static_cast<std::size_t>(to_count) * slice_bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(outer); ++i)
    copy_bytes(to + i * to_step, from + i * from_step, static_cast<std::size_t>(slices) * slice_bytes);
}

/// Copies slice `index`, of `count` along one dimension of `whole`, to `piece`, which consists of that slice.
inline void copy_slice_out(const std::byte* whole, std::byte* piece, std::int64_t outer, std::int64_t count,
                           std::size_t slice_bytes, std::int64_t index) {
  copy_slices(whole + static_cast<std::size_t>(index) * slice_bytes, count, piece, 1, outer, 1, slice_bytes);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
