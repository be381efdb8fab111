// Parts of arrays that begin at places given as data.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/indexing.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// The window of an array that begins at `starts`. A start is a tracer by axis; one without an owner stands for 0.
/// Starts are moved so that the window fits.
constexpr indexed_window slice_window(std::string_view operation, tracer x, const index_list& starts,
                                      const dims& sizes) {
  context& trace = *x.owner;
  indexed_window window;
  window.shape = sizes;
  window.axes = {.follows = all_axes(x.rank()), .moved = {}, .unique = true};
  index_resolver resolver(operation, x, index_mode::clipped);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const dim size = sizes[axis], extent = x.dimension(axis);
    const bool are_static = is_static(size) && is_static(extent);
    if (are_static && size.number() > extent.number()) {
      message text;
      text << operation << ": " << size.number() << " elements of axis " << axis << " of ";
      print_value(text, trace.extents, x.value());
      trace.fail(text << "; give at most its extent");
    } else if (!are_static && !(size == extent)) {
      require(trace, guard_kind::at_least, operation, extent, size, x.value());
    }
    if (trace.failed || starts[axis].owner == nullptr) continue;
    if (starts[axis].rank() > 0) {
      message text;
      print_value(text << operation << ": the start ", trace.extents, starts[axis].value());
      trace.fail(text << " is no number; give one number for each axis");
      return window;
    }
    resolver.add(starts[axis], axis, size);
    window.axes.moved.push_back(axis);
  }
  window.offsets = resolver.offsets();
  return window;
}
constexpr tracer slice_at(std::string_view operation, tracer x, const index_list& starts, const dims& sizes) {
  const indexed_window window = slice_window(operation, x, starts, sizes);
  if (x.owner->failed) return x;
  return emit<primitives::gather>({x, window.offsets}, {window.shape, window.axes});
}
constexpr tracer update_at(std::string_view operation, tracer x, tracer update, const index_list& starts) {
  context& trace = *x.owner;
  if (update.rank() != x.rank()) {
    message text;
    print_value(text << operation << ": the update ", trace.extents, update.value());
    print_value(text << " for ", trace.extents, x.value());
    trace.fail(text << "; give one of as many dimensions");
    return x;
  }
  return scatter_window(operation, x, slice_window(operation, x, starts, update.extents()), update,
                        scatter_kind::set_to);
}

/// One start for each axis.
template <class Starts>
constexpr bool list_starts(std::string_view operation, tracer x, const Starts& starts, index_list& list) {
  context& trace = *x.owner;
  constexpr int given = static_cast<int>(std::tuple_size_v<Starts>);
  if (given != x.rank()) {
    message text;
    text << operation << ": " << given << " starts for ";
    print_value(text, trace.extents, x.value());
    trace.fail(text << "; give one for each axis");
    return false;
  }
  std::apply([&](const auto&... start) { (list.push_back(materialize(trace, start)), ...); }, starts);
  return !trace.failed;
}
/// The start along one axis.
template <class Start>
constexpr bool list_start(std::string_view operation, tracer x, const Start& start, any_axis& axis, index_list& list) {
  axis = normalize_axis(*x.owner, operation, axis, x.rank());
  if (x.owner->failed) return false;
  list = index_list(x.rank(), tracer{});
  list[axis] = materialize(*x.owner, start);
  return true;
}

/// Shapes: `sizes`. Errors: not one start and one size for each axis; a size above its extent; a start that is no whole
/// number.
struct dynamic_slice_operation {
  template <class Starts>
  constexpr tracer operator()(tracer x, const Starts& starts, std::initializer_list<extent> sizes) const {
    context& trace = *x.owner;
    index_list list;
    if (!list_starts(name, x, starts, list)) return x;
    const dims extents = dims_of(trace, name, plain_span(sizes.begin(), sizes.size()), &x);
    if (!trace.failed && extents.size() != x.rank())
      trace.fail(message() << name << ": " << extents.size() << " sizes for an array of dimension " << x.rank()
                           << "; give one for each axis");
    return trace.failed ? x : slice_at(name, x, list, extents);
  }

