// Changes of shape that move no data by themselves: broadcasting, reshaping, transposing.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/primitives/building/build.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct view {
  static constexpr primitive_kind kind = primitive_kind::view;
};

/// The operand's axes among other axes. The operand repeats along the others, and along its own axes of extent 1.
struct broadcast_in_dim : view {
  static constexpr std::string_view name = "broadcast_in_dim";
  using parameters = broadcast_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    const abstract_value& x = a.operands[0];
    abstract_value result{x.type, x.weak, p.shape};
    for (int i = 0; i < x.rank(); ++i)
      if (!(x.shape[i] == 1))
        unify(a.trace, name, x.shape[i], p.shape[p.axes[i]], x, result, "each extent stays or was 1",
              guard_kind::broadcast_extents);
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    parameters of_all{.shape = p.shape, .axes = {0}};
    of_all.shape.insert(0, a.size);
    for (int axis : p.axes) of_all.axes.push_back(axis + 1);
    return {a.with(build::mapped_at(a.operands[0], 0, a.size), of_all), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    tracer x = a.operand(0);
    axis_list repeated;
    bool stretched = false;
    for (int i = 0; i < p.shape.size(); ++i) {
      int source = p.source_of(i);
      bool stretch = source >= 0 && x.dimension(source) == 1 && !(p.shape[i] == 1);
      stretched = stretched || stretch;
      if (source < 0 || stretch) repeated.push_back(i);
    }
    tracer sum = build::sum(a.cotangent, repeated);
    a.give(0, stretched ? build::reshape(sum, x.extents()) : sum);
  }
};

/// The same elements in row-major order under another shape.
struct reshape : view {
  static constexpr std::string_view name = "reshape";
  using parameters = reshape_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    const abstract_value& x = a.operands[0];
    abstract_value result{x.type, x.weak, p.shape};
    dim before = a.trace.extents.product(x.shape), after = a.trace.extents.product(p.shape);
    if (!(before == after)) unify(a.trace, name, before, after, x, result);
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    parameters of_all = p;
    of_all.shape.insert(0, a.size);
    return {a.with(build::mapped_at(a.operands[0], 0, a.size), of_all), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters&) {
    a.give(0, build::reshape(a.cotangent, a.operand(0).extents()));
  }
};

/// Elements of the operand, which is memory, by strides. A program begins with it for an argument that is laid out so;
/// only operations behind it are transformed. NumPy: lib.stride_tricks.as_strided
struct as_strided : view {
  static constexpr std::string_view name = "as_strided";
  using parameters = stride_parameters;
  static constexpr no_rule batch{"programs begin with it, before anything is transformed"};
  static constexpr no_rule vjp = batch;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    return {a.operands[0].type, a.operands[0].weak, p.shape};
  }
};

struct transpose : view {
  static constexpr std::string_view name = "transpose";
  using parameters = transpose_parameters;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result{a.operands[0].type, a.operands[0].weak, {}};
    for (int axis : p.permutation) result.shape.push_back(a.operands[0].shape[axis]);
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const int mapped = a.operands[0].axis;
    parameters of_all{{mapped}};
    for (int axis : p.permutation) of_all.permutation.push_back(axis >= mapped ? axis + 1 : axis);
    return {a.with(a.operands[0].value, of_all), 0};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    axis_list inverse(p.permutation.size(), 0);
    for (int i = 0; i < inverse.size(); ++i) inverse[p.permutation[i]] = i;
    a.give(0, build::transpose(a.cotangent, inverse));
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
