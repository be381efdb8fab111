// Changes of shape, under NumPy's and lax's names.
#pragma once

#include <parallax/ops/axes.hpp>
#include <parallax/primitives/assembly.hpp>

#include <optional>
#include <span>

namespace parallax {

namespace detail {

/// A shape or an index list as the user wrote it.
constexpr message& operator<<(message& out, std::span<const extent> list) {
  out << '(';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out << ',';
    if (list[i].known()) out << list[i].value;
    else print_extent(out, list[i].owner->extents, list[i].value);
  }
  return out << ')';
}

/// Whether all are extents; a negative number is an error of `operation`.
constexpr bool are_extents(tracer x, std::string_view operation, std::span<const extent> list) {
  for (const extent& e : list)
    if (e.owner == nullptr && e.value < 0) {
      message text;
      text << operation << ": " << e.value << " in " << list << " is not an extent, for ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; give extents from 0 on");
      return false;
    }
  return true;
}

struct reshape_operation : operation<reshape_operation> {
  using operation<reshape_operation>::operator();
  /// On arrays: the same memory under another shape.
  template <eager_operand X, int N> auto operator()(const X& x, const extent (&shape)[N]) const {
    extent_list<N> list;
    for (int i = 0; i < N; ++i) list.values[i] = shape[i];
    return reshape_array(x, list);
  }
  /// One extent may be -1: what remains.
  template <int N> constexpr tracer operator()(tracer x, const extent (&shape)[N]) const { return run(x, shape, N); }
  template <int N> static constexpr tracer apply(context&, tracer x, const extent_list<N>& shape) {
    return run(x, shape.values, N);
  }

 private:
  static constexpr tracer run(tracer x, const extent* shape, int count) {
    context& trace = *x.owner;
    dim_table& t = trace.extents;
    dims result;
    int open = -1;
    dim known = 1;
    auto mismatch = [&](std::string_view advice) {
      message text;
      text << "reshape: cannot reshape array ";
      print_value(text, t, x.value());
      text << " of size ";
      print_extent(text, t, t.product(x.extents()));
      trace.fail(text << " into shape " << std::span(shape, static_cast<std::size_t>(count)) << advice);
      return x;
    };
    for (int i = 0; i < count; ++i) {
      if (shape[i].owner == nullptr && shape[i].value < 0) {
        if (open >= 0 || shape[i].value != -1) return mismatch("; one extent may be -1, no other is negative");
        open = i;
        result.push_back(1);
      } else {
        result.push_back(shape[i].value);
        known = t.multiply(known, shape[i].value);
      }
    }
    dim total = t.product(x.extents());
    if (open >= 0) result[open] = t.divide(total, known);
    dim after = t.product(result);
    if (is_static(total) && is_static(after) && total != after)
      return mismatch("; the numbers of elements must be equal");
    return build::reshape(x, result);
  }
};

struct ravel_operation : operation<ravel_operation> {
  static constexpr tracer apply(context& trace, tracer x) {
    return build::reshape(x, {trace.extents.product(x.extents())});
  }
};

struct transpose_operation : operation<transpose_operation> {
  using operation<transpose_operation>::operator();
  constexpr tracer operator()(tracer x, std::initializer_list<int> permutation) const { return run(x, permutation); }
  static constexpr tracer apply(context&, tracer x) {
    axis_list reversed;
    for (int i = x.rank(); i-- > 0;) reversed.push_back(i);
    return build::transpose(x, as_span(reversed));
  }
  template <int... Axes> static constexpr tracer apply(context&, tracer x, axis_t<Axes...>) {
    return run(x, {Axes...});
  }

 private:
  static constexpr tracer run(tracer x, std::initializer_list<int> permutation) {
    axis_list axes = normalize_axes(*x.owner, "transpose", permutation, x.rank());
    if (axes.size() != x.rank()) {
      x.owner->fail(message() << "transpose: " << axes.size() << " axes given for an array of dimension " << x.rank()
                              << "; name every axis once");
      return x;
    }
    return build::transpose(x, as_span(axes));
  }
};

struct moveaxis_operation {
  constexpr tracer operator()(tracer x, int from, int to) const {
    from = normalize_axis(*x.owner, "moveaxis", from, x.rank());
    to = normalize_axis(*x.owner, "moveaxis", to, x.rank());
    return x.owner->failed ? x : build::move_axis(x, from, to);
  }
};

struct broadcast_to_operation : operation<broadcast_to_operation> {
  using operation<broadcast_to_operation>::operator();
  template <eager_operand X, int N>
  constexpr lazy<broadcast_to_operation, X, extent_list<N>> operator()(const X& x, const extent (&shape)[N]) const {
    extent_list<N> list;
    for (int i = 0; i < N; ++i) list.values[i] = shape[i];
    return {{x, list}};
  }
  template <int N> constexpr tracer operator()(tracer x, const extent (&shape)[N]) const { return run(x, shape, N); }
  template <int N> static constexpr tracer apply(context&, tracer x, const extent_list<N>& shape) {
    return run(x, shape.values, N);
  }

