// Appends operations to the innermost graph by the rules of their primitives, and simplifies them if operands are
// constants.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

constexpr bool is_one(const graph& g, node_id id) {
  return is<primitives::literal>(g, id) && parameters_of<primitives::literal>(g, id).is(1);
}
/// The operand that equals the operation's result: x of x * 1, x / 1 and -(-x).
constexpr node_id neutral_result(const graph& g, primitive_id primitive, plain_span<const node_id> operands) {
  const bool multiplies = primitive == primitives::id_of<primitives::multiply>;
  if (multiplies || primitive == primitives::id_of<primitives::divide>) {
    if (is_one(g, operands[1]) && g.type(operands[0]) == g.type(operands[1])) return operands[0];
    if (multiplies && is_one(g, operands[0])) return operands[1];
  }
  if (primitive == primitives::id_of<primitives::negative> && is<primitives::negative>(g, operands[0]))
    return g.operand(operands[0], 0);
  return node_id::none;
}

/// Computes x `primitive` y. Returns false if the primitive is none of the four operations, or a division that is not
/// left to the compiler: of whole numbers, or by 0.
template <class T> constexpr bool compute(primitive_id primitive, T x, T y, T& result) {
  if (primitive == primitives::id_of<primitives::add>) result = x + y;
  else if (primitive == primitives::id_of<primitives::subtract>) result = x - y;
  else if (primitive == primitives::id_of<primitives::multiply>) result = x * y;
  else if (primitive == primitives::id_of<primitives::divide> && is_inexact(element_type_of<T>) && y != 0)
    result = x / y;
  else return false;
  return true;
}
template <class T> constexpr bool compute_as(primitive_id primitive, double x, double y, double& result) {
  T rounded{};
  if (!compute(primitive, static_cast<T>(x), static_cast<T>(y), rounded)) return false;
  result = static_cast<double>(rounded);
  return true;
}
/// Computes x `primitive` y in the type that the result would have at run time.
constexpr bool compute_floating(primitive_id primitive, element_type type, double x, double y, double& result) {
  constexpr double moderate = 1e15; // an overflow or a result that is not finite is no constant expression
  if (!(x > -moderate && x < moderate && y > -moderate && y < moderate)) return false;
  if (y != 0 && y < 1 / moderate && y > -1 / moderate) return false;
  switch (type) {
  case element_type::float16: return compute_as<float16>(primitive, x, y, result);
  case element_type::bfloat16: return compute_as<bfloat16>(primitive, x, y, result);
  case element_type::float32: return compute_as<float>(primitive, x, y, result);
  case element_type::float64: return compute_as<double>(primitive, x, y, result);
  case element_type::boolean:
  case element_type::uint8:
  case element_type::int32:
  case element_type::uint32:
  case element_type::int64:
  case element_type::uint64: break; // have no floating constants
  }
  return false;
}

/// A whole number of a type; false if indices never have the type.
constexpr bool whole_number(element_type type, std::int64_t bits, std::int64_t& number) {
  if (type == element_type::int32) number = static_cast<std::int32_t>(bits);
  else if (type == element_type::uint32) number = static_cast<std::uint32_t>(bits);
  else if (type == element_type::int64 || (type == element_type::uint64 && bits >= 0)) number = bits;
  else return false;
  return true;
}
/// The operations, besides the four, that indices are computed with: on two whole numbers of one type. Returns false
/// for other primitives.
constexpr bool compute_index(primitive_id primitive, std::int64_t x, std::int64_t y, std::int64_t& result) {
  if (primitive == primitives::id_of<primitives::minimum>) result = x < y ? x : y;
  else if (primitive == primitives::id_of<primitives::maximum>) result = x < y ? y : x;
  else if (primitive == primitives::id_of<primitives::bitwise_or>) result = x | y;
  else return false;
  return true;
}

/// Minus a floating constant.
constexpr bool fold_negative(const graph& g, primitive_id primitive, node_id operand,
                             primitives::literal::parameters& result) {
  if (primitive != primitives::id_of<primitives::negative>) return false;
  result = parameters_of<primitives::literal>(g, operand);
  if (!has_double_literal(result.type)) return false;
  result.bits = std::bit_cast<std::int64_t>(-result.as_double());
  return true;
}

