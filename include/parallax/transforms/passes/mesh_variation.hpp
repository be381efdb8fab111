// The axes of meshes along which values differ, and their effect on derivatives: a value that all instances share is
// used by each of them, so that its cotangent is the sum of theirs.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/types/axis_bits.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/collective.hpp>
#include <parallax/primitives/building/build.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Stops constant evaluation: a derivative has left the scope of an axis along which its values differ.
inline void axes_are_in_scope() {}

/// The axes in scope with these bits, the outermost first.
constexpr primitives::mapped_axes axes_in_scope(const context& trace, axis_bits bits) {
  primitives::mapped_axes found;
  for (axis_id axis : trace.bound_axes) {
    const axis_bits own = trace.axes[axis].bit;
    if (own.empty() || !bits.contains(own)) continue;
    found.axes.push_back(axis);
    bits = bits.without(own);
  }
  if (!bits.empty()) axes_are_in_scope();
  return found;
}

/// The sum of the instances' values along axes in scope; along an axis where the values do not differ, a multiple.
constexpr tracer sum_of_instances(tracer x, axis_bits along) {
  if (along.empty()) return x;
  context& trace = *x.owner;
  primitives::mapped_axes differing;
  for (axis_id axis : axes_in_scope(trace, along).axes) {
    trace.axes[axis].is_counted = true;
    if (x.varies().contains(trace.axes[axis].bit)) differing.axes.push_back(axis);
    else x = emit<primitives::multiply>({x, build::extent_value(trace, trace.axis_size(axis), x.type())});
  }
  return differing.axes.empty() ? x : emit<primitives::psum>({x}, {differing});
}

/// Returns `x` as a value that may differ between the instances along axes in scope, so that it has the type of others
/// that do. JAX: lax.pvary
constexpr tracer vary_along(tracer x, axis_bits bits) {
  context& trace = *x.owner;
  const axis_bits missing = bits.without(x.varies());
  if (missing.empty()) return x;
  for (axis_id axis : axes_in_scope(trace, missing).axes) {
    // position >= 0 holds always, and depends on the instance
    const tracer position = emit<primitives::axis_index>(trace, {axis});
    x = build::select(emit<primitives::greater_equal>({position, build::like(position, 0)}), x, x);
  }
  return x;
}

/// Zeros that vary along the same axes as a value.
constexpr tracer varying_zeros_like(tracer x) { return vary_along(build::zeros_like(x), x.varies()); }

/// Lets carries vary along the axes along which their values after a round do; true if any did not yet.
constexpr bool vary_as_made(growing_vector<abstract_value>& carries, const growing_vector<tracer>& made) {
  bool any = false;
  for (std::size_t c = 0; c < carries.size(); ++c) {
    if (carries[c].varies.contains(made[c].varies())) continue;
    carries[c].varies = carries[c].varies | made[c].varies();
    any = true;
  }
  return any;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