 private:
  static constexpr tracer mismatch(tracer x, std::span<const extent> shape, std::string_view advice) {
    message text;
    text << "broadcast_to: cannot broadcast ";
    print_value(text, x.owner->extents, x.value());
    x.owner->fail(text << " to shape " << shape << advice);
    return x;
  }
  static constexpr tracer run(tracer x, const extent* shape, int count) {
    std::span<const extent> given(shape, static_cast<std::size_t>(count));
    if (!are_extents(x, "broadcast_to", given)) return x;
    if (count < x.rank()) return mismatch(x, given, "; give at least as many extents as the array has");
    dims result;
    for (int i = 0; i < count; ++i) result.push_back(shape[i].value);
    for (int i = 0; i < x.rank(); ++i) {
      dim from = x.dimension(i), to = result[count - x.rank() + i];
      if (is_static(from) && is_static(to) && from != 1 && from != to)
        return mismatch(x, given, "; each extent stays or was 1");
    }
    return build::broadcast_to(x, result);
  }
};

struct expand_dims_operation : operation<expand_dims_operation> {
  using operation<expand_dims_operation>::operator();
  constexpr tracer operator()(tracer x, int axis_number) const {
    int normal = normalize_axis(*x.owner, "expand_dims", axis_number, x.rank() + 1);
    if (x.owner->failed) return x;
    dims shape = x.extents();
    shape.insert(normal, 1);
    return build::reshape(x, shape);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) {
    return expand_dims_operation{}(x, Axis);
  }
};

struct squeeze_operation : operation<squeeze_operation> {
  using operation<squeeze_operation>::operator();
  constexpr tracer operator()(tracer x, int axis_number) const {
    int normal = normalize_axis(*x.owner, "squeeze", axis_number, x.rank());
    if (x.owner->failed) return x;
    if (is_static(x.dimension(normal)) && x.dimension(normal) != 1) {
      message text;
      text << "squeeze: cannot select an axis to squeeze out which has size not equal to one, got axis " << axis_number
           << " of ";
      print_value(text, x.owner->extents, x.value());
      x.owner->fail(text << "; choose an axis of extent 1");
      return x;
    }
    dims shape = x.extents();
    shape.erase(normal);
    return build::reshape(x, shape);
  }
  /// Without an axis: all extents known to be 1 go.
  static constexpr tracer apply(context&, tracer x) {
    dims shape;
    for (dim d : x.extents())
      if (d != 1) shape.push_back(d);
    return build::reshape(x, shape);
  }
  template <int Axis> static constexpr tracer apply(context&, tracer x, axis_t<Axis>) {
    return squeeze_operation{}(x, Axis);
  }
};

/// A bound of a slice: a number (negative ones count from the end), an extent, or none.
struct bound {
  bool open = false;
  extent value;
  constexpr bound(none_t) : open(true) {}
  constexpr bound(std::integral auto number) : value(number) {}
  constexpr bound(extent e) : value(e) {}

  constexpr dim resolve(dim_table& t, dim size, dim otherwise) const {
    if (open) return otherwise;
    if (value.owner == nullptr && value.value < 0) {
      dim from_end = -value.value;
      if (is_static(size)) return size > from_end ? size - from_end : 0;
      return t.subtract(size, from_end);
    }
    if (is_static(value.value) && is_static(size) && value.value > size) return size; // NumPy cuts bounds off
    return value.value;
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
    dim first = start.resolve(trace.extents, size, 0), last = limit.resolve(trace.extents, size, size);
    if (first == 0 && last == size && stride == 1) return x;
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

constexpr tracer join(context& trace, std::vector<tracer> operands, int axis_number) {
  int normal = normalize_axis(trace, "concatenate", axis_number, operands[0].rank());
  if (trace.failed) return operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) build::promote_types(operands[0], operands[i]);
  for (std::size_t i = 1; i < operands.size(); ++i) operands[i] = build::convert(operands[i], operands[0].type());
  std::int64_t along = normal;
  return emit<primitives::concatenate>(trace, operands, std::span<const std::int64_t>(&along, 1));
}

struct concatenate_operation : operation<concatenate_operation> {
  using operation<concatenate_operation>::operator();
  constexpr tracer operator()(std::initializer_list<tracer> operands, int axis_number = 0) const {
    return join(*operands.begin()->owner, std::vector<tracer>(operands), axis_number);
  }
  template <class... T> static constexpr tracer apply(context& trace, const T&... operands) {
    return with_axis(trace, operands...);
  }

