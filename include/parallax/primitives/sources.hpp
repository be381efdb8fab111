// Values without operands: constants, indices, extents.
#pragma once

#include <parallax/primitives/primitive.hpp>

namespace parallax::primitives {

struct source {
  static constexpr primitive_kind kind = primitive_kind::source;
};

/// A scalar constant. Parameters: element type, weakly typed, value (the bits of a double, or an integer).
struct literal : source {
  static constexpr std::string_view name = "literal";
  static constexpr abstract_value shape(const shape_application& a) {
    return {static_cast<element_type>(a.parameters[0]), a.parameters[1] != 0, {}};
  }
};

/// The index along an axis, or the row-major index where the axis is -1. Parameters: element type, axis, extents.
/// JAX: lax.broadcasted_iota.
struct iota : source {
  static constexpr std::string_view name = "iota";
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result{static_cast<element_type>(a.parameters[0]), false, {}};
    for (std::int64_t extent : a.parameters.subspan(2)) result.shape.push_back(extent);
    return result;
  }
};

/// An extent that the call decides, as a scalar. Parameters: element type, extent.
struct extent_value : source {
  static constexpr std::string_view name = "extent";
  static constexpr abstract_value shape(const shape_application& a) {
    return {static_cast<element_type>(a.parameters[0]), false, {}};
  }
};

} // namespace parallax::primitives
