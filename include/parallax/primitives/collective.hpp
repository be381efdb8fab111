// Operations between the instances of a mapped function. Parameters begin with the number of axes and the axes, and the
// groups that their instances are cut into: their number (0: all are together), sizes, and indices, group by group.
#pragma once

#include <parallax/primitives/assembly.hpp>
#include <parallax/primitives/operators.hpp>

namespace parallax::primitives {

struct collective {
  static constexpr primitive_kind kind = primitive_kind::collective;

  static constexpr std::span<const std::int64_t> axes(std::span<const std::int64_t> parameters) {
    return parameters.subspan(1, static_cast<std::size_t>(parameters[0]));
  }
  static constexpr bool has_groups(std::span<const std::int64_t> parameters) { return groups(parameters)[0] != 0; }
  static constexpr std::span<const std::int64_t> groups(std::span<const std::int64_t> parameters) {
    std::span<const std::int64_t> from = parameters.subspan(1 + static_cast<std::size_t>(parameters[0]));
    std::size_t count = static_cast<std::size_t>(from[0]), size = 1 + count;
    for (std::size_t i = 0; i < count; ++i) size += static_cast<std::size_t>(from[1 + i]);
    return from.first(size);
  }
  static constexpr std::span<const std::int64_t> rest(std::span<const std::int64_t> parameters) {
    return parameters.subspan(1 + static_cast<std::size_t>(parameters[0]) + groups(parameters).size());
  }
  /// The number of instances that each meets; of groups, which then are equally large.
  static constexpr dim group_size(context& trace, std::span<const std::int64_t> parameters) {
    if (has_groups(parameters)) return groups(parameters)[1];
    dim size = 1;
    for (std::int64_t axis : axes(parameters))
      size = trace.extents.multiply(size, trace.axis_size(static_cast<int>(axis)));
    return size;
  }
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = a.operands[0];
    result.weak = false;
    return result;
  }

 protected:
  static constexpr bool takes_part(const batch_application& a) {
    for (std::int64_t axis : axes(a.parameters))
      if (axis == a.mapped_axis) return true;
    return false;
  }
  /// Whether instances are counted along one axis only; otherwise an error, as in JAX.
  static constexpr bool one_axis(const batch_application& a, std::string_view name) {
    if (a.parameters[0] == 1) return true;
    a.trace.fail(message() << name
                           << ": several axes of which vmap maps one are not supported; call it for one axis "
                              "after the other");
    return false;
  }
  /// The operation over the axes that remain when the vmapped one has been dealt with.
  static constexpr tracer over_other_axes(const batch_application& a, tracer x) {
    small_vector<std::int64_t, 16> parameters{a.parameters[0] - 1};
    for (std::int64_t axis : axes(a.parameters))
      if (axis != a.mapped_axis) parameters.push_back(axis);
    if (parameters[0] == 0) return x;
    parameters.push_back(0); // groups are not batched along their own axes
    return emit(a.trace, a.operation, std::span<const tracer>(&x, 1),
                {parameters.data(), static_cast<std::size_t>(parameters.size())});
  }
  static constexpr tracer append(const batch_application& a, tracer x, std::span<const std::int64_t> parameters) {
    return emit(a.trace, a.operation, std::span<const tracer>(&x, 1), parameters);
  }
  static constexpr batched unchanged(const batch_application& a) {
    return {append(a, a.operands[0].value, a.parameters), a.operands[0].axis};
  }
  /// The operand with the mapped axis at `to`, repeated where it has none.
  static constexpr tracer mapped_at(const batch_application& a, int to) {
    const batched& x = a.operands[0];
    return x.axis < 0 ? build::insert_axis(x.value, to, a.size) : build::move_axis(x.value, x.axis, to);
  }
};

/// The sum over all instances, on every instance. Its transpose is itself (JAX's pmap convention).
struct psum : collective {
  static constexpr std::string_view name = "psum";
  static constexpr batched batch(const batch_application& a) {
    if (!takes_part(a)) return unchanged(a);
    const batched& x = a.operands[0];
    tracer local =
        x.axis < 0 ? x.value * build::extent_value(a.trace, a.size, x.value.type()) : build::sum(x.value, x.axis);
    return {over_other_axes(a, local), -1};
  }
  static constexpr void vjp(vjp_application& a) {
    a.give(0, emit<psum>(a.trace, std::span<const tracer>(&a.cotangent, 1), a.parameters));
  }
};

namespace detail {
template <class Reduction> struct extreme_collective : collective {
  static constexpr batched batch(const batch_application& a) {
    if (!takes_part(a)) return unchanged(a);
    const batched& x = a.operands[0];
    tracer local = x.axis < 0 ? x.value : build::reduce<Reduction>(x.value, std::span<const int>(&x.axis, 1));
    return {over_other_axes(a, local), -1};
  }
};
} // namespace detail

/// The largest value of all instances. It has no differentiation rule, as in JAX.
struct pmax : detail::extreme_collective<reduce_max> {
  static constexpr std::string_view name = "pmax";
};

/// The smallest value of all instances. It has no differentiation rule, as in JAX.
struct pmin : detail::extreme_collective<reduce_min> {
  static constexpr std::string_view name = "pmin";
};

