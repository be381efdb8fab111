// Collectives in which instances send each other their values, or parts of them, by the names of mapped axes. JAX: the
// parallel operators of jax.lax.
#pragma once

#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/mapped_axes.hpp>
#include <parallax/primitives/arrays/exchange.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The names as a list in a message.
template <fixed_string... Names> constexpr message list_names() {
  message text;
  bool first = true;
  ((text << (first ? "" : ", ") << Names.view(), first = false), ...);
  return text;
}

/// Checks the axis that all_to_all splits among `size` instances.
template <fixed_string... Names> constexpr bool check_split_equals(tracer x, dim extent, dim size) {
  context& trace = *x.owner;
  if (extent == size) return true;
  if (is_static(extent) && is_static(size))
    trace.fail(message() << "all_to_all requires the size of the mapped axis " << list_names<Names...>().view()
                         << " to equal x.shape[split_axis], but they are " << size.number() << " and "
                         << extent.number() << " respectively; use gather_mode::tiled to divide a longer one");
  else require(trace, guard_kind::same_size, "all_to_all: split axis", extent, size, x.value());
  return !trace.failed;
}
template <fixed_string... Names> constexpr bool check_split_divisible(tracer x, dim extent, dim size) {
  context& trace = *x.owner;
  const bool known = is_static(extent) && is_static(size);
  if (known && (size == 0 || extent.number() % size.number() != 0))
    trace.fail(message() << "all_to_all: The size of all_to_all split_axis (" << extent.number()
                         << ") has to be divisible by the size of the named axis " << list_names<Names...>().view()
                         << " (" << size.number() << "); pad it, or map over another number");
  dim_table& t = trace.extents;
  if (!known && !(t.multiply(t.divide(extent, size), size) == extent))
    require(trace, guard_kind::divisible, "all_to_all: tiled split axis", extent, size, x.value());
  return !trace.failed;
}

} // namespace detail

/// A source and a destination of a permutation.
struct source_destination {
  int source = 0, destination = 0;
};
/// Every instance sends to the instance `distance` places further round the ring.
struct rotate {
  int distance = 1;
};
/// Every instance sends to the instance `distance` places further along the line. Values that leave an end are lost,
/// and zeros come in at the other.
struct shift {
  int distance = 1;
};

namespace detail {
/// Checks the pairs of a permutation: a wrong one is an error. Returns whether all are right.
constexpr bool check_pairs(context& trace, plain_span<const source_destination> pairs, dim size) {
  for (const source_destination& p : pairs) {
    const int larger = p.source > p.destination ? p.source : p.destination;
    if (p.source < 0 || p.destination < 0 || (is_static(size) && larger >= size.number())) {
      message text;
      text << "ppermute: pair (" << p.source << ", " << p.destination << ") is outside the axis";
      if (is_static(size)) text << " of size " << size.number() << "; give indices from 0 to " << size.number() - 1;
      else text << "; give indices from 0 on";
      trace.fail(text);
      return false;
    }
    for (const source_destination& earlier : pairs) {
      if (&earlier == &p) break;
      if (earlier.source != p.source && earlier.destination != p.destination) continue;
      message text;
      text << "ppermute: sources and destinations must be unique, got (";
      for (const source_destination& q : pairs)
        text << '(' << q.source << ", " << q.destination << (&q == &pairs.back() ? ")" : "), ");
      trace.fail(text << "); name every instance at most once as a source and once as a destination");
      return false;
    }
  }
  return true;
}
template <fixed_string Name> constexpr tracer permute(tracer x, permutation_kind how, std::int64_t distance) {
  return emit_collective<primitives::ppermute>(
      x, {.over = find_participants<Name>(*x.owner, "ppermute").over, .how = how, .distance = distance});
}
} // namespace detail