/// Arithmetic on one or two constants. Returns false if the program has to compute the operation.
constexpr bool fold_constants(const graph& g, primitive_id primitive, plain_span<const node_id> operands,
                              primitives::literal::parameters& result) {
  if (operands.size() != 1 && operands.size() != 2) return false;
  for (node_id operand : operands)
    if (!is<primitives::literal>(g, operand)) return false;
  if (operands.size() == 1) return fold_negative(g, primitive, operands[0], result);
  const auto left = parameters_of<primitives::literal>(g, operands[0]);
  const auto right = parameters_of<primitives::literal>(g, operands[1]);
  result = {left.type, left.weak && right.weak, 0};
  if (has_double_literal(left.type)) {
    double value = 0;
    if (!compute_floating(primitive, left.type, left.as_double(), right.as_double(), value)) return false;
    result.bits = std::bit_cast<std::int64_t>(value);
    return true;
  }
  std::int64_t x = 0, y = 0;
  if (!whole_number(left.type, left.bits, x) || !whole_number(right.type, right.bits, y)) return false;
  if (compute_index(primitive, x, y, result.bits)) return true;
  constexpr std::int64_t small = 1 << 15;
  auto is_small = [](std::int64_t number) { return number > -small && number < small; };
  const bool fits = left.type == element_type::int32 || left.type == element_type::int64;
  return fits && is_small(x) && is_small(y) && compute(primitive, x, y, result.bits);
}

/// Makes operands nodes of the innermost graph: parts of the next operation.
constexpr void import_operands(context& trace, plain_span<const tracer> operands) {
  trace.next.operands.clear();
  trace.next.values.clear();
  for_each(operands, [&](const tracer& given) {
    const tracer x = trace.own(given);
    trace.next.operands.push_back(trace.import(x.scope, x.id));
    trace.next.values.push_back(trace.current().value(trace.next.operands.back()));
  });
}

/// The mesh axes along which the next operation's result may differ: those of its operands, unless it is a reduction of
/// all instances, whose result is alike on them.
constexpr axis_bits variation_of_next(const context& trace, const primitive_rules& rules, primitive_id primitive,
                                      parameter_words parameters) {
  if (primitive == primitives::id_of<primitives::axis_index>)
    return trace.axes[decode<primitives::axis_index::parameters>(parameters).axis].bit;
  axis_bits all;
  for_each(trace.next.values, [&](const abstract_value& value) { all = all | value.varies; });
  if (rules.kind != primitive_kind::collective) return all;
  const auto p = decode<primitives::collective_parameters>(parameters);
  const axis_bits own = p.over.bits(trace);
  const bool makes_alike = rules.exchange == exchange_kind::all_reduce && !p.over.has_groups();
  return makes_alike ? all.without(own) : all | own;
}

/// Appends an operation by the rules of its primitive.
constexpr tracer append_operation(context& trace, primitive_id primitive, plain_span<const tracer> operands,
                                  parameter_words parameters) {
  if (trace.failed && !operands.empty()) return operands[0];
  const primitive_rules& rules = rules_of(trace, primitive);
  import_operands(trace, operands);
  const plain_span<const node_id> ids = trace.next.operands;
  const graph_id scope = trace.innermost();
  const node_id same = neutral_result(trace.current(), primitive, ids);
  if (same != node_id::none) return {&trace, scope, same};
  primitives::literal::parameters folded;
  if (fold_constants(trace.current(), primitive, ids, folded)) return emit<primitives::literal>(trace, folded);
  const axis_bits varies = variation_of_next(trace, rules, primitive, parameters);
  abstract_value value = rules.shape(shape_application{trace, rules.name, trace.next.values}, parameters);
  value.varies = varies;
  check_rank(trace, rules.name, value.rank());
  trace.check_extents(rules.name);
  if (trace.failed) {
    if (!operands.empty()) return operands[0];
    value = {};
  }
  return {&trace, scope, trace.current().add(primitive, ids, value, parameters)};
}

constexpr growing_vector<tracer> emit_call(context& trace, primitive_id primitive, plain_span<const tracer> operands,
                                           parameter_words parameters) {
  const primitive_rules& rules = rules_of(trace, primitive);
  import_operands(trace, operands);
  growing_vector<abstract_value>& values = trace.next.results;
  values = rules.call.results(trace, trace.next.values, parameters);
  for_each(values, [&](abstract_value& value) {
    if (!check_rank(trace, rules.name, value.rank())) value.shape.pop_back();
  });
  trace.check_extents(rules.name);
  const graph_id scope = trace.innermost();
  const node_id call = trace.current().add_call(primitive, trace.next.operands, parameters, values);
  return vector_of(trace.current().results_of(call), [&](node_id id) { return tracer{&trace, scope, id}; });
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
