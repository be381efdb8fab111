// Parts of arrays, under lax's names.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/extent_arguments.hpp>
#include <parallax/ops/shapes/reshaping.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// A bound of a slice: a number (negative ones count from the end), an extent, or none.
struct bound {
  bool open = false;
  extent value;
  constexpr bound(none_t) : open(true) {}
  constexpr bound(std::integral auto number) : value(number) {}
  constexpr bound(extent given) : value(given) {}

  /// The bound as a position along an axis of `x`; a bound outside of the axis is an error.
  constexpr dim resolve(tracer x, int axis_number, dim otherwise) const {
    if (open) return otherwise;
    const dim size = x.dimension(axis_number);
    if (!value.known()) return value.as_dim();
    const std::int64_t number = value.number();
    if (!is_static(size) && number < 0) {
      if (number < -most) return beyond(x, number, otherwise);
      require(*x.owner, guard_kind::bound_from_end, "slice_in_dim", size, dim{-number}, x.value());
    }
    if (is_static(size) && (number < -size.number() || number > size.number())) {
      message text;
      text << "slice_in_dim: bound " << number << " is not within axis " << axis_number << " of ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; give bounds from " << -size.number() << " to " << size.number());
      return otherwise;
    }
    return number < 0 ? x.owner->extents.subtract(size, dim{-number}) : dim{number};
  }

 private:
  static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  static constexpr dim beyond(tracer x, std::int64_t number, dim otherwise) {
    x.owner->fail(message() << "slice_in_dim: bound " << number << " is one of no axis; give one within its extent");
    return otherwise;
  }
};

/// Shapes: that of x, with the number of positions as the extent of the axis. Errors: an axis that x does not have;
/// bounds that are not within it; a stride below 1.
struct slice_in_dim_operation : takes_constants<slice_in_dim_operation> {
  using takes_constants<slice_in_dim_operation>::operator();
  constexpr tracer operator()(tracer x, bound start, bound limit, std::int64_t stride = 1,
                              any_axis axis_number = {}) const {
    context& trace = *x.owner;
    int normal = normalize_axis(trace, "slice_in_dim", axis_number, x.rank());
    if (trace.failed) return x;
    if (stride < 1) {
      trace.fail(message() << "slice_in_dim: stride " << stride << " is not positive; give a stride from 1 on");
      return x;
    }
    dim size = x.dimension(normal);
    dim first = start.resolve(x, normal, dim{}), last = limit.resolve(x, normal, size);
    if (trace.failed || (first == 0 && last == size && stride == 1)) return x;
    return build::slice_axis(x, normal, first, last, stride);
  }
};

/// Shapes: that of x without the axis, which `keepdims` leaves with extent 1. Errors: an axis that x does not have; an
/// index that is not within it.
struct index_in_dim_operation : takes_constants<index_in_dim_operation> {
  using takes_constants<index_in_dim_operation>::operator();
  template <keeps_axes... Keep>
  constexpr tracer operator()(tracer x, std::integral auto number, any_axis axis_number = {}, Keep... keep) const {
    return at(x, extent(number).number(), axis_number, are_kept(keep...));
  }
  constexpr tracer operator()(tracer x, std::integral auto number, keepdims_t) const {
    return at(x, extent(number).number(), 0, true);
  }