/// Sends values between instances: `ppermute<"i">(x, {{0, 1}, {1, 0}})`. An instance that is no destination gets zeros.
/// Shapes: that of x. Errors: an axis that is not mapped here; an instance that is not there, or that is named twice as
/// source or as destination. JAX: lax.ppermute
template <detail::fixed_string Name>
constexpr auto ppermute(tracer x, std::initializer_list<source_destination> permutation) {
  detail::context& trace = *x.owner;
  const detail::participants who = detail::find_participants<Name>(trace, "ppermute");
  const detail::plain_span<const source_destination> pairs(permutation.begin(), permutation.size());
  if (trace.failed || !detail::check_pairs(trace, pairs, who.size)) return x;
  primitives::ppermute::parameters parameters{.over = who.over};
  int largest = -1;
  for (const source_destination& p : pairs) {
    parameters.sources.push_back(p.source);
    parameters.destinations.push_back(p.destination);
    largest = std::max({largest, p.source, p.destination});
  }
  if (!detail::is_static(who.size) && largest >= 0)
    detail::require(trace, detail::guard_kind::index_within, "ppermute", who.size, detail::dim{largest}, x.value());
  return detail::emit<primitives::ppermute>({x}, parameters);
}
template <detail::fixed_string Name> constexpr tracer ppermute(tracer x, rotate how) {
  return detail::permute<Name>(x, detail::permutation_kind::rotation, how.distance);
}
template <detail::fixed_string Name> constexpr tracer ppermute(tracer x, shift how) {
  return detail::permute<Name>(x, detail::permutation_kind::shift, how.distance);
}

/// Every instance gets the value of instance `source`; several names count row-major. Shapes: that of x. Errors: an
/// axis that is not mapped here; a source that is not there. JAX: lax.pbroadcast
template <detail::fixed_string... Names> constexpr tracer pbroadcast(tracer x, int source) {
  detail::context& trace = *x.owner;
  detail::participants who = detail::find_equal_participants<Names...>(trace, "pbroadcast", none);
  if (trace.failed) return x;
  if (source < 0 || (detail::is_static(who.size) && source >= who.size.number())) {
    detail::message text;
    text << "pbroadcast: source " << source << " is outside the axis";
    if (detail::is_static(who.size))
      text << " of size " << who.size.number() << "; give an index from 0 to " << who.size.number() - 1;
    else text << "; give an index from 0 on";
    trace.fail(text);
    return x;
  }
  if (!detail::is_static(who.size))
    detail::require(trace, detail::guard_kind::index_within, "pbroadcast", who.size, detail::dim{source}, x.value());
  return detail::emit<primitives::pbroadcast>({x}, {who.over, source});
}

/// How all_gather, psum_scatter and all_to_all treat the axis of the instances: as an axis of its own or, if tiled, as
/// a part of a longer axis that is joined or divided.
enum class gather_mode { stacked, tiled };

/// The values of all instances of a group, along a new axis or (tiled) joined along an existing one. JAX:
/// lax.all_gather
template <detail::fixed_string... Names, detail::instance_groups Groups>
constexpr tracer all_gather(tracer x, const Groups& groups, detail::any_axis axis_number = 0,
                            gather_mode mode = gather_mode::stacked) {
  detail::context& trace = *x.owner;
  bool tiled = mode == gather_mode::tiled;
  int normal = detail::normalize_axis(trace, "all_gather", axis_number, tiled ? x.rank() : x.rank() + 1);
  if (trace.failed) return x;
  return detail::emit_collective<primitives::all_gather>(
      x, {detail::find_equal_participants<Names...>(trace, "all_gather", groups).over, normal, tiled});
}
/// The values of all instances, along a new axis or (tiled) joined along an existing one. Shapes: that of x with the
/// number of instances as a new axis; tiled, with an axis that many times as long. Errors: an axis that is not mapped
/// here; groups of different sizes; an axis that the result does not have. JAX: lax.all_gather
template <detail::fixed_string... Names>
constexpr tracer all_gather(tracer x, detail::any_axis axis_number = 0, gather_mode mode = gather_mode::stacked) {
  return all_gather<Names...>(x, none, axis_number, mode);
}

