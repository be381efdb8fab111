// Collectives that send values to other instances and do not combine them: permutations, broadcasts, exchanges of all
// with all. Their parameters are `collective`'s.
#pragma once

#include <parallax/primitives/collective.hpp>

namespace parallax::primitives {

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

} // namespace parallax::primitives
