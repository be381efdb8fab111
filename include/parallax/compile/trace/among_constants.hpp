// Calls of constants alone inside a traced function: which trace they are part of.
#pragma once

#include <parallax/compile/trace/trace.hpp>
#include <parallax/core/version.hpp>

#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

/// Whether values of `T` can occur in a traced function although no operation made them: constants, tables of numbers,
/// and expressions of these.
template <class T> inline constexpr bool needs_no_trace = is_constant<T> || array_in_a_trace<T>;
template <class Operation, class... O>
inline constexpr bool needs_no_trace<lazy<Operation, O...>> = (needs_no_trace<O> && ...);

/// Whether no leaf of a tree needs a trace, so that the tree does not say which trace a call of it is part of.
template <class T> constexpr bool all_constants() {
  return !any_leaf<T>([]<class L>(std::type_identity<L>) { return !needs_no_trace<L>; });
}

/// A tree with its constants as values of a trace. Extents stay what they are.
template <class T> constexpr auto constants_in(context& trace, const T& tree) {
  return tree_map(
      [&]<class L>(const L& leaf) {
        if constexpr (scalar<L> || lazy_expression<L> || array_in_a_trace<L>) return leaf_to_tracer(trace, leaf);
        else return leaf;
      },
      tree);
}

/// Whether a tree has a leaf without a meaning outside of traced functions.
template <class T> constexpr bool any_for_traces() {
  return any_leaf<T>([]<class L>(std::type_identity<L>) { return is_for_traces<L>; });
}

/// Whether a call can be part of a traced function and of nothing else: the function captures values of one, or the
/// arguments have a meaning there alone.
template <class Function, class... Args> constexpr bool is_call_in_a_trace() {
  return (all_constants<Args>() && ...) && (!is_stateless<Function> || (any_for_traces<Args>() || ...));
}

/// A context in which operations can be appended.
template <class Function> struct open_context {
  context trace;
  constexpr open_context() {
    trace.append = &append_operation;
    trace.rules = rule_table<typename when_traced<Function>::catalogue>::entries;
  }
};

/// Called if no captured value belongs to a trace, so that the call is no part of one. The function is defined nowhere:
/// g++ refuses the call in code that runs, other compilers leave it to the linker, which prints its name.
[[noreturn,
  gnu::error("parallax: the outermost function must not capture: make captured functions static constexpr, and "
             "pass captured values as arguments")]] void
the_outermost_function_must_not_capture();

/// The trace that a function's captured values belong to. The function is called once in a trace of its own, which
/// notes the other trace that it meets.
template <class Function, class... Args>
constexpr context& trace_of_captures(const Function& function, const Args&... constants) {
  open_context<Function> own;
  own.trace.is_probe = true;
  std::ignore = function(constants_in(own.trace, constants)...);
  if (own.trace.met == nullptr) the_outermost_function_must_not_capture();
  return *own.trace.met;
}

/// Calls a transformed function that captures with constants alone. It is part of the trace that its constants' extents
/// or its captured values belong to.
template <class Function, class... Args>
constexpr auto call_among_constants(const Function& function, const Args&... constants) {
  context* known = nullptr;
  (tree_for_each([&](const auto& leaf) { known = common_owner(known, owner_of(leaf)); }, constants), ...);
  context& trace = known ? *known : trace_of_captures(function, constants...);
  return function(constants_in(trace, constants)...);
}

} // namespace detail

template <class Operation, class... Operands>
constexpr extent lazy<Operation, Operands...>::shape(int axis) const
  requires of_constants
{
  if (detail::context* const trace = detail::owner_of(*this)) return detail::materialize(*trace, *this).shape(axis);
  detail::open_context<Operation> own;
  return detail::materialize(own.trace, *this).shape(axis).number();
}
template <class Operation, class... Operands>
constexpr int lazy<Operation, Operands...>::rank() const
  requires of_constants
{
  if (detail::context* const trace = detail::owner_of(*this)) return detail::materialize(*trace, *this).rank();
  detail::open_context<Operation> own;
  return detail::materialize(own.trace, *this).rank();
}

} // namespace parallax::PARALLAX_INLINE_VERSION
