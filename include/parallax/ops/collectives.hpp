// Collective operations over mapped axes, by name. JAX: the parallel operators of jax.lax.
#pragma once

#include <parallax/ops/axes.hpp>
#include <parallax/ops/elementwise.hpp>
#include <parallax/primitives/collective.hpp>

namespace parallax {

namespace detail {

/// Reports a name that no enclosing vmap or pmap binds.
constexpr void unbound_axis(context& trace, std::string_view operation, std::string_view name) {
  message text;
  text << operation << ": unbound axis name: " << name << "; ";
  bool any = false;
  for (int bound : trace.bound_axes) {
    std::string_view known = trace.axes[static_cast<std::size_t>(bound)].name;
    if (known.empty()) continue;
    text << (any ? ", " : "bound axis names are: ") << known;
    any = true;
  }
  if (!any)
    text << "no axis name is bound here: map the function with pmap<\"" << name << "\"> or vmap<\"" << name << "\">";
  trace.fail(text);
}

template <fixed_string... Names> struct named_axes {
  /// The numbers of the axes; empty after an error.
  static constexpr small_vector<std::int64_t, 8> find(context& trace, std::string_view operation) {
    small_vector<std::int64_t, 8> axes;
    auto one = [&](std::string_view name) {
      int axis = trace.find_axis(name);
      if (axis < 0) unbound_axis(trace, operation, name);
      else axes.push_back(axis);
    };
    (one(Names.view()), ...);
    return axes;
  }
  static constexpr dim size(context& trace, std::string_view operation) {
    dim product = 1;
    for (std::int64_t axis : find(trace, operation))
      product = trace.extents.multiply(product, trace.axis_size(static_cast<int>(axis)));
    return product;
  }
};

template <class Primitive, fixed_string... Names>
constexpr tracer append_collective(context& trace, tracer x, std::initializer_list<std::int64_t> rest = {}) {
  auto axes = named_axes<Names...>::find(trace, Primitive::name);
  if (trace.failed) return x;
  std::vector<std::int64_t> parameters{axes.size()};
  for (std::int64_t axis : axes) parameters.push_back(axis);
  for (std::int64_t parameter : rest) parameters.push_back(parameter);
  return emit<Primitive>(trace, std::span<const tracer>(&x, 1), parameters);
}

/// For collectives whose results depend on how instances are counted: row-major, as the mesh of devices is.
template <fixed_string... Names> constexpr bool names_outermost_first(context& trace, std::string_view operation) {
  auto axes = named_axes<Names...>::find(trace, operation);
  for (int i = 1; i < axes.size() && !trace.failed; ++i)
    if (axes[i - 1] >= axes[i]) trace.fail(message() << operation << ": name each axis once, the outermost first");
  return !trace.failed;
}

template <fixed_string... Names> struct psum_operation : operation<psum_operation<Names...>> {
  static constexpr tracer apply(context& trace, tracer x) {
    if (x.type() == element_type::boolean) x = build::convert(x, element_type::int32);
    // a constant is the same everywhere: its sum is known
    const graph& g = x.owner->at(x.graph_id);
    if (g.at(x.id).operation == primitives::number_of<primitives::literal>) {
      dim size = named_axes<Names...>::size(trace, "psum");
      return trace.failed ? x
                          : emit<primitives::multiply>(
                                {build::convert(x, x.type()), build::extent_value(trace, size, x.type())});
    }
    return append_collective<primitives::psum, Names...>(trace, x);
  }
};
template <fixed_string... Names> struct pmean_operation : operation<pmean_operation<Names...>> {
  static constexpr tracer apply(context& trace, tracer x) {
    dim size = named_axes<Names...>::size(trace, "pmean");
    if (trace.failed) return x;
    tracer sum = psum_operation<Names...>::apply(
        trace, x.type() == element_type::boolean || is_integer(x.type()) ? to_inexact(x) : x);
    return trace.failed ? x : sum / build::extent_value(trace, size, sum.type());
  }
};
template <class Primitive, fixed_string... Names>
struct extreme_operation : operation<extreme_operation<Primitive, Names...>> {
  static constexpr tracer apply(context& trace, tracer x) { return append_collective<Primitive, Names...>(trace, x); }
};
template <fixed_string... Names> struct axis_index_operation : operation<axis_index_operation<Names...>> {
  static constexpr tracer apply(context& trace) {
    auto axes = named_axes<Names...>::find(trace, "axis_index");
    tracer index = build::integer_literal(trace, element_type::int32, 0);
    for (int i = 0; i < axes.size() && !trace.failed; ++i) {
      tracer here = emit<primitives::axis_index>(trace, {}, {axes[i]});
      index = i == 0 ? here
                     : emit<primitives::add>(
                           {emit<primitives::multiply>(
                                {index, build::extent_value(trace, trace.axis_size(static_cast<int>(axes[i])),
                                                            element_type::int32)}),
                            here});
    }
    return index;
  }
};
template <fixed_string... Names> struct axis_size_operation : operation<axis_size_operation<Names...>> {
  static constexpr tracer apply(context& trace) {
    return build::extent_value(trace, named_axes<Names...>::size(trace, "axis_size"), element_type::int32);
  }
};

/// Applies an operation to the leaves of a tree; numbers become expressions that the trace computes.
template <class Operation, class T> constexpr auto over_leaves(const T& tree) {
  return tree_map(
      [](const auto& leaf) {
        using L = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (scalar<L>) return lazy<Operation, L>{{leaf}};
        else return Operation{}(leaf);
      },
      tree);
}

/// The names as messages list them.
template <fixed_string... Names> constexpr message list_names() {
  message text;
  bool first = true;
  ((text << (first ? "" : ", ") << Names.view(), first = false), ...);
  return text;
}

/// What all_to_all asks of the axis that it splits among `size` instances.
template <fixed_string... Names> constexpr bool check_split_equals(tracer x, dim extent, dim size) {
  context& trace = *x.owner;
  if (is_static(extent) && is_static(size) && extent != size)
    trace.fail(message() << "all_to_all requires the size of the mapped axis " << list_names<Names...>().view()
                         << " to equal x.shape[split_axis], but they are " << size << " and " << extent
                         << " respectively; use gather_mode::tiled to divide a longer one");
  else if (extent != size) require(trace, guard::same_size, "all_to_all: split axis", extent, size, x.value());
  return !trace.failed;
}
template <fixed_string... Names> constexpr bool check_split_divisible(tracer x, dim extent, dim size) {
  context& trace = *x.owner;
  if (is_static(extent) && is_static(size) && extent % size != 0)
    trace.fail(message() << "all_to_all: The size of all_to_all split_axis (" << extent
                         << ") has to be divisible by the size of the named axis " << list_names<Names...>().view()
                         << " (" << size << "); pad it, or map over another number");
  dim_table& t = trace.extents;
  if (t.multiply(t.divide(extent, size), size) != extent && !(is_static(extent) && is_static(size)))
    require(trace, guard::divisible, "all_to_all: tiled split axis", extent, size, x.value());
  return !trace.failed;
}

} // namespace detail

/// A source and a destination of a permutation.
struct source_destination {
  int source = 0, destination = 0;
};
/// Everybody sends `distance` places further round the ring.
struct rotate {
  int distance = 1;
};
/// Everybody sends `distance` places further; what leaves the ends is lost, what enters is zero.
struct shift {
  int distance = 1;
};

/// The sum over the named axes, on every instance; maps over trees. JAX: lax.psum
template <fixed_string... Names, class T> constexpr auto psum(const T& x) {
  return detail::over_leaves<detail::psum_operation<Names...>>(x);
}
/// The mean over the named axes. JAX: lax.pmean
template <fixed_string... Names, class T> constexpr auto pmean(const T& x) {
  return detail::over_leaves<detail::pmean_operation<Names...>>(x);
}
/// The largest value over the named axes. JAX: lax.pmax
template <fixed_string... Names, class T> constexpr auto pmax(const T& x) {
  return detail::over_leaves<detail::extreme_operation<primitives::pmax, Names...>>(x);
}
/// The smallest value over the named axes. JAX: lax.pmin
template <fixed_string... Names, class T> constexpr auto pmin(const T& x) {
  return detail::over_leaves<detail::extreme_operation<primitives::pmin, Names...>>(x);
}

/// This instance's position along the named axis, int32; several names count row-major. JAX: lax.axis_index
template <fixed_string... Names> constexpr auto axis_index() { return lazy<detail::axis_index_operation<Names...>>{}; }
/// The number of instances along the named axes, int32. JAX: lax.axis_size
template <fixed_string... Names> constexpr auto axis_size() { return lazy<detail::axis_size_operation<Names...>>{}; }

/// Sends values between instances: `ppermute<"i">(x, {{0, 1}, {1, 0}})`. Who is no destination gets zeros. JAX:
/// lax.ppermute
template <fixed_string Name> constexpr auto ppermute(tracer x, std::initializer_list<source_destination> permutation) {
  context& trace = *x.owner;
  int axis_number = trace.find_axis(Name.view());
  if (axis_number < 0) {
    detail::unbound_axis(trace, "ppermute", Name.view());
    return x;
  }
  dim size = trace.axis_size(axis_number);
  std::vector<std::int64_t> parameters{1, axis_number, static_cast<std::int64_t>(primitives::permutation_kind::pairs)};
  int largest = -1;
  for (const source_destination& p : permutation) {
    int larger = p.source > p.destination ? p.source : p.destination;
    if (p.source < 0 || p.destination < 0 || (is_static(size) && larger >= size)) {
      message text;
      text << "ppermute: pair (" << p.source << ", " << p.destination << ") is outside the axis";
      if (is_static(size)) text << " of size " << size << "; give indices from 0 to " << size - 1;
      else text << "; give indices from 0 on";
      trace.fail(text);
      return x;
    }
    if (larger > largest) largest = larger;
    for (std::size_t i = 3; i < parameters.size(); i += 2)
      if (parameters[i] == p.source || parameters[i + 1] == p.destination) {
        message text;
        text << "ppermute: sources and destinations must be unique, got (";
        for (const source_destination& q : permutation)
          text << '(' << q.source << ", " << q.destination << (&q + 1 == permutation.end() ? ")" : "), ");
        trace.fail(text << "); name every instance at most once as a source and once as a destination");
        return x;
      }
    parameters.push_back(p.source);
    parameters.push_back(p.destination);
  }
  if (!is_static(size) && largest >= 0) require(trace, guard::index_within, "ppermute", size, largest, x.value());
  return emit<primitives::ppermute>(trace, std::span<const tracer>(&x, 1), parameters);
}
template <fixed_string Name> constexpr tracer ppermute(tracer x, rotate how) {
  return detail::append_collective<primitives::ppermute, Name>(
      *x.owner, x, {static_cast<std::int64_t>(primitives::permutation_kind::rotation), how.distance});
}
template <fixed_string Name> constexpr tracer ppermute(tracer x, shift how) {
  return detail::append_collective<primitives::ppermute, Name>(
      *x.owner, x, {static_cast<std::int64_t>(primitives::permutation_kind::shift), how.distance});
}

/// Every instance gets the value of instance `source`; several names count row-major. JAX: lax.pbroadcast
template <fixed_string... Names> constexpr tracer pbroadcast(tracer x, int source) {
  context& trace = *x.owner;
  if (!detail::names_outermost_first<Names...>(trace, "pbroadcast")) return x;
  dim size = detail::named_axes<Names...>::size(trace, "pbroadcast");
  if (source < 0 || (is_static(size) && source >= size)) {
    message text;
    text << "pbroadcast: source " << source << " is outside the axis";
    if (is_static(size)) text << " of size " << size << "; give an index from 0 to " << size - 1;
    else text << "; give an index from 0 on";
    trace.fail(text);
    return x;
  }
  if (!is_static(size)) require(trace, guard::index_within, "pbroadcast", size, source, x.value());
  return detail::append_collective<primitives::pbroadcast, Names...>(trace, x, {source});
}

/// How all_gather, psum_scatter and all_to_all treat their axes: the axis of the instances is one of its own, or
/// (tiled) joined along, or divided from, a longer one.
enum class gather_mode { stacked, tiled };

/// All instances' values, along a new axis or (tiled) joined along an existing one. JAX: lax.all_gather
template <fixed_string... Names>
constexpr tracer all_gather(tracer x, int axis_number = 0, gather_mode mode = gather_mode::stacked) {
  bool tiled = mode == gather_mode::tiled;
  int normal = detail::normalize_axis(*x.owner, "all_gather", axis_number, tiled ? x.rank() : x.rank() + 1);
  if (x.owner->failed || !detail::names_outermost_first<Names...>(*x.owner, "all_gather")) return x;
  return detail::append_collective<primitives::all_gather, Names...>(*x.owner, x, {normal, tiled ? 1 : 0});
}
/// The sum over all instances, of which each keeps its slice of an axis. JAX: lax.psum_scatter
template <fixed_string... Names>
constexpr tracer psum_scatter(tracer x, int scatter_dimension = 0, gather_mode mode = gather_mode::stacked) {
  int normal = detail::normalize_axis(*x.owner, "psum_scatter", scatter_dimension, x.rank());
  if (x.owner->failed || !detail::names_outermost_first<Names...>(*x.owner, "psum_scatter")) return x;
  return detail::append_collective<primitives::psum_scatter, Names...>(*x.owner, x,
                                                                       {normal, mode == gather_mode::tiled ? 1 : 0});
}

/// Instance i gets the i-th slices along `split_axis` of all instances' values, stacked along a new axis `concat_axis`
/// in the order of the instances. `split_axis`, which goes, is as long as there are instances. Tiled, it is divided by
/// their number instead, and the pieces are joined along `concat_axis`. JAX: lax.all_to_all
template <fixed_string... Names>
constexpr tracer all_to_all(tracer x, int split_axis, int concat_axis, gather_mode mode = gather_mode::stacked) {
  context& trace = *x.owner;
  int split = detail::normalize_axis(trace, "all_to_all", split_axis, x.rank());
  int concat = detail::normalize_axis(trace, "all_to_all", concat_axis, x.rank());
  if (trace.failed || !detail::names_outermost_first<Names...>(trace, "all_to_all")) return x;
  dim size = detail::named_axes<Names...>::size(trace, "all_to_all"), extent = x.dimension(split);
  if (mode == gather_mode::stacked) {
    if (!detail::check_split_equals<Names...>(x, extent, size)) return x;
    tracer exchanged =
        detail::append_collective<primitives::all_to_all, Names...>(trace, build::move_axis(x, split, 0));
    return build::move_axis(exchanged, 0, concat);
  }
  if (!detail::check_split_divisible<Names...>(x, extent, size) || !check_rank(trace, "all_to_all", x.rank() + 1))
    return x;
  dims pieces = x.extents();
  pieces[split] = trace.extents.divide(extent, size);
  dims joined = pieces;
  joined[concat] = trace.extents.multiply(joined[concat], size);
  pieces.insert(split, size);
  tracer exchanged = detail::append_collective<primitives::all_to_all, Names...>(
      trace, build::move_axis(build::reshape(x, pieces), split, 0));
  return build::reshape(build::move_axis(exchanged, 0, concat), joined);
}
/// Exchanges the axis of the instances, as many as `axis_number` is long, with that one. JAX: lax.pswapaxes
template <fixed_string... Names> constexpr tracer pswapaxes(tracer x, int axis_number) {
  return all_to_all<Names...>(x, axis_number, axis_number);
}

} // namespace parallax
