// Collectives that send values to other instances without combining them: permutations, broadcasts, and exchanges of
// all with all.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/collective.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::primitives {

/// Instance `destination` gets the value of instance `source`; instances that are no destination get zeros.
struct ppermute : collective {
  static constexpr std::string_view name = "ppermute";
  static constexpr exchange_kind exchange = exchange_kind::permute;
  struct parameters {
    mapped_axes over{};
    permutation_kind how = permutation_kind::pairs;
    std::int64_t distance = 0;                     ///< of a rotation or a shift
    growing_vector<int> sources{}, destinations{}; ///< of pairs
    static constexpr void describe(auto& p, auto& member) {
      mapped_axes::describe(p.over, member);
      member("how", p.how);
      member("distance", p.distance);
      member("sources", p.sources);
      member("destinations", p.destinations);
    }
  };
  static constexpr bool varies_over_own_axes = true;

  static constexpr batched batch(const batch_application& a, const parameters& p) {
    if (!p.over.contains(a.axis)) return unchanged(a);
    tracer x = build::mapped_at(a.operands[0], 0, a.size);
    switch (p.how) {
    case permutation_kind::pairs: return exchange_pairs(a, p, x);
    case permutation_kind::rotation: return a.operands[0].is_mapped() ? rotate(a, p.distance, x) : a.operands[0];
    case permutation_kind::shift: return shift(a, p.distance, x);
    }
    return a.operands[0];
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    parameters inverse = p;
    inverse.distance = -p.distance;
    inverse.sources = p.destinations;
    inverse.destinations = p.sources;
    a.give(0, emit<ppermute>({a.cotangent}, inverse));
  }

 private:
  static constexpr batched exchange_pairs(const batch_application& a, const parameters& p, tracer x) {
    if (!is_static(a.size)) {
      a.trace.fail(message() << "ppermute: pairs over a vmapped axis need its size while compiling; give the axis a "
                                "static extent, or use rotate or shift");
      return a.operands[0];
    }
    if (count_of(p.sources) != a.size.number()) {
      a.trace.fail(message() << "ppermute: Permutation doesn't match the axis size! Over a vmapped axis of size "
                             << a.size.number() << " give every instance one source");
      return a.operands[0];
    }
    growing_vector<int> source_of(p.sources.size());
    for (std::size_t i = 0; i < p.sources.size(); ++i) source_of[index_of(p.destinations[i])] = p.sources[i];
    const auto pieces = parallax::detail::vector_of(
        source_of, [&](int source) { return build::slice_axis(x, 0, dim{source}, dim{source + 1}); });
    return {emit<concatenate>(a.trace, pieces, {0}), 0};
  }
  /// The elements of `x` behind `cut`, and then those before it.
  static constexpr batched swap_at(const batch_application& a, tracer x, dim cut) {
    return {emit<concatenate>({build::slice_axis(x, 0, cut, a.size), build::slice_axis(x, 0, dim{}, cut)}, {0}), 0};
  }
  static constexpr batched rotate(const batch_application& a, std::int64_t distance, tracer x) {
    dim_table& t = a.trace.extents;
    if (is_static(a.size)) {
      const std::int64_t size = a.size.number(), forwards = size == 0 ? 0 : ((distance % size) + size) % size;
      return forwards == 0 ? batched{x, 0} : swap_at(a, x, dim{size - forwards});
    }
    // the distance modulo the number of instances; without instances it is 0
    const dim far{distance < 0 ? -distance : distance}, rounds = t.divide(far, a.size);
    const dim rest = t.smaller(t.subtract(far, t.multiply(rounds, a.size)), a.size);
    return distance == 0 ? batched{x, 0} : swap_at(a, x, distance > 0 ? t.subtract(a.size, rest) : rest);
  }
  /// Values shifted beyond an end are lost; zeros come in at the other one.
  static constexpr batched shift(const batch_application& a, std::int64_t distance, tracer x) {
    if (distance == 0) return {x, 0};
    dim_table& t = a.trace.extents;
    const dim lost = t.smaller(dim{distance < 0 ? -distance : distance}, a.size), kept = t.subtract(a.size, lost);
    dims shape = x.extents();
    shape[0] = lost;
    tracer zeros = build::broadcast_to(build::like(x, 0), shape);
    if (distance > 0) return {emit<concatenate>({zeros, build::slice_axis(x, 0, dim{}, kept)}, {0}), 0};
    return {emit<concatenate>({build::slice_axis(x, 0, lost, a.size), zeros}, {0}), 0};
  }
};

/// Every instance gets the value of instance `source`.
struct pbroadcast : collective {
  static constexpr std::string_view name = "pbroadcast";
  static constexpr exchange_kind exchange = exchange_kind::broadcast;
  struct parameters {
    mapped_axes over;
    int source = 0;
    static constexpr void describe(auto& p, auto& member) {
      mapped_axes::describe(p.over, member);
      member("source", p.source);
    }
  };

  static constexpr batched batch(const batch_application& a, const parameters& p) {
    if (!p.over.contains(a.axis)) return unchanged(a);
    const batched& x = a.operands[0];
    if (!x.is_mapped() || !one_axis(a, p.over, name)) return x;
    dims shape = x.value.extents();
    shape.erase(x.axis);
    return {build::reshape(build::slice_axis(x.value, x.axis, dim{p.source}, dim{p.source + 1}), shape)};
  }
  /// The source gets the sum of all cotangents, the other instances get zeros.
  static constexpr void vjp(vjp_application& a, const parameters& p) {
    tracer here; // row-major along the axes
    for (axis_id axis : p.over.axes) {
      tracer index = emit<axis_index>(a.trace, {axis});
      here = here.owner == nullptr ? index
                                   : here * build::extent_value(a.trace, a.trace.axis_size(axis), index.type()) + index;
    }
    tracer total = emit<psum>({a.cotangent}, {p.over});
    a.give(0, build::select(here == p.source, total, build::like(total, 0)));
  }
};

/// Instance i gets slice i along axis 0 of every instance's operand, in the order of the instances. It is its own
/// transpose. Callers move another axis to axis 0.
struct all_to_all : collective {
  static constexpr std::string_view name = "all_to_all";
  static constexpr exchange_kind exchange = exchange_kind::all_to_all;
  static constexpr bool varies_over_own_axes = true;

  static constexpr batched batch(const batch_application& a, const parameters& p) {
    const batched& x = a.operands[0];
    if (!p.over.contains(a.axis)) {
      int axis = x.axis == 0 ? 1 : x.axis;
      return {a.again(build::move_axis(x.value, x.axis, axis)), axis};
    }
    if (!one_axis(a, p.over, name)) return x;
    // x[i][k] becomes x[k][i]: the two axes change their meaning
    return {build::mapped_at(x, 0, a.size), 1};
  }
  static constexpr void vjp(vjp_application& a, const parameters& p) { a.give(0, emit<all_to_all>({a.cotangent}, p)); }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
