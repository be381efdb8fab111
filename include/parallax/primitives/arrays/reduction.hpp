// Reductions over axes.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/math/elementwise.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// A reduction combines two values by `evaluate(x, y)`; `neutral<T>()` combined with any value is that value.
struct reduction {
  static constexpr primitive_kind kind = primitive_kind::reduction;
  using parameters = reduction_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = a.operands[0];
    result.weak = false;
    for (int i = p.axes.size(); i-- > 0;) result.shape.erase(p.axes[i]);
    return result;
  }

  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const int mapped = a.operands[0].axis;
    int before = 0;
    parameters of_all;
    for (int axis : p.axes) {
      of_all.axes.push_back(axis >= mapped ? axis + 1 : axis);
      if (axis < mapped) ++before;
    }
    return {a.with(a.operands[0].value, of_all), mapped - before};
  }

 protected:
  /// The result, or its cotangent, repeated along the reduced axes.
  static constexpr tracer spread(const vjp_application& a, const parameters& p, tracer reduced) {
    dims shape = a.operand(0).extents();
    axis_list kept;
    for (int i = 0; i < shape.size(); ++i)
      if (!p.axes.contains(i)) kept.push_back(i);
    return build::broadcast_in_dim(reduced, shape, kept);
  }
};

struct reduce_sum : reduction {
  static constexpr std::string_view name = "reduce_sum";
  static constexpr void vjp(vjp_application& a, const parameters& p) { a.give(0, spread(a, p, a.cotangent)); }
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::add(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return T{}; }
};

namespace detail {
struct extreme_reduction : reduction, of_ordered {
  /// The elements that equal the extreme share the cotangent equally. Those of 16-bit types are counted in float32.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    tracer cotangent = build::widen(a.cotangent);
    tracer attains = build::convert(a.operand(0) == spread(a, p, a.result), cotangent.type());
    tracer count = build::sum(attains, p.axes);
    a.give(0, build::convert(attains * spread(a, p, cotangent / count), a.result.type()));
  }
};
struct position_reduction : reduction, of_ordered {
  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = reduction::shape(a, p);
    result.type = element_type::int32;
    return result;
  }
  static constexpr zero_rule vjp{};
  static constexpr no_rule evaluate{"the kernels of positions are their own"};
};
} // namespace detail

struct reduce_max : detail::extreme_reduction {
  static constexpr std::string_view name = "reduce_max";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::max(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return math::least<T>(); }
};

struct reduce_min : detail::extreme_reduction {
  static constexpr std::string_view name = "reduce_min";
  template <class V> static PARALLAX_HD V evaluate(V x, V y) { return math::min(x, y); }
  template <class T> static PARALLAX_HD constexpr T neutral() { return math::greatest<T>(); }
};

/// The first position of the largest element along one axis, int32; that of the first NaN if there is one.
struct argmax : detail::position_reduction {
  static constexpr std::string_view name = "argmax";
};

/// The first position of the smallest element along one axis, int32; that of the first NaN if there is one.
struct argmin : detail::position_reduction {
  static constexpr std::string_view name = "argmin";
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
