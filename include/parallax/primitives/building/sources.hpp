// Values without operands: constants, indices, extents.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/primitive.hpp>

#include <bit>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct source {
  static constexpr primitive_kind kind = primitive_kind::source;
  static constexpr no_rule batch{"it has no operands"}, vjp{"it has no operands"};
};

/// A scalar constant.
struct literal : source {
  static constexpr std::string_view name = "literal";
  struct parameters {
    element_type type = element_type::float32;
    bool weak = false;
    std::int64_t bits = 0; ///< of a double if the type is a floating one, otherwise the integer

    constexpr double as_double() const { return std::bit_cast<double>(bits); }
    constexpr bool is(std::int64_t number) const {
      return has_double_literal(type) ? as_double() == static_cast<double>(number) : bits == number;
    }
    static constexpr void describe(auto& p, auto& member) {
      member("type", p.type);
      member("weak", p.weak);
      member("bits", p.bits);
    }
  };
  static constexpr abstract_value shape(const shape_application&, const parameters& p) { return {p.type, p.weak, {}}; }
};

/// The index along an axis, or the row-major index. JAX: lax.broadcasted_iota.
struct iota : source {
  static constexpr std::string_view name = "iota";
  static constexpr int row_major = -1; ///< takes the place of an axis
  struct parameters {
    element_type type = element_type::int32;
    int axis = 0;
    dims shape;
    static constexpr void describe(auto& p, auto& member) {
      member("type", p.type);
      member("axis", p.axis);
      member("shape", p.shape);
    }
  };
  static constexpr abstract_value shape(const shape_application&, const parameters& p) {
    return {p.type, false, p.shape};
  }
};

/// An extent that is known at the call, as a scalar.
struct extent_value : source {
  static constexpr std::string_view name = "extent";
  struct parameters {
    element_type type = element_type::int32;
    dim extent;
    static constexpr void describe(auto& p, auto& member) {
      member("type", p.type);
      member("extent", p.extent);
    }
  };
  static constexpr abstract_value shape(const shape_application&, const parameters& p) { return {p.type, false, {}}; }
};

/// The position along a mapped axis, int32.
struct axis_index : source {
  static constexpr std::string_view name = "axis_index";
  struct parameters {
    axis_id axis = axis_id::none;
    static constexpr void describe(auto& p, auto& member) { member("axis", p.axis); }
  };
  static constexpr abstract_value shape(const shape_application&, const parameters&) {
    return {element_type::int32, false, {}};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
