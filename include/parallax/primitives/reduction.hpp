// Reductions over axes. Parameters: the axes, ascending.
#pragma once

#include <parallax/primitives/elementwise.hpp>

namespace parallax::primitives {

struct reduction {
  static constexpr primitive_kind kind = primitive_kind::reduction;

  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    result.weak = false;
    for (std::size_t i = a.parameters.size(); i-- > 0;) result.shape.erase(static_cast<int>(a.parameters[i]));
    return result;
  }

  static constexpr batched batch(const batch_application& a) {
    int axis = a.operands[0].axis, before = 0;
    small_vector<std::int64_t, max_rank> axes;
    for (std::int64_t reduced : a.parameters) {
      axes.push_back(reduced >= axis ? reduced + 1 : reduced);
      if (reduced < axis) ++before;
    }
    return {emit(a.trace, a.operation, std::span<const tracer>(&a.operands[0].value, 1),
                 {axes.data(), static_cast<std::size_t>(axes.size())}),
            axis - before};
  }

 protected:
  /// The result, or its cotangent, repeated along the reduced axes.
  static constexpr tracer spread(const vjp_application& a, tracer reduced) {
    dims shape = a.operand(0).extents();
    small_vector<int, max_rank> kept;
    for (int i = 0; i < shape.size(); ++i) {
      bool is_reduced = false;
      for (std::int64_t axis : a.parameters) is_reduced = is_reduced || axis == i;
      if (!is_reduced) kept.push_back(i);
    }
    return build::broadcast_in_dim(reduced, shape, {kept.data(), static_cast<std::size_t>(kept.size())});
  }
};

struct reduce_sum : reduction {
  static constexpr std::string_view name = "reduce_sum";
  static constexpr void vjp(vjp_application& a) { a.give(0, spread(a, a.cotangent)); }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::add(x, y); }
};

namespace detail {
struct extreme_reduction : reduction {
  /// The elements that attain the extreme share the cotangent equally.
  static constexpr void vjp(vjp_application& a) {
    tracer attains = build::convert(a.operand(0) == spread(a, a.result), a.result.type());
    small_vector<int, max_rank> axes;
    for (std::int64_t axis : a.parameters) axes.push_back(static_cast<int>(axis));
    tracer count = build::sum(attains, {axes.data(), static_cast<std::size_t>(axes.size())});
    a.give(0, attains * spread(a, a.cotangent / count));
  }
};
struct position_reduction : reduction {
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = reduction::shape(a);
    result.type = element_type::int32;
    return result;
  }
  static constexpr void vjp(vjp_application&) {}
};
} // namespace detail

struct reduce_max : detail::extreme_reduction {
  static constexpr std::string_view name = "reduce_max";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::max(x, y); }
};

struct reduce_min : detail::extreme_reduction {
  static constexpr std::string_view name = "reduce_min";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::min(x, y); }
};

/// The first position of the largest element along one axis, int32; the first NaN where there is one.
struct argmax : detail::position_reduction {
  static constexpr std::string_view name = "argmax";
};

/// The first position of the smallest element along one axis, int32; the first NaN where there is one.
struct argmin : detail::position_reduction {
  static constexpr std::string_view name = "argmin";
};

} // namespace parallax::primitives
