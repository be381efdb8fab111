// Gathers and scatters of slices in general, by lax's dimension numbers.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/ops/indexing/dynamic_slicing.hpp>

#include <concepts>
#include <initializer_list>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The axes of a gather's slices and indices. JAX: lax.GatherDimensionNumbers
struct gather_dimension_numbers {
  detail::axis_list offset_dims; ///< axes of the result that lie along slices, ascending
  detail::axis_list
      collapsed_slice_dims;          ///< axes of the array, of slice size 1, that the result does not have, ascending
  detail::axis_list start_index_map; ///< the axis of the array that each component of an index moves along
};

/// The axes of a scatter's updates and indices. JAX: lax.ScatterDimensionNumbers
struct scatter_dimension_numbers {
  detail::axis_list update_window_dims;           ///< axes of the updates that lie along slices, ascending
  detail::axis_list inserted_window_dims;         ///< axes of the array that the updates do not have, ascending
  detail::axis_list scatter_dims_to_operand_dims; ///< the axis of the array that each component of an index moves along
};

namespace detail {

/// Slices of an array, one for each index. The components of an index lie along the last axis of `indices`.
class slices_of {
 public:
  constexpr slices_of(std::string_view name, tracer array, tracer indices, const gather_dimension_numbers& numbers)
      : operation(name), x(array), starts(indices), axes(numbers), trace(*array.owner) {}

  /// Whether the numbers fit the array and the indices.
  constexpr bool are_valid() const {
    const int components = axes.start_index_map.size();
    const bool complete = axes.offset_dims.size() + axes.collapsed_slice_dims.size() == x.rank();
    const bool indexed = starts.rank() > 0 && starts.dimension(starts.rank() - 1) == components;
    if (!complete || !indexed || !are_axes(axes.collapsed_slice_dims, x.rank()) ||
        !are_axes(axes.start_index_map, x.rank()) || !are_axes(axes.offset_dims, window_rank())) {
      message text;
      print_value(text << operation << ": the dimension numbers do not fit ", trace.extents, x.value());
      print_value(text << " and the indices ", trace.extents, starts.value());
      trace.fail(text << "; each axis of the array is one of a slice or collapsed, and the last axis of the indices, "
                         "known while compiling, has one component for each axis they go along");
    }
    return !trace.failed;
  }
  constexpr bool is_collapsed(int axis) const { return axes.collapsed_slice_dims.contains(axis); }

  constexpr indexed_window window(const dims& sizes, index_mode how) const {
    index_resolver resolver(operation, x, how, false);
    dims every = starts.extents();
    every.pop_back();
    for (int k = 0; k < axes.start_index_map.size(); ++k) {
      const int axis = axes.start_index_map[k];
      const tracer component = build::slice_axis(starts, starts.rank() - 1, dim{k}, dim{k + 1});
      resolver.add(build::reshape(component, every), axis, sizes[axis]);
    }
    indexed_window result;
    if (trace.failed) return result;
    result.axes.follows = axis_list(x.rank(), primitives::window_axes::none);
    result.axes.moved = axes.start_index_map;
    result.shape = dims(window_rank(), dim{1});
    for (int axis = 0, next = 0; axis < x.rank(); ++axis) {
      if (is_collapsed(axis)) continue;
      result.axes.follows[axis] = axes.offset_dims[next++];
      result.shape[result.axes.follows[axis]] = sizes[axis];
    }
    axis_list of_indices;
    for (int axis = 0; axis < window_rank(); ++axis) {
      if (axes.offset_dims.contains(axis)) continue;
      result.shape[axis] = every[of_indices.size()];
      of_indices.push_back(axis);
    }
    result.offsets = over_window(resolver.offsets(), result.shape, of_indices);
    if (resolver.outside().owner) result.outside = over_window(resolver.outside(), result.shape, of_indices);
    return result;
  }

 private:
  std::string_view operation;
  tracer x, starts;
  gather_dimension_numbers axes;
  context& trace;

