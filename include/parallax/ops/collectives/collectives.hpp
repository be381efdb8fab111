// Collectives that combine the values of instances over mapped axes, by name, and an instance's place along them. JAX:
// the parallel operators of jax.lax.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/mapped_axes.hpp>
#include <parallax/ops/math/elementwise.hpp>

#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <fixed_string... Names> struct psum_operation : operation<psum_operation<Names...>> {
  template <instance_groups Groups> static constexpr tracer apply(context& trace, tracer x, const Groups& groups) {
    participants who = find_participants<Names...>(trace, "psum", groups);
    return trace.failed ? x : sum(trace, x, who);
  }
  static constexpr tracer sum(context& trace, tracer x, const participants& who) {
    if (x.type() == element_type::boolean) x = build::convert(x, element_type::int32);
    // the sum of a constant is known: it is equal on all instances
    if (is<primitives::literal>(x) && who.equal_groups)
      return emit<primitives::multiply>({build::convert(x, x.type()), build::extent_value(trace, who.size, x.type())});
    return emit_collective<primitives::psum>(x, {who.over});
  }
};
template <fixed_string... Names> struct pmean_operation : operation<pmean_operation<Names...>> {
  template <instance_groups Groups> static constexpr tracer apply(context& trace, tracer x, const Groups& groups) {
    participants who = find_participants<Names...>(trace, "pmean", groups);
    if (trace.failed) return x;
    using total = psum_operation<Names...>;
    tracer sum = total::sum(trace, x.type() == element_type::boolean || is_integer(x.type()) ? to_inexact(x) : x, who);
    if (trace.failed) return x;
    return sum / (who.equal_groups ? build::extent_value(trace, who.size, sum.type())
                                   : total::sum(trace, build::like(sum, 1), who));
  }
};
template <class Primitive, fixed_string... Names>
struct extreme_operation : operation<extreme_operation<Primitive, Names...>> {
  template <instance_groups Groups> static constexpr tracer apply(context& trace, tracer x, const Groups& groups) {
    return emit_collective<Primitive>(x, {find_participants<Names...>(trace, Primitive::name, groups).over});
  }
};
template <fixed_string... Names> struct axis_index_operation : operation<axis_index_operation<Names...>> {
  static constexpr tracer apply(context& trace) {
    const auto axes = find_participants<Names...>(trace, "axis_index").over.axes;
    tracer index = build::integer_literal(trace, element_type::int32, 0);
    for (int i = 0; i < axes.size() && !trace.failed; ++i) {
      tracer here = emit<primitives::axis_index>(trace, {axes[i]});
      tracer size = build::extent_value(trace, trace.axis_size(axes[i]), element_type::int32);
      index = i == 0 ? here : emit<primitives::add>({emit<primitives::multiply>({index, size}), here});
    }
    return index;
  }
};
template <fixed_string... Names> struct axis_size_operation : operation<axis_size_operation<Names...>> {
  static constexpr tracer apply(context& trace) {
    return build::extent_value(trace, find_participants<Names...>(trace, "axis_size").size, element_type::int32);
  }
};

/// Applies an operation to the leaves of a tree. Numbers become expressions, which the trace computes.
template <class Operation, class T, class... Options> constexpr auto over_leaves(const T& tree, const Options&... how) {
  return tree_map(
      [&](const auto& leaf) {
        using L = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (scalar<L>) return lazy<Operation, L, Options...>{{leaf, how...}};
        else return Operation{}(leaf, how...);
      },
      tree);
}

} // namespace detail

/// The sum over the named axes, on every instance, or over groups of instances: `psum<"i">(x, axis_index_groups{{0, 1},
/// {2, 3}})`; maps over trees. Shapes: that of x. Errors: an axis that is not mapped here; groups that do not name each
/// instance once. JAX: lax.psum
template <detail::fixed_string... Names, class T, detail::instance_groups Groups = none_t>
constexpr auto psum(const T& x, const Groups& groups = {}) {
  return detail::over_leaves<detail::psum_operation<Names...>>(x, groups);
}
/// The mean over the named axes, or over groups of instances, each divided by its own size. Integers and truth values
/// become float32 before they are summed, so the sum does not wrap around as JAX's does. Shapes: that of x. Errors: an
/// axis that is not mapped here; groups that do not name each instance once. JAX: lax.pmean
template <detail::fixed_string... Names, class T, detail::instance_groups Groups = none_t>
constexpr auto pmean(const T& x, const Groups& groups = {}) {
  return detail::over_leaves<detail::pmean_operation<Names...>>(x, groups);
}
/// The largest value over the named axes, or over groups of instances. Shapes: that of x. Errors: an axis that is not
/// mapped here; groups that do not name each instance once. JAX: lax.pmax
template <detail::fixed_string... Names, class T, detail::instance_groups Groups = none_t>
constexpr auto pmax(const T& x, const Groups& groups = {}) {
  return detail::over_leaves<detail::extreme_operation<primitives::pmax, Names...>>(x, groups);
}
/// The smallest value over the named axes, or over groups of instances. Shapes: that of x. Errors: an axis that is not
/// mapped here; groups that do not name each instance once. JAX: lax.pmin
template <detail::fixed_string... Names, class T, detail::instance_groups Groups = none_t>
constexpr auto pmin(const T& x, const Groups& groups = {}) {
  return detail::over_leaves<detail::extreme_operation<primitives::pmin, Names...>>(x, groups);
}

/// This instance's position along the named axis, int32; several names count row-major. Shapes: a number. Errors: an
/// axis that is not mapped here. JAX: lax.axis_index
template <detail::fixed_string... Names> constexpr auto axis_index() {
  return lazy<detail::axis_index_operation<Names...>>{};
}
/// The number of instances along the named axes, int32. Shapes: a number. Errors: an axis that is not mapped here. JAX:
/// lax.axis_size
template <detail::fixed_string... Names> constexpr auto axis_size() {
  return lazy<detail::axis_size_operation<Names...>>{};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
