// Operations between the instances of a mapped function that combine or gather values.
#pragma once

#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/assembly.hpp>
#include <parallax/primitives/building/mapped_axes.hpp>
#include <parallax/primitives/building/operators.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

struct collective_parameters {
  mapped_axes over;
  static constexpr void describe(auto& p, auto& member) { mapped_axes::describe(p.over, member); }
};

/// The parameters of gathers and scatters: besides `over`, an axis of the longer array. The instances' values are
/// stacked along it or, if `tiled`, joined to it or cut from it.
struct gather_parameters {
  mapped_axes over;
  int dimension = 0;
  bool tiled = false;
  static constexpr void describe(auto& p, auto& member) {
    mapped_axes::describe(p.over, member);
    member("dimension", p.dimension);
    member("tiled", p.tiled);
  }
};

/// The base of collectives. The members of their parameters begin with `over`. Each collective says by `exchange` what
/// devices do; one that combines values says by `reduction` how.
struct collective {
  static constexpr primitive_kind kind = primitive_kind::collective;
  using parameters = collective_parameters;
  /// Whether the result may differ between the instances along an axis of `over`.
  static constexpr bool varies_over_own_axes = false;

  static constexpr abstract_value shape(const shape_application& a, const auto&) {
    abstract_value result = a.operands[0];
    result.weak = false;
    return result;
  }

 protected:
  /// Whether `over` is one axis, so that instances are counted along it; otherwise an error, as in JAX.
  static constexpr bool one_axis(const batch_application& a, const mapped_axes& over, std::string_view name) {
    if (over.axes.size() == 1) return true;
    a.trace.fail(message() << name
                           << ": several axes of which vmap maps one are not supported; call it for one axis "
                              "after the other");
    return false;
  }
  /// Batches a collective whose axes do not include the vmapped one: it is applied once to the values of all vmapped
  /// instances.
  static constexpr batched unchanged(const batch_application& a) {
    return {a.again(a.operands[0].value), a.operands[0].axis};
  }
  /// The reduction of `local`, which has been reduced over the vmapped axis, over the other axes of the collective.
  static constexpr batched over_other_axes(const batch_application& a, const parameters& p, tracer local) {
    parameters rest{p.over.without(a.axis)};
    return {rest.over.axes.empty() ? local : a.with(local, rest)};
  }
  /// The sum of an operand over all instances of the vmapped axis.
  static constexpr tracer sum_of_instances(const batch_application& a) {
    const batched& x = a.operands[0];
    return x.is_mapped() ? build::sum(x.value, x.axis) : x.value * build::extent_value(a.trace, a.size, x.value.type());
  }
};

/// The sum over all instances, on every instance. Along axes that pmap and vmap map, its transpose is itself (JAX's
/// pmap convention). Along axes of a mesh, the sum is one value that all instances share, and each operand gets that
/// value's cotangent.
struct psum : collective {
  static constexpr std::string_view name = "psum";
  static constexpr exchange_kind exchange = exchange_kind::all_reduce;
  static constexpr reduction_kind reduction = reduction_kind::sum;
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    return p.over.contains(a.axis) ? over_other_axes(a, p, sum_of_instances(a)) : unchanged(a);
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    parameters summed{p.over};
    for (axis_id axis : p.over.axes)
      if (!a.trace.axes[axis].bit.empty() && !p.over.has_groups()) summed.over = summed.over.without(axis);
    a.give(0, summed.over.axes.empty() ? a.cotangent : emit<psum>({a.cotangent}, summed));
  }
};

namespace detail {
template <class Reduction> struct extreme_collective : collective, of_ordered {
  static constexpr exchange_kind exchange = exchange_kind::all_reduce;
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    if (!p.over.contains(a.axis)) return unchanged(a);
    const batched& x = a.operands[0];
    return over_other_axes(a, p, x.is_mapped() ? build::reduce<Reduction>(x.value, {x.axis}) : x.value);
  }
  static constexpr no_rule vjp{"as in JAX: of values that tie on several devices, nothing says whose counts"};
};
} // namespace detail

/// The largest value of all instances.
struct pmax : detail::extreme_collective<reduce_max> {
  static constexpr std::string_view name = "pmax";
  static constexpr reduction_kind reduction = reduction_kind::max;
};

/// The smallest value of all instances.
struct pmin : detail::extreme_collective<reduce_min> {
  static constexpr std::string_view name = "pmin";
  static constexpr reduction_kind reduction = reduction_kind::min;
};

namespace detail {
/// The base of collectives with an axis along which the instances' values lie.
struct gathering_collective : collective {
  using parameters = gather_parameters;

 protected:
  /// Batches a collective whose axes do not include the vmapped one: it is applied once to the values of all vmapped
  /// instances. Untiled, its result has `new_axes` more axes than its operand.
  static constexpr batched unchanged(const batch_application& a, const parameters& p, int new_axes) {
    const batched& x = a.operands[0];
    const bool is_before = x.axis <= p.dimension;
    parameters of_all = p;
    if (is_before) ++of_all.dimension;
    return {a.with(x.value, of_all), is_before || p.tiled ? x.axis : x.axis + new_axes};
  }
};
} // namespace detail