  constexpr int window_rank() const { return starts.rank() - 1 + axes.offset_dims.size(); }
  static constexpr bool are_axes(const axis_list& list, int rank) {
    for (int i = 0; i < list.size(); ++i) {
      if (list[i] < 0 || list[i] >= rank) return false;
      for (int k = 0; k < i; ++k)
        if (list[k] == list[i]) return false;
    }
    return true;
  }
};

/// Shapes: the axes of the indices but the last, and of slices those that are not collapsed, at `offset_dims`. Errors:
/// numbers that do not fit x and the indices; sizes above the extents of x; indices that are no whole numbers.
struct gather_operation {
  /// Of a table, or another constant.
  template <eager_operand X, traced Indices, index_mode Mode = index_mode::filled>
  constexpr tracer operator()(const X& x, const Indices& start_indices, const gather_dimension_numbers& numbers,
                              std::initializer_list<extent> slice_sizes, index_mode_t<Mode> how = {}) const {
    return (*this)(tracer(materialize(*start_indices.owner, x)), start_indices, numbers, slice_sizes, how);
  }
  template <class Indices, index_mode Mode = index_mode::filled>
  constexpr tracer operator()(tracer x, const Indices& start_indices, const gather_dimension_numbers& numbers,
                              std::initializer_list<extent> slice_sizes, index_mode_t<Mode> = {}) const {
    context& trace = *x.owner;
    const slices_of slices("gather", x, materialize(trace, start_indices), numbers);
    if (!slices.are_valid()) return x;
    const dims sizes = dims_of(trace, "gather", plain_span(slice_sizes.begin(), slice_sizes.size()), &x);
    bool fits = sizes.size() == x.rank();
    for (int axis = 0; axis < sizes.size() && fits; ++axis) {
      if (slices.is_collapsed(axis) && !(sizes[axis] == 1)) fits = false;
      const dim extent = x.dimension(axis);
      if (is_static(extent) && is_static(sizes[axis])) fits = fits && sizes[axis].number() <= extent.number();
      else if (!(extent == sizes[axis])) require(trace, guard_kind::at_least, "gather", extent, sizes[axis], x.value());
    }
    if (!trace.failed && !fits) {
      message text;
      print_value(text << "gather: slice sizes for ", trace.extents, x.value());
      trace.fail(text << " are one for each axis, at most its extent, and 1 where it is collapsed");
    }
    return trace.failed ? x : gather_window("gather", x, slices.window(sizes, Mode));
  }
};

constexpr std::string_view scatter_name(scatter_kind kind) {
  switch (kind) {
  case scatter_kind::set_to: return "scatter";
  case scatter_kind::add_to: return "scatter_add";
  case scatter_kind::multiply_by: return "scatter_mul";
  case scatter_kind::smaller_of: return "scatter_min";
  case scatter_kind::larger_of: return "scatter_max";
  }
  return {};
}

/// Shapes: that of x. Errors: numbers that do not fit x and the indices; updates of another number of dimensions;
/// indices that are no whole numbers.
template <scatter_kind Kind> struct scatter_operation : takes_constants<scatter_operation<Kind>> {
  using takes_constants<scatter_operation<Kind>>::operator();
  template <class Indices, class Updates, index_mode Mode = index_mode::dropped>
  constexpr tracer operator()(tracer x, const Indices& indices, const Updates& updates,
                              const scatter_dimension_numbers& numbers, index_mode_t<Mode> = {}) const {
    return run(x, materialize(*x.owner, indices), materialize(*x.owner, updates), numbers, Mode, false);
  }
  template <class Indices, class Updates>
  constexpr tracer operator()(tracer x, const Indices& indices, const Updates& updates,
                              const scatter_dimension_numbers& numbers, unique_indices_t) const {
    return run(x, materialize(*x.owner, indices), materialize(*x.owner, updates), numbers, index_mode::dropped, true);
  }

 private:
  static constexpr tracer run(tracer x, tracer indices, tracer updates, const scatter_dimension_numbers& numbers,
                              index_mode how, bool unique) {
    context& trace = *x.owner;
    const axis_list& along = numbers.update_window_dims;
    const slices_of slices(scatter_name(Kind), x, indices,
                           {along, numbers.inserted_window_dims, numbers.scatter_dims_to_operand_dims});
    if (!slices.are_valid()) return x;
    dims sizes(x.rank(), dim{1});
    for (int axis = 0, next = 0; axis < x.rank(); ++axis)
      if (!slices.is_collapsed(axis) && along[next] < updates.rank()) sizes[axis] = updates.dimension(along[next++]);
    indexed_window window = slices.window(sizes, how);
    if (trace.failed) return x;
    window.axes.unique = unique;
    if (updates.rank() != window.shape.size()) {
      message text;
      print_value(text << scatter_name(Kind) << ": updates ", trace.extents, updates.value());
      trace.fail(text << " have " << window.shape.size() << " axes: those of the indices but the last, and of slices");
      return x;
    }
    return scatter_window(scatter_name(Kind), x, window, updates, Kind);
  }
};

} // namespace detail

/// `gather(x, start_indices, numbers, {slice_sizes...})`: a slice of x that begins at each index. The components of an
/// index lie along the last axis of `start_indices`. Slices that do not lie within x are filled as `take` fills, or as
/// `mode` says; clipped ones are moved until they fit. JAX: lax.gather
inline constexpr detail::gather_operation gather{};
/// `scatter(x, indices, updates, numbers)`: x with slices overwritten, one after another. Slices that do not lie within
/// x are dropped. JAX: lax.scatter
inline constexpr detail::scatter_operation<detail::scatter_kind::set_to> scatter{};
/// As `scatter`, but each update is added to its element. JAX: lax.scatter_add
inline constexpr detail::scatter_operation<detail::scatter_kind::add_to> scatter_add{};
/// As `scatter_add`, but each update multiplies its element. JAX: lax.scatter_mul
inline constexpr detail::scatter_operation<detail::scatter_kind::multiply_by> scatter_mul{};
/// As `scatter_add`, but an element becomes the smallest of itself and its updates. JAX: lax.scatter_min
inline constexpr detail::scatter_operation<detail::scatter_kind::smaller_of> scatter_min{};
/// As `scatter_add`, but an element becomes the largest of itself and its updates. JAX: lax.scatter_max
inline constexpr detail::scatter_operation<detail::scatter_kind::larger_of> scatter_max{};

} // namespace parallax::PARALLAX_INLINE_VERSION
