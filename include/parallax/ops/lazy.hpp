// Expressions of arrays outside a trace: what an operation on arrays returns. They hold their operands by value and are
// computed as one program when they are assigned to an array.
#pragma once

#include <parallax/core/plain_span.hpp>
#include <parallax/core/pytree.hpp>
#include <parallax/primitives/operators.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace parallax {

/// Whether a type is a concrete array, on the host or sharded over devices. Specialised beside those types.
template <class T> inline constexpr bool is_array_value = false;

template <class T>
concept array_value = is_array_value<std::remove_cvref_t<T>>;

namespace detail {
/// Whether a type is what a transformation makes of a function. Specialised beside the transformations.
template <class T> inline constexpr bool is_transformed = false;

template <class Expression> constexpr bool refuse_uncomputed() {
  static_assert(std::is_void_v<Expression>, "an expression of arrays is computed where an array is made of it: write "
                                            "plx::array y = ... in place of auto, and use that");
  return true;
}
} // namespace detail

/// Operation `Operation` applied to operands: arrays, scalars, other expressions, or empty objects that say how.
template <class Operation, class... Operands> struct lazy {
  std::tuple<Operands...> operands;

  /// Inside a traced function, where an index is traced: the same of the expression's value.
  template <class Index> constexpr auto operator[](const Index& index) const;
  template <class... Index> constexpr auto at(const Index&... index) const;

  // what arrays have, and an expression does not
  template <class... Index> constexpr int operator()(Index...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... Axis> constexpr int shape(Axis...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int size(None...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int item(None...) const noexcept(detail::refuse_uncomputed<lazy>());
  template <class... None> constexpr int values(None...) const noexcept(detail::refuse_uncomputed<lazy>());
};
template <class Operation, class... Operands> inline constexpr bool is_tree_leaf<lazy<Operation, Operands...>> = true;

namespace detail {
template <class T> inline constexpr bool is_lazy = false;
template <class Operation, class... Operands> inline constexpr bool is_lazy<lazy<Operation, Operands...>> = true;
} // namespace detail

template <class T>
concept lazy_expression = detail::is_lazy<std::remove_cvref_t<T>>;

/// What an eager operation computes with: arrays and expressions of them.
template <class T>
concept eager_operand = array_value<T> || lazy_expression<T>;

/// Extents given at run time, `{8, 28, 28}`: symbols in a program, numbers in a trace.
template <std::size_t Rank> struct extent_list {
  extent values[Rank > 0 ? Rank : 1];

  constexpr plain_span<const extent> view() const { return {values, Rank}; }
  /// The one that there is.
  constexpr operator extent() const
    requires(Rank == 1)
  {
    return values[0];
  }
};

namespace detail {
template <class T> constexpr context* owner_of(const T& x) {
  if constexpr (traced<T>) return x.owner;
  else return nullptr;
}
template <class... T> constexpr context& trace_of(const T&... operands) {
  context* found = nullptr;
  ((found = found ? found : owner_of(operands)), ...);
  return *found;
}

/// Refuses what a traced operation cannot take, where it is called.
template <class T> constexpr bool check_operand();
template <class Operation, class... O> constexpr bool check_operands(std::type_identity<lazy<Operation, O...>>) {
  return (check_operand<O>() && ...);
}
template <class T> constexpr bool check_operand() {
  static_assert(!array_value<T>, "an array has its values at the call only, and cannot be closed over: pass it to the "
                                 "traced function as an argument");
  static_assert(!std::same_as<T, no_member_T_write_plx_transpose>, "arrays have no member T: write plx::transpose(x)");
  if constexpr (lazy_expression<T>) return check_operands(std::type_identity<T>{});
  else return true;
}

/// An operand as a traced operation takes it.
template <class T> constexpr auto materialize(context& trace, const T& x) {
  if constexpr (scalar<T>) {
    return build::weak_literal(trace, x);
  } else if constexpr (lazy_expression<T>) {
    return std::apply(
        [&]<class Operation, class... O>(lazy<Operation, O...>*, const auto&... operand) {
          return Operation::apply(trace, materialize(trace, operand)...);
        },
        std::tuple_cat(std::tuple<T*>(nullptr), x.operands));
  } else if constexpr (std::same_as<T, extent>) {
    return build::extent_value(trace, x.as_dim(), element_type::int32);
  } else if constexpr (array_value<T> || std::same_as<T, no_member_T_write_plx_transpose>) {
    return build::weak_literal(trace, check_operand<T>() ? 1 : 0);
  } else {
    return x;
  }
}
} // namespace detail

/// An operation users call: on tracers it appends to their graph, on arrays it makes an expression.
/// `Operation::apply(context&, operands...)` is its meaning on tracers.
template <class Operation> struct operation {
  template <class... T>
    requires(traced<T> || ...)
  constexpr tracer operator()(const T&... operands) const noexcept((detail::check_operand<T>() && ...)) {
    context& trace = detail::trace_of(operands...);
    return Operation::apply(trace, detail::materialize(trace, operands)...);
  }
  template <class... T>
    requires((eager_operand<T> || ...) && !(traced<T> || ...))
  constexpr lazy<Operation, T...> operator()(const T&... operands) const {
    return {{operands...}};
  }
};

} // namespace parallax
