// Arrays from pieces: concatenating, stacking, padding.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/shapes/reshaping.hpp>
#include <parallax/primitives/arrays/assembly.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

constexpr tracer join(context& trace, growing_vector<tracer> operands, int axis_number) {
  int normal = normalize_axis(trace, "concatenate", axis_number, operands[0].rank());
  if (trace.failed) return operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) build::promote_types(operands[0], operands[i]);
  for (std::size_t i = 1; i < operands.size(); ++i) operands[i] = build::convert(operands[i], operands[0].type());
  return emit<primitives::concatenate>(trace, operands, {normal});
}

/// A type that may stand in a list of operands beside traced arrays.
template <class T>
concept constant_entry = number_like<T> || eager_operand<T>;

/// One operand of a list in which some operands may be constants.
class list_entry {
 public:
  constexpr list_entry(tracer x) : given(x) {}
  template <constant_entry T> constexpr list_entry(const T& x) : constant(new constant_of<T>(x)) {}
  list_entry(const list_entry&) = delete;
  constexpr ~list_entry() { delete constant; }

  constexpr context* owner() const { return constant ? constant->owner() : given.owner; }
  constexpr tracer in(context& trace) const { return constant ? constant->in(trace) : trace.own(given); }

 private:
  struct any_constant {
    constexpr virtual ~any_constant() = default;
    constexpr virtual context* owner() const = 0;
    constexpr virtual tracer in(context& trace) const = 0;
  };
  template <class T> struct constant_of final : any_constant {
    const T& value;
    constexpr explicit constant_of(const T& x) : value(x) {}
    // g++ 12 defines a defaulted one too late for `delete` in a constant
    constexpr ~constant_of() override {} // NOLINT(modernize-use-equals-default)
    constexpr context* owner() const override { return owner_of(value); }
    constexpr tracer in(context& trace) const override { return materialize(trace, as_operand(value)); }
  };
  tracer given;
  const any_constant* constant = nullptr;
};

[[noreturn, gnu::error("parallax: operands of several types are no list: write f(a, b, plx::axis<0>)")]]
void write_operands_of_several_types_as_f_of_a_b_and_axis();

/// The base of operations on lists of traced arrays, `Derived::of_list(trace, list, axis)`. Some or all operands may be
/// constants. On arrays they are `f(a, b, ..., axis<k>)`, along axis 0 without it.
template <class Derived> struct operation_on_lists : operation<Derived> {
  using operation<Derived>::operator();
  template <class... T> static constexpr tracer apply(context& trace, const T&... operands) {
    growing_vector<tracer> arrays;
    int along = 0;
    auto take = [&]<class O>(const O& o) {
      if constexpr (traced<O>) arrays.push_back(o);
      else along = axis_number_of(o);
    };
    (take(operands), ...);
    return Derived::of_list(trace, arrays, along);
  }
  constexpr tracer operator()(std::initializer_list<tracer> operands, any_axis axis_number = {}) const {
    return Derived::of_list(*operands.begin()->owner, growing_vector<tracer>(operands), axis_number);
  }
  template <std::size_t N>
  constexpr tracer operator()(const list_entry (&operands)[N], any_axis axis_number = {}) const {
    context* trace = nullptr;
    for (const list_entry& x : operands) trace = common_owner(trace, x.owner());
    if (trace == nullptr) write_operands_of_several_types_as_f_of_a_b_and_axis();
    growing_vector<tracer> list;
    for (const list_entry& x : operands) list.push_back(x.in(*trace));
    return Derived::of_list(*trace, list, axis_number);
  }
  template <constant_entry T, std::size_t N> constexpr auto operator()(const T (&list)[N]) const {
    return of_constants(list, axis<0>, std::make_index_sequence<N>{});
  }
  template <constant_entry T, std::size_t N> constexpr auto operator()(const T (&list)[N], any_axis axis_number) const {
    return of_constants(list, kept_argument<int>{axis_number}, std::make_index_sequence<N>{});
  }

 private:
  template <int Axis> static constexpr int axis_number_of(axis_t<Axis>) { return Axis; }
  static constexpr int axis_number_of(int number) { return number; }

  template <class T, std::size_t N, class Axis, std::size_t... I>
  static constexpr auto of_constants(const T (&list)[N], const Axis& along, std::index_sequence<I...>) {
    return lazy<Derived, std::remove_cvref_t<decltype(as_operand(list[I]))>..., Axis>{{as_operand(list[I])..., along}};
  }
};

/// Shapes: that of the operands, whose extents along the axis are added. Errors: operands of different numbers of
/// dimensions, or of other extents that differ; an axis that they do not have.
struct concatenate_operation : operation_on_lists<concatenate_operation> {
  static constexpr tracer of_list(context& trace, const growing_vector<tracer>& operands, int axis_number) {
    return join(trace, operands, axis_number);
  }
};

