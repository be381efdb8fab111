// Arrays cut into pieces along mapped dimensions: which device holds which piece, and the whole joined again.
#pragma once

#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/slices.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The logical dimension `axis`, of extent `size`, is spread over devices: the device at position p holds its index (p
/// / device_stride) % size.
struct shard_axis {
  int axis = 0;
  std::int64_t size = 1;
  std::int64_t device_stride = 1;

  std::int64_t index_at(std::int64_t position) const { return position / device_stride % size; }
  bool operator==(const shard_axis&) const = default;
};

} // namespace detail

namespace runtime {

inline std::int64_t product(plain_span<const std::int64_t> extents) {
  std::int64_t result = 1;
  for (std::int64_t extent : extents) result *= extent;
  return result;
}

/// The number of distinct pieces that `axes` cut an array into.
inline std::int64_t piece_count(plain_span<const shard_axis> axes) {
  std::int64_t count = 1;
  for (const shard_axis& a : axes) count *= a.size;
  return count;
}

/// The lowest position that holds the piece of a given number. Pieces are numbered by their indices along `axes`, the
/// last axis fastest.
inline std::int64_t position_of_piece(plain_span<const shard_axis> axes, std::int64_t number) {
  std::int64_t position = 0;
  for (std::size_t k = axes.size(); k-- > 0; number /= axes[k].size)
    position += number % axes[k].size * axes[k].device_stride;
  return position;
}

/// Whether `count` pieces, by position, are all pieces that `axes` cut an array into. An array on devices of several
/// processes may have fewer in this one.
inline bool has_all_pieces(plain_span<const shard_axis> axes, std::size_t count) {
  return position_of_piece(axes, piece_count(axes) - 1) < static_cast<std::int64_t>(count);
}
/// Throws `error` unless `count` pieces are all.
inline void check_all_pieces(plain_span<const shard_axis> axes, std::size_t count) {
  if (!has_all_pieces(axes, count))
    throw error("an array was asked for of which this process has only " + std::to_string(count) +
                " of the pieces: others lie with other processes");
}

/// Calls `run(offset, bytes)` for the runs of the row-major array of `shape` that the piece at a position of `axes`
/// consists of, in the order of the piece.
template <class Run>
void for_each_run_of_piece(plain_span<const std::int64_t> shape, std::size_t element_bytes,
                           plain_span<const shard_axis> axes, std::int64_t position, const Run& run) {
  small_vector<slice_level, max_rank> levels;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    for (const shard_axis& a : axes)
      if (a.axis == static_cast<int>(i)) {
        levels.push_back({product(shape.subspan(begin, i - begin)), a.size, a.index_at(position),
                          index_of(product(shape.subspan(i + 1))) * element_bytes});
        begin = i + 1;
      }
  for_each_run({levels.begin(), levels.end()}, index_of(product(shape)) * element_bytes, run);
}

/// Joins the pieces of the row-major array `whole` of `shape`. The piece at position p of `axes` begins `skipped` bytes
/// into `shards[first + p]`. Throws `error` if pieces are missing.
inline void copy_pieces_in(std::byte* whole, plain_span<const std::int64_t> shape, std::size_t element_bytes,
                           plain_span<const shard_axis> axes, plain_span<const buffer> shards, std::int64_t first,
                           std::size_t skipped) {
  check_all_pieces(axes, shards.size() - index_of(first));
  if (product(shape) == 0) return;
  for (std::int64_t number = 0; number < piece_count(axes); ++number) {
    const std::int64_t position = position_of_piece(axes, number);
    const std::byte* piece = shards[index_of(first + position)].data() + skipped;
    for_each_run_of_piece(shape, element_bytes, axes, position, [&](std::size_t offset, std::size_t bytes) {
      copy_bytes(whole + offset, piece, bytes);
      piece += bytes;
    });
  }
}

/// A copy of the piece at a position of `axes`.
inline buffer copy_piece_out(const std::byte* whole, plain_span<const std::int64_t> shape, std::size_t element_bytes,
                             plain_span<const shard_axis> axes, std::int64_t position) {
  buffer piece = buffer::allocate(index_of(product(shape) / piece_count(axes)) * element_bytes);
  if (product(shape) == 0) return piece;
  std::byte* to = piece.data();
  for_each_run_of_piece(shape, element_bytes, axes, position, [&](std::size_t offset, std::size_t bytes) {
    copy_bytes(to, whole + offset, bytes);
    to += bytes;
  });
  return piece;
}

} // namespace runtime

} // namespace parallax::PARALLAX_INLINE_VERSION