/// The sum over all instances of a group. Each instance keeps its slice of an axis. JAX: lax.psum_scatter
template <detail::fixed_string... Names, detail::instance_groups Groups>
constexpr tracer psum_scatter(tracer x, const Groups& groups, detail::any_axis scatter_dimension = 0,
                              gather_mode mode = gather_mode::stacked) {
  detail::context& trace = *x.owner;
  int normal = detail::normalize_axis(trace, "psum_scatter", scatter_dimension, x.rank());
  if (trace.failed) return x;
  return detail::emit_collective<primitives::psum_scatter>(
      x, {detail::find_equal_participants<Names...>(trace, "psum_scatter", groups).over, normal,
          mode == gather_mode::tiled});
}
/// The sum over all instances. Each instance keeps its slice of an axis. Shapes: that of x without the axis, which has
/// to be as long as there are instances; tiled, with one of as many parts of it. Errors: an axis that is not mapped
/// here; groups of different sizes; an extent that is not that number, or not divisible by it. JAX: lax.psum_scatter
template <detail::fixed_string... Names>
constexpr tracer psum_scatter(tracer x, detail::any_axis scatter_dimension = 0,
                              gather_mode mode = gather_mode::stacked) {
  return psum_scatter<Names...>(x, none, scatter_dimension, mode);
}

/// Instance i of a group gets slice i along `split_axis` of the value of each instance in the group. The slices are
/// stacked along a new axis `concat_axis` in the order of the group; `split_axis`, which must be as long as the group,
/// is removed. If tiled, `split_axis` is divided by the group's size instead, and the pieces are joined along
/// `concat_axis`. JAX: lax.all_to_all
template <detail::fixed_string... Names, detail::instance_groups Groups>
constexpr tracer all_to_all(tracer x, const Groups& groups, detail::any_axis split_axis, detail::any_axis concat_axis,
                            gather_mode mode = gather_mode::stacked) {
  detail::context& trace = *x.owner;
  int split = detail::normalize_axis(trace, "all_to_all", split_axis, x.rank());
  int concat = detail::normalize_axis(trace, "all_to_all", concat_axis, x.rank());
  detail::participants who = detail::find_equal_participants<Names...>(trace, "all_to_all", groups);
  if (trace.failed) return x;
  auto exchange = [&](tracer pieces) { // along axis 0, which is then moved to `concat`
    pieces = detail::emit_collective<primitives::all_to_all>(build::move_axis(pieces, split, 0), {who.over});
    return build::move_axis(pieces, 0, concat);
  };
  detail::dim extent = x.dimension(split);
  if (mode == gather_mode::stacked) return detail::check_split_equals<Names...>(x, extent, who.size) ? exchange(x) : x;
  if (!detail::check_split_divisible<Names...>(x, extent, who.size) ||
      !detail::check_rank(trace, "all_to_all", x.rank() + 1))
    return x;
  detail::dims cut = x.extents();
  cut[split] = trace.extents.divide(extent, who.size);
  detail::dims joined = cut;
  joined[concat] = trace.extents.multiply(joined[concat], who.size);
  cut.insert(split, who.size);
  return build::reshape(exchange(build::reshape(x, cut)), joined);
}
/// Instance i gets slice i along `split_axis` of every instance's value. The slices are stacked along a new axis
/// `concat_axis` in the order of the instances; `split_axis`, which must be as long as there are instances, is removed.
/// If tiled, `split_axis` is divided by the number of instances instead, and the pieces are joined along `concat_axis`.
/// Shapes: that of x with `split_axis` moved to `concat_axis`; tiled, with one divided and one multiplied. Errors: an
/// axis that is not mapped here; groups of different sizes; an extent of `split_axis` that is not the number of
/// instances, or not divisible by it. JAX: lax.all_to_all
template <detail::fixed_string... Names>
constexpr tracer all_to_all(tracer x, detail::any_axis split_axis, detail::any_axis concat_axis,
                            gather_mode mode = gather_mode::stacked) {
  return all_to_all<Names...>(x, none, split_axis, concat_axis, mode);
}

/// Exchanges the axis of the instances with axis `axis_number`, which must be equally long. Shapes: that of x. Errors:
/// an axis that is not mapped here; an axis that is not as long as there are instances. JAX: lax.pswapaxes
template <detail::fixed_string... Names> constexpr tracer pswapaxes(tracer x, detail::any_axis axis_number) {
  return all_to_all<Names...>(x, axis_number, axis_number);
}
template <detail::fixed_string... Names, detail::instance_groups Groups>
constexpr tracer pswapaxes(tracer x, const Groups& groups, detail::any_axis axis_number) {
  return all_to_all<Names...>(x, groups, axis_number, axis_number);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