 private:
  /// `concatenate(a, b, ..., axis<k>)` on arrays; along axis 0 without it.
  template <class... T> static constexpr tracer with_axis(context& trace, const T&... operands) {
    std::vector<tracer> arrays;
    int along = 0;
    auto take = [&]<class O>(const O& o) {
      if constexpr (traced<O>) arrays.push_back(o);
      else along = axis_number_of(o);
    };
    (take(operands), ...);
    return join(trace, arrays, along);
  }
  template <int Axis> static constexpr int axis_number_of(axis_t<Axis>) { return Axis; }
};

struct stack_operation {
  constexpr tracer operator()(std::initializer_list<tracer> operands, int axis_number = 0) const {
    std::vector<tracer> expanded;
    const tracer& first = *operands.begin();
    for (const tracer& x : operands) {
      bool same = x.rank() == first.rank();
      for (int i = 0; same && i < x.rank(); ++i)
        same = !is_static(x.dimension(i)) || !is_static(first.dimension(i)) || x.dimension(i) == first.dimension(i);
      if (!same) {
        message text;
        text << "stack: shapes ";
        print_value(text, x.owner->extents, first.value());
        text << " and ";
        print_value(text, x.owner->extents, x.value());
        x.owner->fail(text << " differ; give arrays of one shape");
        return x;
      }
      expanded.push_back(expand_dims_operation{}(x, axis_number));
    }
    return join(*operands.begin()->owner, expanded, axis_number);
  }
};

/// Padding before, after and between the elements of one axis; negative amounts before and after cut off.
struct padding {
  int low = 0, high = 0, interior = 0;
};

struct pad_operation {
  template <class Value>
  constexpr tracer operator()(tracer x, Value value, std::initializer_list<padding> paddings) const {
    context& trace = *x.owner;
    if (static_cast<int>(paddings.size()) != x.rank()) {
      trace.fail(message() << "pad: " << static_cast<int>(paddings.size()) << " paddings for an array of dimension "
                           << x.rank() << "; give one per axis");
      return x;
    }
    tracer fill = build::convert(materialize(trace, value), x.type());
    small_vector<std::int64_t, 3 * max_rank> parameters(3 * x.rank(), 0);
    for (int i = 0; i < x.rank(); ++i) {
      padding p = paddings.begin()[i];
      if (p.interior < 0)
        trace.fail(message() << "pad: interior padding " << p.interior << " is negative; give one from 0 on");
      parameters[i] = p.low > 0 ? p.low : 0;
      parameters[x.rank() + i] = p.high > 0 ? p.high : 0;
      parameters[2 * x.rank() + i] = p.interior;
      // nothing lies between the elements of an empty axis, which the symbolic extent of the result cannot say
      if (p.interior > 0 && !is_static(x.dimension(i)))
        trace.guards.push_back(
            {guard::at_least, "interior padding of an empty axis", x.dimension(i), 1, x.value(), x.value(), {}});
    }
    if (trace.failed) return x;
    tracer operands[] = {x, fill};
    tracer result =
        emit<primitives::pad>(trace, operands, {parameters.data(), static_cast<std::size_t>(parameters.size())});
    for (int i = 0; i < x.rank() && !trace.failed; ++i) {
      padding p = paddings.begin()[i];
      if (p.low >= 0 && p.high >= 0) continue;
      dim size = result.dimension(i);
      result = primitives::detail::slice_axis(result, i, p.low < 0 ? -p.low : 0,
                                              p.high < 0 ? trace.extents.subtract(size, -p.high) : size);
    }
    return result;
  }
};

} // namespace detail

/// `reshape(x, {2, -1})`: the same elements in row-major order; one extent may be -1.
inline constexpr detail::reshape_operation reshape{};
/// All elements along one axis.
inline constexpr detail::ravel_operation ravel{};
/// `transpose(x)` reverses the axes; `transpose(x, {1, 0, 2})`: result axis k is operand axis permutation[k].
inline constexpr detail::transpose_operation transpose{};
inline constexpr detail::moveaxis_operation moveaxis{};
inline constexpr detail::broadcast_to_operation broadcast_to{};
inline constexpr detail::expand_dims_operation expand_dims{};
inline constexpr detail::squeeze_operation squeeze{};
/// `slice(x, {starts}, {limits}, {strides})`. JAX: lax.slice
inline constexpr detail::slice_operation slice{};
/// `slice_in_dim(x, start, limit, stride = 1, axis = 0)`: bounds may be negative or `none`. JAX: lax.slice_in_dim
inline constexpr detail::slice_in_dim_operation slice_in_dim{};
/// One position of an axis, which goes. JAX: lax.index_in_dim with keepdims false
inline constexpr detail::index_in_dim_operation index_in_dim{};
/// `concatenate({a, b}, axis = 0)` in traced functions, `concatenate(a, b, axis<0>)` on arrays.
inline constexpr detail::concatenate_operation concatenate{};
/// `stack({a, b}, axis = 0)`: along a new axis.
inline constexpr detail::stack_operation stack{};
/// `pad(x, value, {{low, high, interior}, ...})`. JAX: lax.pad
inline constexpr detail::pad_operation pad{};

} // namespace parallax