/// Shapes: that of the operands, with their number as the extent of the new axis. Errors: operands of different shapes;
/// more than 8 dimensions.
struct stack_operation : operation_on_lists<stack_operation> {
  static constexpr tracer of_list(context& trace, const growing_vector<tracer>& operands, int axis_number) {
    const tracer& first = operands[0];
    growing_vector<tracer> expanded;
    for_each(operands, [&](const tracer& x) {
      if (trace.failed || !check_same_shape(first, x) || !check_rank(trace, "stack", x.rank() + 1)) return;
      expanded.push_back(expand_dims_operation{}(x, axis_number));
    });
    return trace.failed ? first : join(trace, expanded, axis_number);
  }

 private:
  static constexpr bool check_same_shape(const tracer& first, const tracer& x) {
    bool same = x.rank() == first.rank();
    for (int i = 0; same && i < x.rank(); ++i)
      same = !is_static(x.dimension(i)) || !is_static(first.dimension(i)) || x.dimension(i) == first.dimension(i);
    if (same) return true;
    message text;
    text << "stack: shapes ";
    print_value(text, x.owner->extents, first.value());
    text << " and ";
    print_value(text, x.owner->extents, x.value());
    x.owner->fail(text << " differ; give arrays of one shape");
    return false;
  }
};

/// Padding before, after and between the elements of one axis. Negative amounts before and after cut elements off.
struct padding {
  int low = 0, high = 0, interior = 0;
};

/// Shapes: low + n + high + (n - 1) interior for an extent n. Errors: not one padding for each axis; interior padding
/// below 0.
struct pad_operation {
  using list = small_vector<padding, max_rank>;
  template <class Value>
  constexpr tracer operator()(tracer x, Value value, std::initializer_list<padding> paddings) const {
    return run(x, value, {paddings.begin(), paddings.size()});
  }
  template <class Value> constexpr tracer operator()(tracer x, Value value, const list& paddings) const {
    return run(x, value, {paddings.begin(), index_of(paddings.size())});
  }
  template <constant_expression X, class Value>
  constexpr auto operator()(const X& x, Value value, std::initializer_list<padding> paddings) const {
    return call_with_constant<pad_operation>(x, value, list(paddings));
  }

 private:
  template <class Value> static constexpr tracer run(tracer x, const Value& value, plain_span<const padding> paddings) {
    context& trace = *x.owner;
    if (count_of(paddings) != x.rank()) {
      trace.fail(message() << "pad: " << count_of(paddings) << " paddings for an array of dimension " << x.rank()
                           << "; give one per axis");
      return x;
    }
    tracer fill = build::convert(materialize(trace, value), x.type());
    primitives::pad_parameters around;
    for (int i = 0; i < x.rank(); ++i) {
      padding p = paddings[index_of(i)];
      if (p.interior < 0)
        trace.fail(message() << "pad: interior padding " << p.interior << " is negative; give one from 0 on");
      around.low.push_back(dim{p.low > 0 ? p.low : 0});
      around.high.push_back(dim{p.high > 0 ? p.high : 0});
      around.interior.push_back(p.interior);
      // an empty axis gets no padding between elements, which a symbolic extent of the result cannot express
      if (p.interior > 0 && !is_static(x.dimension(i)))
        require(trace, guard_kind::not_zero, "pad: interior padding of an axis of extent 0", x.dimension(i), dim{},
                x.value());
    }
    if (trace.failed) return x;
    tracer result = emit<primitives::pad>({x, fill}, around);
    for (int i = 0; i < x.rank() && !trace.failed; ++i) {
      padding p = paddings[index_of(i)];
      if (p.low >= 0 && p.high >= 0) continue;
      dim size = result.dimension(i);
      result = build::slice_axis(result, i, dim{p.low < 0 ? -p.low : 0},
                                 p.high < 0 ? trace.extents.subtract(size, dim{-p.high}) : size);
      trace.check_extents("pad");
    }
    return result;
  }
};

} // namespace detail

/// `concatenate({a, b}, axis = 0)` in traced functions, `concatenate(a, b, axis<0>)` on arrays: the arrays one behind
/// another along an axis. JAX: numpy.concatenate
inline constexpr detail::concatenate_operation concatenate{};
/// `stack({a, b}, axis = 0)` in traced functions, `stack(a, b, axis<0>)` on arrays: along a new axis. JAX: numpy.stack
inline constexpr detail::stack_operation stack{};
/// `pad(x, value, {{low, high, interior}, ...})`. JAX: lax.pad
inline constexpr detail::pad_operation pad{};

} // namespace parallax::PARALLAX_INLINE_VERSION
