// The arguments of a primitive's rules, and the function that appends an operation to the graph.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/trace/tracer.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/catalogue.hpp>
#include <parallax/primitives/building/parameters.hpp>

#include <climits>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The way in which a primitive is lowered.
enum class primitive_kind {
  source,      ///< no operands; evaluated in place
  elementwise, ///< every element from the same element of each operand
  reduction,   ///< over the axes named by the parameters
  cumulative,  ///< along one axis, each element combined with those before it: see primitives/arrays/cumulative.hpp
  sorting,     ///< rows arranged by the order of their elements: see primitives/arrays/sort.hpp
  gather,      ///< elements of an array at places that are data: see primitives/arrays/indexing.hpp
  scatter,     ///< an array after changes to elements at places that are data
  product,     ///< dot_general
  view,        ///< an affine change of indices
  assembly,    ///< written piece by piece into its result
  collective,  ///< between devices
  call         ///< owns graphs: see primitives/building/call.hpp
};

/// Whether a node is an operation of this primitive.
template <class Primitive> constexpr bool is(const graph& g, node_id id) {
  return g.primitive(id) == primitives::id_of<Primitive>;
}
template <class Primitive> constexpr bool is(tracer x) { return is<Primitive>(x.home(), x.id); }

/// The parameters of a node.
template <class Primitive> constexpr auto parameters_of(const graph& g, node_id id) {
  return decode<typename Primitive::parameters>(g.parameters(id));
}
template <class Primitive> constexpr auto parameters_of(tracer x) { return parameters_of<Primitive>(x.home(), x.id); }

/// For a rule that a primitive lacks: `static constexpr no_rule vjp{"its operands are integers"};`.
struct no_rule {
  std::string_view why;
};

/// Appends an operation to the innermost graph, or finds it there, and returns its result. Operands from enclosing
/// graphs become inputs of the innermost one.
constexpr tracer emit(context& trace, primitive_id primitive, plain_span<const tracer> operands,
                      parameter_words parameters) {
  return trace.append(trace, primitive, operands, parameters);
}
template <class Primitive> constexpr tracer emit(context& trace, plain_span<const tracer> operands) {
  static_assert(!has_parameters<Primitive>);
  return emit(trace, primitives::id_of<Primitive>, operands, {});
}
// If the primitive is not complete yet, the name of its parameters' type is used to pass them.
template <class Primitive, class Parameters = typename Primitive::parameters>
constexpr tracer emit(context& trace, plain_span<const tracer> operands, const Parameters& parameters) {
  return emit(trace, primitives::id_of<Primitive>, operands, encode_next(trace, parameters));
}
/// The trace that operands belong to.
constexpr context& owner_among(std::initializer_list<tracer> operands) {
  context* found = nullptr;
  for (const tracer& x : operands)
    if (found == nullptr || found->is_probe) found = x.owner;
  return *found;
}
template <class Primitive> constexpr tracer emit(std::initializer_list<tracer> operands) {
  return emit<Primitive>(owner_among(operands), plain_span(operands.begin(), operands.size()));
}
template <class Primitive, class Parameters = typename Primitive::parameters>
constexpr tracer emit(std::initializer_list<tracer> operands, const Parameters& parameters) {
  return emit<Primitive>(owner_among(operands), plain_span(operands.begin(), operands.size()), parameters);
}
/// Appends a primitive that has no operands.
template <class Primitive> constexpr tracer emit(context& trace, const typename Primitive::parameters& parameters) {
  return emit<Primitive>(trace, plain_span<const tracer>(), parameters);
}

/// For the shape rule: the operands' values.
struct shape_application {
  context& trace;
  std::string_view name;
  plain_span<const abstract_value> operands;
};

/// A base of primitives that ask which of two elements is less: operands of other types are errors.
struct of_ordered {};
constexpr void require_order(const shape_application& a) {
  const element_type type = a.operands[0].type;
  if (has_order(type)) return;
  a.trace.fail(message() << a.name << ": of two elements of type " << name_of(type)
                         << " none is less; compare numbers that are made of them");
}

