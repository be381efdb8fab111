// The arguments of a matrix product on the host.
#pragma once

#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/product_shape.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The largest depth of a product that is added to a base while it is computed. Deeper products are summed in parts, so
/// that a base would be rounded several times.
inline constexpr std::int64_t most_accumulated_depth = 128;
/// Whether products of a type can be added to a base while they are computed: 16 bits are rounded from wider sums.
constexpr bool has_accumulation(element_type type) {
  switch (type) {
  case element_type::float32:
  case element_type::float64: return true;
  case element_type::float16:
  case element_type::bfloat16:
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: return false;
  }
  return false;
}

/// A product of arrays at these addresses. With a base, which may be the result itself: base[b][i][j] + scale * that,
/// of float32 and float64.
struct product_arguments : runtime::product_shape {
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
  const void* base = nullptr; ///< row-major
  double scale = 1;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