/// The values of all instances, on every instance: stacked along a new axis, or (tiled) joined along an existing one.
/// Further parameters: that axis, tiled.
struct all_gather : collective {
  static constexpr std::string_view name = "all_gather";
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = collective::shape(a);
    dim size = group_size(a.trace, a.parameters);
    int dimension = static_cast<int>(rest(a.parameters)[0]);
    if (rest(a.parameters)[1] != 0) result.shape[dimension] = a.trace.extents.multiply(result.shape[dimension], size);
    else result.shape.insert(dimension, size);
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    std::int64_t dimension = rest(a.parameters)[0], tiled = rest(a.parameters)[1];
    int mapped = a.operands[0].axis;
    if (!takes_part(a)) {
      bool bump = mapped <= dimension;
      std::vector<std::int64_t> parameters(a.parameters.begin(), a.parameters.end());
      if (bump) ++parameters[parameters.size() - 2];
      return {append(a, a.operands[0].value, parameters), bump || tiled != 0 ? mapped : mapped + 1};
    }
    if (!one_axis(a, name)) return a.operands[0];
    tracer x = mapped_at(a, static_cast<int>(dimension));
    if (tiled != 0) {
      dims joined = x.extents();
      joined[static_cast<int>(dimension) + 1] =
          a.trace.extents.multiply(joined[static_cast<int>(dimension) + 1], a.size);
      joined.erase(static_cast<int>(dimension));
      x = build::reshape(x, joined);
    }
    return {x, -1};
  }
  static constexpr void vjp(vjp_application& a) {
    a.give(0, emit<psum_scatter>(a.trace, std::span<const tracer>(&a.cotangent, 1), a.parameters));
  }
};

/// The sum over all instances of which each keeps its own slice of an axis: the axis goes, or (tiled) is divided.
/// Further parameters: that axis, tiled.
struct psum_scatter : collective {
  static constexpr std::string_view name = "psum_scatter";
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = collective::shape(a);
    dim size = group_size(a.trace, a.parameters);
    int dimension = static_cast<int>(rest(a.parameters)[0]);
    dim extent = result.shape[dimension];
    if (rest(a.parameters)[1] != 0) {
      if (is_static(extent) && is_static(size) && extent % size != 0)
        a.trace.fail(message() << "psum_scatter: tiled reduce_scatter operand scatter dimension size " << extent
                               << " must be divisible by shard_count " << size
                               << "; pad it, or map over another number");
      dim part = a.trace.extents.divide(extent, size);
      if (a.trace.extents.multiply(part, size) != extent && !(is_static(extent) && is_static(size)))
        require(a.trace, guard::divisible, "psum_scatter: tiled scatter dimension", extent, size, a.operands[0]);
      result.shape[dimension] = part;
    } else {
      if (is_static(extent) && is_static(size) && extent != size)
        a.trace.fail(message() << "psum_scatter: reduce_scatter operand scatter dimension size " << extent
                               << " must match shard count " << size
                               << "; use gather_mode::tiled to divide a longer one");
      else if (extent != size)
        require(a.trace, guard::same_size, "psum_scatter: scatter dimension", extent, size, a.operands[0]);
      result.shape.erase(dimension);
    }
    return result;
  }
  static constexpr batched batch(const batch_application& a) {
    std::int64_t dimension = rest(a.parameters)[0], tiled = rest(a.parameters)[1];
    int mapped = a.operands[0].axis;
    if (!takes_part(a)) {
      bool bump = mapped <= dimension;
      std::vector<std::int64_t> parameters(a.parameters.begin(), a.parameters.end());
      if (bump) ++parameters[parameters.size() - 2];
      return {append(a, a.operands[0].value, parameters), bump || tiled != 0 ? mapped : mapped - 1};
    }
    if (!one_axis(a, name)) return a.operands[0];
    tracer x = a.operands[0].value;
    x = mapped < 0 ? x * build::extent_value(a.trace, a.size, x.type()) : build::sum(x, mapped);
    if (tiled != 0) {
      dims split = x.extents();
      split[static_cast<int>(dimension)] = a.trace.extents.divide(split[static_cast<int>(dimension)], a.size);
      split.insert(static_cast<int>(dimension), a.size);
      x = build::reshape(x, split);
    }
    return {x, static_cast<int>(dimension)};
  }
  static constexpr void vjp(vjp_application& a) {
    a.give(0, emit<all_gather>(a.trace, std::span<const tracer>(&a.cotangent, 1), a.parameters));
  }
};

/// This instance's slice of an axis as long as the mapped axis. Only the lowering of nested pmaps makes it.
/// Further parameter: that axis.
struct axis_slice : collective {
  static constexpr std::string_view name = "axis_slice";
  static constexpr abstract_value shape(const shape_application& a) {
    abstract_value result = collective::shape(a);
    result.shape.erase(static_cast<int>(rest(a.parameters)[0]));
    return result;
  }
};

/// The position along a mapped axis, int32. Parameter: the axis.
struct axis_index {
  static constexpr primitive_kind kind = primitive_kind::source;
  static constexpr std::string_view name = "axis_index";
  static constexpr abstract_value shape(const shape_application&) { return {element_type::int32, false, {}}; }
};

/// A pmap inside a program. It owns the graph of one instance. Parameters: axis, graph, numbers of operands and of
/// results, the mapped axis of each operand and of each result (-1 for none).
struct pmap_call {
  static constexpr primitive_kind kind = primitive_kind::nested;
  static constexpr std::string_view name = "pmap";
};

/// One result of a call. Parameter: which.
struct call_result {
  static constexpr primitive_kind kind = primitive_kind::projection;
  static constexpr std::string_view name = "result";
};

} // namespace parallax::primitives
