// Checks whether pieces on devices make an array.
#pragma once

#include <parallax/arrays/checked_shapes.hpp>
#include <parallax/arrays/memory/buffer.hpp>
#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/pieces.hpp>
#include <parallax/core/linkage.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Throws `shape_error` unless `pieces`, as many as there are devices, are the pieces that `axes` cut an array of
/// `shape` into. If `others_have_some`, some of these may be missing.
PARALLAX_RUNTIME_FUNCTION void check_pieces(plain_span<const std::int64_t> shape, std::size_t element_bytes,
                                            plain_span<const int> devices, plain_span<const shard_axis> axes,
                                            plain_span<const buffer> pieces, bool others_have_some);

#if PARALLAX_DEFINES_RUNTIME
PARALLAX_RUNTIME_FUNCTION void check_pieces(plain_span<const std::int64_t> shape, std::size_t element_bytes,
                                            plain_span<const int> devices, plain_span<const shard_axis> axes,
                                            plain_span<const buffer> pieces, bool others_have_some) {
  if (devices.empty() || devices.size() != pieces.size())
    throw shape_error("sharded: " + std::to_string(pieces.size()) + " pieces for " + std::to_string(devices.size()) +
                      " devices");
  std::size_t piece_bytes = index_of(product(shape)) * element_bytes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const shard_axis& a = axes[k];
    const bool is_another =
        plain::any_of(axes.subspan(0, k), [&](const shard_axis& other) { return other.axis == a.axis; });
    if (a.axis < 0 || index_of(a.axis) >= shape.size() || is_another || a.size < 1 || a.device_stride < 1 ||
        a.size != shape[index_of(a.axis)])
      throw shape_error("sharded: axis " + std::to_string(a.axis) + " in " + std::to_string(a.size) +
                        " pieces does not fit the shape " + shape_text(shape));
    piece_bytes /= index_of(a.size);
  }
  for (const buffer& piece : pieces)
    if (piece.bytes() < piece_bytes)
      throw shape_error("sharded: a piece of the shape " + shape_text(shape) + " takes " + std::to_string(piece_bytes) +
                        " bytes, not " + std::to_string(piece.bytes()));
  for (std::int64_t number = 0; !others_have_some && number < piece_count(axes); ++number) {
    // `position_of_piece` adds up indices times strides: the sum must name a device that holds these indices
    const std::int64_t position = position_of_piece(axes, number);
    bool held = index_of(position) < devices.size();
    std::int64_t rest = number;
    for (std::size_t k = axes.size(); k-- > 0; rest /= axes[k].size)
      held = held && axes[k].index_at(position) == rest % axes[k].size;
    if (!held)
      throw shape_error("sharded: " + std::to_string(devices.size()) + " devices do not hold all pieces of the shape " +
                        shape_text(shape));
  }
}
#endif

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