 private:
  static constexpr tracer at(tracer x, std::int64_t index, int axis_number, bool keep) {
    context& trace = *x.owner;
    int normal = normalize_axis(trace, "index_in_dim", axis_number, x.rank());
    if (trace.failed) return x;
    dim size = x.dimension(normal);
    if (is_static(size) && (index < -size.number() || index >= size.number())) {
      message text;
      text << "index_in_dim: index " << index << " is out of bounds for axis " << normal << " of ";
      print_value(text, trace.extents, x.value());
      trace.fail(text << "; give an index from " << -size.number() << " to " << size.number() - 1);
      return x;
    }
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (index == most || index < -most) { // no index of the axis
      trace.fail(message() << "index_in_dim: index " << index << " is one of no axis; give one within its extent");
      return x;
    }
    if (!is_static(size))
      require(trace, index < 0 ? guard_kind::index_from_end : guard_kind::index_within, "index_in_dim", size,
              dim{index < 0 ? -index : index}, x.value());
    const dim first = index < 0 ? trace.extents.subtract(size, dim{-index}) : dim{index};
    tracer one = x;
    if (!(first == 0 && size == 1)) one = build::slice_axis(x, normal, first, trace.extents.add(first, dim{1}), 1);
    if (x.owner->failed) return x;
    return keep ? one : squeeze_operation{}(one, axis_number);
  }
};

/// Shapes: (limit - start) / stride, rounded up, for each axis. Errors: not one bound for each axis; bounds that are
/// not 0 <= start <= limit <= extent; a stride below 1.
struct slice_operation {
  using bound_list = small_vector<extent, max_rank>;
  using stride_list = small_vector<std::int64_t, max_rank>;
  constexpr tracer operator()(tracer x, std::initializer_list<extent> starts, std::initializer_list<extent> limits,
                              std::initializer_list<std::int64_t> strides = {}) const {
    return run(x, {starts.begin(), starts.size()}, {limits.begin(), limits.size()}, {strides.begin(), strides.size()});
  }
  constexpr tracer operator()(tracer x, const bound_list& starts, const bound_list& limits,
                              const stride_list& strides) const {
    return run(x, {starts.begin(), index_of(starts.size())}, {limits.begin(), index_of(limits.size())},
               {strides.begin(), index_of(strides.size())});
  }
  template <constant_expression X>
  constexpr auto operator()(const X& x, std::initializer_list<extent> starts, std::initializer_list<extent> limits,
                            std::initializer_list<std::int64_t> strides = {}) const {
    return call_with_constant<slice_operation>(x, bound_list(starts), bound_list(limits), stride_list(strides));
  }

 private:
  static constexpr tracer run(tracer x, plain_span<const extent> starts, plain_span<const extent> limits,
                              plain_span<const std::int64_t> strides) {
    context& trace = *x.owner;
    int given = count_of(starts);
    if (given != x.rank() || limits.size() != starts.size() || (!strides.empty() && strides.size() != starts.size())) {
      trace.fail(message() << "slice: " << given << " starts, " << count_of(limits) << " limits and "
                           << count_of(strides) << " strides for an array of dimension " << x.rank()
                           << "; give one per axis");
      return x;
    }
    primitives::slice_parameters bounds{
        .start = dims_of(trace, "slice", starts, &x), .limit = dims_of(trace, "slice", limits, &x), .stride = {}};
    if (trace.failed) return x;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (strides.begin()[i] < 1) {
        trace.fail(message() << "slice: stride " << strides.begin()[i] << " is not positive; give a stride from 1 on");
        return x;
      }
    for (int i = 0; i < given; ++i) bounds.stride.push_back(strides.empty() ? 1 : strides.begin()[i]);
    return emit<primitives::slice>({x}, bounds);
  }
};

} // namespace detail

/// `slice(x, {starts}, {limits}, {strides})`: the elements from start to limit of each axis, `stride` apart. JAX:
/// lax.slice
inline constexpr detail::slice_operation slice{};
/// `slice_in_dim(x, start, limit, stride = 1, axis = 0)`: bounds may be negative or `none`, and must lie within the
/// axis. JAX: lax.slice_in_dim
inline constexpr detail::slice_in_dim_operation slice_in_dim{};
/// `index_in_dim(x, i, axis = 0)`: one position of an axis, which is removed; with `keepdims` behind the axis it stays
/// with extent 1. JAX: lax.index_in_dim, which keeps it if it is not told otherwise
inline constexpr detail::index_in_dim_operation index_in_dim{};

} // namespace parallax::PARALLAX_INLINE_VERSION
