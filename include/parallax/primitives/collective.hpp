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

/// How ppermute names its permutation: explicit pairs, or a distance round the ring, or one without wrapping.
enum class permutation_kind : std::int64_t { pairs, rotation, shift };

/// Instance `destination` gets the value of instance `source`; instances that are no destination get zeros.
/// Further parameters: permutation_kind, then pairs of source and destination, or the distance.
struct ppermute : collective {
  static constexpr std::string_view name = "ppermute";

  static constexpr batched batch(const batch_application& a) {
    if (!takes_part(a)) return unchanged(a);
    std::span<const std::int64_t> how = rest(a.parameters);
    if (how[0] == static_cast<std::int64_t>(permutation_kind::rotation) && a.operands[0].axis < 0) return a.operands[0];
    tracer x = mapped_at(a, 0);
    tracer zero = build::like(x, 0);
    std::vector<tracer> pieces;
    if (how[0] == static_cast<std::int64_t>(permutation_kind::pairs)) {
      if (!is_static(a.size)) {
        a.trace.fail(message() << "ppermute: pairs over a vmapped axis need its size while compiling; give the axis a "
                                  "static extent, or use rotate or shift");
        return a.operands[0];
      }
      if (how.size() != static_cast<std::size_t>(2 * a.size + 1)) {
        a.trace.fail(message() << "ppermute: Permutation doesn't match the axis size! Over a vmapped axis of size "
                               << a.size << " give every instance one source");
        return a.operands[0];
      }
      for (std::int64_t destination = 0; destination < a.size; ++destination)
        for (std::size_t i = 1; i + 1 < how.size(); i += 2)
          if (how[i + 1] == destination) pieces.push_back(detail::slice_axis(x, 0, how[i], how[i] + 1));
    } else {
      std::int64_t distance = how[1];
      if (is_static(a.size) && how[0] == static_cast<std::int64_t>(permutation_kind::rotation))
        distance = ((distance % a.size) + a.size) % a.size;
      if (distance == 0) return {x, 0};
      dim_table& t = a.trace.extents;
      // forwards: the last `distance` come first; backwards: the first ones go last
      dim cut = distance > 0 ? t.subtract(a.size, distance) : -distance;
      tracer head = detail::slice_axis(x, 0, 0, cut), tail = detail::slice_axis(x, 0, cut, a.size);
      if (how[0] == static_cast<std::int64_t>(permutation_kind::shift))
        (distance > 0 ? tail : head) = build::broadcast_to(zero, (distance > 0 ? tail : head).extents());
      pieces = {tail, head};
    }
    std::int64_t along = 0;
    return {emit<concatenate>(a.trace, pieces, std::span<const std::int64_t>(&along, 1)), 0};
  }
  static constexpr void vjp(vjp_application& a) {
    std::vector<std::int64_t> inverse(a.parameters.begin(), a.parameters.end());
    std::size_t at = inverse.size() - rest(a.parameters).size();
    if (inverse[at] == static_cast<std::int64_t>(permutation_kind::pairs)) {
      for (std::size_t i = at + 1; i + 1 < inverse.size(); i += 2) {
        std::int64_t source = inverse[i];
        inverse[i] = inverse[i + 1];
        inverse[i + 1] = source;
      }
    } else {
      inverse[at + 1] = -inverse[at + 1];
    }
    a.give(0, emit<ppermute>(a.trace, std::span<const tracer>(&a.cotangent, 1), inverse));
  }
};

/// Every instance gets the value of instance `source`. Further parameter: the source.
struct pbroadcast : collective {
  static constexpr std::string_view name = "pbroadcast";

  static constexpr batched batch(const batch_application& a) {
    if (!takes_part(a)) return unchanged(a);
    const batched& x = a.operands[0];
    if (x.axis < 0 || !one_axis(a, name)) return x;
    std::int64_t source = rest(a.parameters)[0];
    dims shape = x.value.extents();
    shape.erase(x.axis);
    return {build::reshape(detail::slice_axis(x.value, x.axis, source, source + 1), shape), -1};
  }
  /// The source gets the sum of all cotangents, the others nothing.
  static constexpr void vjp(vjp_application& a) {
    tracer here; // row-major along the axes
    for (std::int64_t axis : axes(a.parameters)) {
      tracer index = emit<axis_index>(a.trace, {}, {axis});
      here = here.owner == nullptr
                 ? index
                 : here * build::extent_value(a.trace, a.trace.axis_size(static_cast<int>(axis)), index.type()) + index;
    }
    tracer total =
        emit<psum>(a.trace, std::span<const tracer>(&a.cotangent, 1), a.parameters.first(a.parameters.size() - 1));
    a.give(0, build::select(here == rest(a.parameters)[0], total, build::like(total, 0)));
  }
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

/// Instance i gets the i-th slices of all instances' operands, along axis 0, in the order of the instances. It is its
/// own transpose. Other axes are moved to where this one is.
struct all_to_all : collective {
  static constexpr std::string_view name = "all_to_all";

  static constexpr batched batch(const batch_application& a) {
    if (!takes_part(a)) {
      int axis = a.operands[0].axis == 0 ? 1 : a.operands[0].axis;
      return {append(a, build::move_axis(a.operands[0].value, a.operands[0].axis, axis), a.parameters), axis};
    }
    if (!one_axis(a, name)) return a.operands[0];
    // x[i][k] becomes x[k][i]: the two axes change their meaning
    return {mapped_at(a, 0), 1};
  }
  static constexpr void vjp(vjp_application& a) {
    a.give(0, emit<all_to_all>(a.trace, std::span<const tracer>(&a.cotangent, 1), a.parameters));
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