 private:
  static constexpr std::string_view name = "dynamic_slice";
};
/// Shapes: that of x with `size` as the extent of the axis. Errors: an axis that x does not have; a size above its
/// extent; a start that is no whole number.
struct dynamic_slice_in_dim_operation {
  template <class Start>
  constexpr tracer operator()(tracer x, const Start& start, extent size, any_axis axis = {}) const {
    constexpr std::string_view name = "dynamic_slice_in_dim";
    index_list list;
    if (!list_start(name, x, start, axis, list)) return x;
    const dims one = dims_of(*x.owner, name, plain_span<const extent>(&size, 1), &x);
    if (x.owner->failed) return x;
    dims sizes = x.extents();
    sizes[axis] = one[0];
    return slice_at(name, x, list, sizes);
  }
};
/// Shapes: that of x without the axis, which `keepdims` leaves with extent 1. Errors: an axis that x does not have, or
/// without elements; an index that is no whole number.
struct dynamic_index_in_dim_operation {
  template <class Index, keeps_axes... Keep>
  constexpr tracer operator()(tracer x, const Index& index, any_axis axis = {}, Keep... keep) const {
    index_list list;
    if (!list_start("dynamic_index_in_dim", x, index, axis, list)) return x;
    dims sizes = x.extents();
    sizes[axis] = dim{1};
    const tracer one = slice_at("dynamic_index_in_dim", x, list, sizes);
    return x.owner->failed || are_kept(keep...) ? one : squeeze_operation{}(one, axis.number);
  }
  template <class Index> constexpr tracer operator()(tracer x, const Index& index, keepdims_t) const {
    return (*this)(x, index, any_axis(), keepdims);
  }
};
/// Shapes: that of x. Errors: an update of another number of dimensions, or larger than x; not one start for each axis;
/// a start that is no whole number.
struct dynamic_update_slice_operation {
  template <class Update, class Starts>
  constexpr tracer operator()(tracer x, const Update& update, const Starts& starts) const {
    index_list list;
    if (!list_starts("dynamic_update_slice", x, starts, list)) return x;
    return update_at("dynamic_update_slice", x, materialize(*x.owner, update), list);
  }
};
/// Shapes: that of x. Errors: an update of another number of dimensions, or larger than x; an axis that x does not
/// have; a start that is no whole number.
struct dynamic_update_slice_in_dim_operation {
  template <class Update, class Start>
  constexpr tracer operator()(tracer x, const Update& update, const Start& start, any_axis axis = {}) const {
    index_list list;
    if (!list_start("dynamic_update_slice_in_dim", x, start, axis, list)) return x;
    return update_at("dynamic_update_slice_in_dim", x, materialize(*x.owner, update), list);
  }
};
/// Shapes: that of x. Errors: an update of another number of dimensions, or larger than x; an axis that x does not
/// have; an index that is no whole number.
struct dynamic_update_index_in_dim_operation {
  template <class Update, class Index>
  constexpr tracer operator()(tracer x, const Update& update, const Index& index, any_axis axis = {}) const {
    constexpr std::string_view name = "dynamic_update_index_in_dim";
    index_list list;
    if (!list_start(name, x, index, axis, list)) return x;
    tracer value = materialize(*x.owner, update);
    if (value.rank() == x.rank() - 1) value = build::insert_axis(value, axis, dim{1});
    return update_at(name, x, value, list);
  }
};

} // namespace detail

/// `dynamic_slice(x, std::tuple{i, j}, {m, n})`: m rows and n columns from row i and column j on, which may be traced.
/// Negative starts count from the end; starts are moved so that the slice lies within x. JAX: lax.dynamic_slice
inline constexpr detail::dynamic_slice_operation dynamic_slice{};
/// `dynamic_slice_in_dim(x, start, size, axis = 0)`: `size` positions of one axis. JAX: lax.dynamic_slice_in_dim
inline constexpr detail::dynamic_slice_in_dim_operation dynamic_slice_in_dim{};
/// `dynamic_index_in_dim(x, i, axis = 0)`: one position of an axis, which is removed; with `keepdims` behind the
/// axis it stays with extent 1. JAX: lax.dynamic_index_in_dim, which keeps it if it is not told otherwise
inline constexpr detail::dynamic_index_in_dim_operation dynamic_index_in_dim{};
/// `dynamic_update_slice(x, update, std::tuple{i, j})`: x with the update written from row i and column j on. Starts
/// have the meaning that they have in `dynamic_slice`. JAX: lax.dynamic_update_slice
inline constexpr detail::dynamic_update_slice_operation dynamic_update_slice{};
/// `dynamic_update_slice_in_dim(x, update, start, axis = 0)`: x with the update written from one position of an axis
/// on. JAX: lax.dynamic_update_slice_in_dim
inline constexpr detail::dynamic_update_slice_in_dim_operation dynamic_update_slice_in_dim{};
/// `dynamic_update_index_in_dim(x, update, i, axis = 0)`: x with one position of an axis replaced; the update has that
/// axis with extent 1, or not at all. JAX: lax.dynamic_update_index_in_dim
inline constexpr detail::dynamic_update_index_in_dim_operation dynamic_update_index_in_dim{};

} // namespace parallax::PARALLAX_INLINE_VERSION
