// Parts of arrays, under lax's names.
#pragma once

#include <parallax/ops/extent_arguments.hpp>
#include <parallax/ops/reshaping.hpp>

namespace parallax {

namespace detail {

/// A bound of a slice: a number (negative ones count from the end), an extent, or none.
struct bound {
  bool open = false;
  extent value;
  constexpr bound(none_t) : open(true) {}
  constexpr bound(std::integral auto number) : value(number) {}
  constexpr bound(extent given) : value(given) {}

  /// The position along an axis of `x`; one outside of it is an error.
  constexpr dim resolve(tracer x, int axis_number, dim otherwise) const {
    if (open) return otherwise;
    dim size = x.dimension(axis_number);
    bool from_end = value.owner == nullptr && value.value < 0;
    if (is_static(size) && (from_end ? -value.value > size : is_static(value.value) && value.value > size)) {
      message text;
      text << "slice_in_dim: bound " << value.value << " is not within axis " << axis_number << " of ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; give bounds from " << -size << " to " << size);
      return otherwise;
    }
    return from_end ? x.owner->extents.subtract(size, -value.value) : value.value;
  }
};

struct slice_in_dim_operation {
  constexpr tracer operator()(tracer x, bound start, bound limit, int stride = 1, int axis_number = 0) const {
    context& trace = *x.owner;
    int normal = normalize_axis(trace, "slice_in_dim", axis_number, x.rank());
    if (trace.failed) return x;
    if (stride < 1) {
      trace.fail(message() << "slice_in_dim: stride " << stride << " is not positive; give a stride from 1 on");
      return x;
    }
    dim size = x.dimension(normal);
    small_vector<std::int64_t, 3 * max_rank> parameters;
    dim first = start.resolve(x, normal, 0), last = limit.resolve(x, normal, size);
    if (trace.failed || (first == 0 && last == size && stride == 1)) return x;
    for (int i = 0; i < x.rank(); ++i) parameters.push_back(i == normal ? first : 0);
    for (int i = 0; i < x.rank(); ++i) parameters.push_back(i == normal ? last : x.dimension(i));
    for (int i = 0; i < x.rank(); ++i) parameters.push_back(i == normal ? stride : 1);
    return emit<primitives::slice>(trace, std::span<const tracer>(&x, 1),
                                   {parameters.data(), static_cast<std::size_t>(parameters.size())});
  }
};

struct index_in_dim_operation {
  constexpr tracer operator()(tracer x, int index, int axis_number = 0) const {
    context& trace = *x.owner;
    int normal = normalize_axis(trace, "index_in_dim", axis_number, x.rank());
    if (trace.failed) return x;
    dim size = x.dimension(normal);
    if (is_static(size) && (index < -size || index >= size)) {
      message text;
      text << "index_in_dim: index " << index << " is out of bounds for axis " << normal << " of ";
      print_value(text, trace.extents, x.value());
      trace.fail(text << "; give an index from " << -size << " to " << size - 1);
      return x;
    }
    if (!is_static(size) && index >= 0) require(trace, guard::index_within, "index_in_dim", size, index, x.value());
    bound last = index == -1 ? bound(none) : bound(index + 1);
    tracer one = slice_in_dim_operation{}(x, index, last, 1, axis_number);
    return x.owner->failed ? x : squeeze_operation{}(one, axis_number);
  }
};

struct slice_operation {
  constexpr tracer operator()(tracer x, std::initializer_list<extent> starts, std::initializer_list<extent> limits,
                              std::initializer_list<int> strides = {}) const {
    context& trace = *x.owner;
    int given = static_cast<int>(starts.size());
    if (given != x.rank() || limits.size() != starts.size() ||
        (strides.size() != 0 && strides.size() != starts.size())) {
      trace.fail(message() << "slice: " << given << " starts, " << static_cast<int>(limits.size()) << " limits and "
                           << static_cast<int>(strides.size()) << " strides for an array of dimension " << x.rank()
                           << "; give one per axis");
      return x;
    }
    if (!are_extents(x, "slice", starts) || !are_extents(x, "slice", limits)) return x;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (strides.begin()[i] < 1) {
        trace.fail(message() << "slice: stride " << strides.begin()[i] << " is not positive; give a stride from 1 on");
        return x;
      }
    small_vector<std::int64_t, 3 * max_rank> parameters;
    for (extent e : starts) parameters.push_back(e.value);
    for (extent e : limits) parameters.push_back(e.value);
    for (int i = 0; i < given; ++i) parameters.push_back(strides.size() == 0 ? 1 : strides.begin()[i]);
    return emit<primitives::slice>(trace, std::span<const tracer>(&x, 1),
                                   {parameters.data(), static_cast<std::size_t>(parameters.size())});
  }
};

} // namespace detail

/// `slice(x, {starts}, {limits}, {strides})`. JAX: lax.slice
inline constexpr detail::slice_operation slice{};
/// `slice_in_dim(x, start, limit, stride = 1, axis = 0)`: bounds may be negative or `none`, and are not cut off.
/// JAX: lax.slice_in_dim
inline constexpr detail::slice_in_dim_operation slice_in_dim{};
/// One position of an axis, which goes. JAX: lax.index_in_dim with keepdims false
inline constexpr detail::index_in_dim_operation index_in_dim{};

} // namespace parallax