/// A base of primitives that truth values have not.
struct of_numbers {};
constexpr void require_numbers(const shape_application& a) {
  if (a.operands[0].type != element_type::boolean) return;
  a.trace.fail(message() << a.name << ": truth values are no numbers; astype makes numbers of them");
}

/// Takes the place of an array's axis if the value is not mapped.
inline constexpr int unmapped = INT_MIN;

/// A value and the axis that a vmap added to it, or `unmapped` if it does not depend on the mapped argument.
struct batched {
  tracer value;
  int axis = unmapped;

  constexpr bool is_mapped() const { return axis != unmapped; }
  /// The rank of one instance's value.
  constexpr int instance_rank() const { return value.rank() - (is_mapped() ? 1 : 0); }
};

/// For the batching rule: the operands with their mapped axes, at least one of which is mapped.
struct batch_application {
  context& trace;
  primitive_id primitive;
  plain_span<const batched> operands;
  parameter_words parameters;
  dim size; ///< of the mapped axis
  axis_id axis;

  /// The same primitive with the same parameters, on other operands.
  constexpr tracer again(plain_span<const tracer> others) const { return emit(trace, primitive, others, parameters); }
  constexpr tracer again(tracer operand) const { return again(plain_span<const tracer>(&operand, 1)); }
  /// The same primitive with other parameters, on one operand.
  constexpr tracer with(tracer operand, const auto& others) const {
    return emit(trace, primitive, plain_span<const tracer>(&operand, 1), encode_next(trace, others));
  }
};

/// For the differentiation rule: the operands and the result of the forward computation, and the cotangent of the
/// result. The rule gives each operand its cotangent.
struct vjp_application {
  context& trace;
  plain_span<const tracer> operands;
  tracer result;
  tracer cotangent;
  const operand_flags& wanted; ///< whether a derivative is asked for
  plain_span<tracer> given;    ///< the cotangents by operand; without an owner if an operand has none

  constexpr bool wants(int operand) const { return wanted[index_of(operand)] != 0; }
  constexpr const tracer& operand(int i) const { return operands[index_of(i)]; }
  constexpr void give(int operand, tracer cotangent_of_operand) { given[index_of(operand)] = cotangent_of_operand; }
};

/// The differentiation rule of primitives that are piecewise constant: no operand gets a cotangent.
struct zero_rule {
  constexpr void operator()(vjp_application&, const auto&...) const {}
};

/// Whether a result may have `rank` dimensions; too many are an error.
constexpr bool check_rank(context& trace, std::string_view operation, int rank) {
  if (rank <= max_rank) return true;
  trace.fail(message() << operation << ": the result has " << rank << " dimensions; parallax supports at most "
                       << max_rank);
  return false;
}

/// Adds a guard: a condition on extents that the call checks.
constexpr void require(context& trace, guard_kind kind, std::string_view operation, dim left, dim right,
                       const abstract_value& left_value, const abstract_value& right_value = {}) {
  const guard wanted{kind, operation, left, right, left_value, right_value, {}};
  for (const guard& known : trace.guards) {
    bool same = known.left == left && known.right == right, exchanged = known.left == right && known.right == left;
    bool equalities = known.asks_for_equality() && wanted.asks_for_equality();
    if (equalities ? same || exchanged : same && known.kind == kind) return;
  }
  trace.guards.push_back(wanted);
}

/// Makes two extents agree. They are equal, or provably different, which is an error, or the call checks them.
constexpr dim unify(context& trace, std::string_view operation, dim left, dim right, const abstract_value& left_value,
                    const abstract_value& right_value, std::string_view advice = "make these extents equal",
                    guard_kind kind = guard_kind::equal_extents) {
  if (left == right) return left;
  if (is_static(left) && is_static(right)) {
    message text;
    text << operation << ": shapes ";
    print_value(text, trace.extents, left_value);
    text << " and ";
    print_value(text, trace.extents, right_value);
    trace.fail(text << " do not agree: " << left.number() << " is not " << right.number() << "; " << advice);
    return left;
  }
  require(trace, kind, operation, left, right, left_value, right_value);
  return is_static(right) ? right : left;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
