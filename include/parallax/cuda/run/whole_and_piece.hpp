// Copies between a whole array on device 0 and its pieces on the devices of a mesh.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/allocation.hpp>
#include <parallax/cuda/names.hpp>
#include <parallax/runtime/section_call.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A copy of a device's buffer on another device.
template <device_api Api> buffer moved(device<Api>& to, const buffer& from) {
  buffer copy = allocate<Api>(to, from.bytes());
  if (allocation<Api>* memory = allocation_of<Api>(from))
    copy_across<Api>(to, address_of<Api>(copy), memory->home, memory->address(), from.bytes());
  return copy;
}

enum class direction { into_whole, out_of_whole };

/// Copies on device `on` between a whole array and its piece for a position: rows of the last spread dimension at once,
/// for each index before the others.
template <direction Direction, device_api Api>
void copy_piece(device<Api>& on, plain_span<const spread_axis> spread, std::int64_t position, std::size_t whole_bytes,
                std::byte* whole, std::byte* piece) {
  if (spread.empty()) {
    auto [to, from] = Direction == direction::into_whole ? std::pair(whole, piece) : std::pair(piece, whole);
    return copy_across<Api>(on, to, on, from, whole_bytes);
  }
  const spread_axis& first = spread.front();
  const auto rows = index_of(first.before), size = index_of(first.size);
  const std::size_t row = whole_bytes / rows, slice = row / size;
  std::byte* at = whole + index_of(first.index_at(position)) * slice;
  if (spread.size() == 1) {
    return Direction == direction::into_whole ? on.copy_rows(at, row, piece, slice, slice, rows)
                                              : on.copy_rows(piece, slice, at, row, slice, rows);
  }
  recycled_vector<spread_axis> rest(spread.begin() + 1, spread.end());
  for (auto& axis : rest) axis.before /= first.before * first.size;
  std::size_t piece_row = slice;
  for (const auto& axis : rest) piece_row /= index_of(axis.size);
  for (std::size_t i = 0; i < rows; ++i)
    copy_piece<Direction>(on, rest, position, slice, at + i * row, piece + i * piece_row);
}

/// The pieces of a value put together on device `on`.
template <device_api Api> buffer gathered(device<Api>& on, const runtime_value& value) {
  check_all_pieces(value.axes, value.pieces.size());
  buffer whole = allocate<Api>(on, value.bytes());
  if (value.bytes() == 0) return whole;
  recycled_vector<spread_axis> spread;
  const plain_span<const std::int64_t> shape(value.shape);
  for (const shard_axis& a : value.axes)
    spread.push_back({a.axis, a.size, a.device_stride, product(shape.first(index_of(a.axis)))});
  for (std::int64_t number = 0; number < piece_count(value.axes); ++number) {
    const std::int64_t position = position_of_piece(value.axes, number);
    buffer piece = value.pieces[index_of(position)];
    if (&allocation_of<Api>(piece)->home != &on) piece = moved(on, piece);
    copy_piece<direction::into_whole>(on, spread, position, value.bytes(), address_of<Api>(whole),
                                      address_of<Api>(piece));
  }
  return whole;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
