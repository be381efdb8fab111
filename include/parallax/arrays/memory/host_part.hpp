// A part of an array on the host that a device keeps a copy of.
#pragma once

#include <parallax/arrays/memory/slices.hpp>
#include <parallax/core/version.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Rows of bytes. Each begins `pitch` bytes behind the previous one.
struct host_part {
  const std::byte* first = nullptr;
  std::size_t rows = 0, row_bytes = 0, pitch = 0;

  static host_part whole(const std::byte* first, std::size_t bytes) { return {first, 1, bytes, bytes}; }

  std::size_t bytes() const { return rows * row_bytes; }
  /// Copies the rows to `to`, one behind another.
  void copy_to(std::byte* to) const {
    for (std::size_t i = 0; i < rows; ++i) runtime::copy_bytes(to + i * row_bytes, first + i * pitch, row_bytes);
  }

  friend bool operator==(const host_part&, const host_part&) = default;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