/// The values of all instances, on every instance: stacked along a new axis, or (tiled) joined along an existing one.
struct all_gather : detail::gathering_collective {
  static constexpr std::string_view name = "all_gather";
  static constexpr exchange_kind exchange = exchange_kind::all_gather;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = collective::shape(a, p);
    dim size = p.over.group_size(a.trace);
    if (p.tiled) result.shape[p.dimension] = a.trace.extents.multiply(result.shape[p.dimension], size);
    else result.shape.insert(p.dimension, size);
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const batched& x = a.operands[0];
    if (!p.over.contains(a.axis)) return unchanged(a, p, 1);
    if (!one_axis(a, p.over, name)) return x;
    tracer gathered = build::mapped_at(x, p.dimension, a.size);
    if (p.tiled) {
      dims joined = gathered.extents();
      joined[p.dimension + 1] = a.trace.extents.multiply(joined[p.dimension + 1], a.size);
      joined.erase(p.dimension);
      gathered = build::reshape(gathered, joined);
    }
    return {gathered};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    a.give(0, emit<psum_scatter>({a.cotangent}, p));
  }
};

/// The sum over all instances. Each instance keeps its own slice of an axis: the axis is removed or, if `tiled`,
/// divided.
struct psum_scatter : detail::gathering_collective {
  static constexpr std::string_view name = "psum_scatter";
  static constexpr exchange_kind exchange = exchange_kind::reduce_scatter;
  static constexpr bool varies_over_own_axes = true;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = collective::shape(a, p);
    dim size = p.over.group_size(a.trace), extent = result.shape[p.dimension];
    if (p.tiled) {
      result.shape[p.dimension] = divided(a, extent, size);
    } else {
      check_same(a, extent, size);
      result.shape.erase(p.dimension);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a, const parameters& p) {
    if (!p.over.contains(a.axis)) return unchanged(a, p, -1);
    if (!one_axis(a, p.over, name)) return a.operands[0];
    tracer sum = sum_of_instances(a);
    if (p.tiled) {
      dims split = sum.extents();
      split[p.dimension] = a.trace.extents.divide(split[p.dimension], a.size);
      split.insert(p.dimension, a.size);
      sum = build::reshape(sum, split);
    }
    return {sum, p.dimension};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) { a.give(0, emit<all_gather>({a.cotangent}, p)); }

 private:
  static constexpr dim divided(const shape_application& a, dim extent, dim size) {
    const bool known = is_static(extent) && is_static(size);
    if (known && (size == 0 || extent.number() % size.number() != 0))
      a.trace.fail(message() << "psum_scatter: tiled reduce_scatter operand scatter dimension size " << extent.number()
                             << " must be divisible by shard_count " << size.number()
                             << "; pad it, or map over another number");
    dim part = a.trace.extents.divide(extent, size);
    if (!known && !(a.trace.extents.multiply(part, size) == extent))
      require(a.trace, guard_kind::divisible, "psum_scatter: tiled scatter dimension", extent, size, a.operands[0]);
    return part;
  }
  static constexpr void check_same(const shape_application& a, dim extent, dim size) {
    if (extent == size) return;
    if (is_static(extent) && is_static(size))
      a.trace.fail(message() << "psum_scatter: reduce_scatter operand scatter dimension size " << extent.number()
                             << " must match shard count " << size.number()
                             << "; use gather_mode::tiled to divide a longer one");
    else require(a.trace, guard_kind::same_size, "psum_scatter: scatter dimension", extent, size, a.operands[0]);
  }
};

/// The values of this process' instances along a mapped axis, stacked along a new one. Only the lowering of nested
/// pmaps makes it, from an inner pmap's results, after all differentiation.
struct axis_stack : collective {
  static constexpr std::string_view name = "axis_stack";
  static constexpr exchange_kind exchange = exchange_kind::all_gather;
  struct parameters {
    mapped_axes over;
    int dimension = 0;
    static constexpr void describe(auto& p, auto& member) {
      mapped_axes::describe(p.over, member);
      member("dimension", p.dimension);
    }
  };

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = collective::shape(a, p);
    result.shape.insert(p.dimension, a.trace.axes[p.over.axes[0]].own_instances);
    return result;
  }
  static constexpr no_rule batch{"it is made when all has been transformed"};
  static constexpr no_rule vjp = batch;
};

/// This instance's slice of an axis that is as long as the mapped axis. Only the lowering of nested pmaps makes it,
/// after all differentiation.
struct axis_slice : collective {
  static constexpr std::string_view name = "axis_slice";
  static constexpr no_rule exchange{"everybody has the whole"};
  using parameters = axis_stack::parameters;
  static constexpr bool varies_over_own_axes = true;

  static constexpr abstract_value shape(const shape_application& a, const parameters& p) {
    abstract_value result = collective::shape(a, p);
    result.shape.erase(p.dimension);
    return result;
  }
  static constexpr no_rule batch{"it is made when all has been transformed"};
  static constexpr no_rule vjp = batch;
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
