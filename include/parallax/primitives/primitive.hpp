// What a primitive's rules are given, and how an operation is appended to the graph.
#pragma once

#include <parallax/core/tracer.hpp>
#include <parallax/primitives/catalogue.hpp>

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace parallax {

/// How a primitive is lowered.
enum class primitive_kind {
  source,      ///< no operands; evaluated in place
  elementwise, ///< every element from the same element of each operand
  reduction,   ///< over the axes named by the parameters
  product,     ///< dot_general
  view,        ///< an affine change of indices
  assembly,    ///< written piece by piece into its result
  collective,  ///< between devices
  nested,      ///< owns a graph
  projection   ///< one result of a nested call
};

/// For the shape rule: the operands' values and the parameters.
struct shape_application {
  context& trace;
  std::string_view name;
  std::span<const abstract_value> operands;
  std::span<const std::int64_t> parameters;
};

/// A value with the axis that a vmap added to it; -1 where it does not depend on the mapped argument.
struct batched {
  tracer value;
  int axis = -1;
};

/// For the batching rule: the operands with their mapped axes.
struct batch_application {
  context& trace;
  int operation;
  std::span<const batched> operands;
  std::span<const std::int64_t> parameters;
  dim size;        ///< of the mapped axis
  int mapped_axis; ///< its number
};

/// For the differentiation rule: the operands and the result of the forward computation and the result's cotangent.
/// The rule gives each operand its cotangent.
struct vjp_application {
  context& trace;
  std::span<const tracer> operands;
  std::span<const std::int64_t> parameters;
  tracer result;
  tracer cotangent;
  std::span<const char> wanted; ///< which operands a derivative is asked for
  std::span<tracer> given;      ///< by operand; without an owner where there is none

  constexpr bool wants(int operand) const { return wanted[static_cast<std::size_t>(operand)] != 0; }
  constexpr const tracer& operand(int i) const { return operands[static_cast<std::size_t>(i)]; }
  constexpr void give(int operand, tracer cotangent_of_operand) {
    given[static_cast<std::size_t>(operand)] = cotangent_of_operand;
  }
};

/// Appends an operation to the innermost graph (or finds it there) and returns its result. Operands of enclosing graphs
/// become inputs of the innermost one.
constexpr tracer emit(context& trace, int operation, std::span<const tracer> operands,
                      std::span<const std::int64_t> parameters) {
  return trace.append(trace, operation, operands, parameters);
}

template <class Primitive>
constexpr tracer emit(context& trace, std::initializer_list<tracer> operands,
                      std::initializer_list<std::int64_t> parameters = {}) {
  return emit(trace, primitives::number_of<Primitive>, std::span<const tracer>(operands.begin(), operands.size()),
              std::span<const std::int64_t>(parameters.begin(), parameters.size()));
}
template <class Primitive>
constexpr tracer emit(std::initializer_list<tracer> operands, std::initializer_list<std::int64_t> parameters = {}) {
  return emit<Primitive>(*operands.begin()->owner, operands, parameters);
}
template <class Primitive>
constexpr tracer emit(context& trace, std::span<const tracer> operands, std::span<const std::int64_t> parameters) {
  return emit(trace, primitives::number_of<Primitive>, operands, parameters);
}

/// Whether a result may have that many dimensions; too many are an error.
constexpr bool check_rank(context& trace, std::string_view operation, int rank) {
  if (rank <= max_rank) return true;
  trace.fail(message() << operation << ": the result has " << rank << " dimensions; parallax supports at most "
                       << max_rank);
  return false;
}

/// Leaves a condition on extents to the call to check.
constexpr void require(context& trace, guard::kind condition, std::string_view operation, dim left, dim right,
                       const abstract_value& left_value, const abstract_value& right_value = {}) {
  const guard wanted{condition, operation, left, right, left_value, right_value, {}};
  for (const guard& known : trace.guards) {
    bool same = known.left == left && known.right == right, exchanged = known.left == right && known.right == left;
    bool equalities = known.asks_for_equality() && wanted.asks_for_equality();
    if (equalities ? same || exchanged : same && known.condition == condition) return;
  }
  trace.guards.push_back(wanted);
}

/// Makes two extents agree: the same, or provably different (an error), or left to the call to check.
constexpr dim unify(context& trace, std::string_view operation, dim left, dim right, const abstract_value& left_value,
                    const abstract_value& right_value, std::string_view advice = "make these extents equal",
                    guard::kind condition = guard::equal_extents) {
  if (left == right) return left;
  if (is_static(left) && is_static(right)) {
    message text;
    text << operation << ": shapes ";
    print_value(text, trace.extents, left_value);
    text << " and ";
    print_value(text, trace.extents, right_value);
    trace.fail(text << " do not agree: " << left << " is not " << right << "; " << advice);
    return left;
  }
  require(trace, condition, operation, left, right, left_value, right_value);
  return is_static(right) ? right : left;
}

} // namespace parallax
