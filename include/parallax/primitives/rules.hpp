// The table of all primitives' rules, in the order of the catalogue, and what needs it.
#pragma once

#include <parallax/primitives/activation.hpp>
#include <parallax/primitives/arithmetic.hpp>
#include <parallax/primitives/assembly.hpp>
#include <parallax/primitives/bitwise.hpp>
#include <parallax/primitives/comparison.hpp>
#include <parallax/primitives/conversion.hpp>
#include <parallax/primitives/dot_general.hpp>
#include <parallax/primitives/error_function.hpp>
#include <parallax/primitives/exponential.hpp>
#include <parallax/primitives/philox.hpp>
#include <parallax/primitives/power.hpp>
#include <parallax/primitives/reduction.hpp>
#include <parallax/primitives/rounding.hpp>
#include <parallax/primitives/select.hpp>
#include <parallax/primitives/shape.hpp>
#include <parallax/primitives/sources.hpp>
#include <parallax/primitives/threefry.hpp>
#include <parallax/primitives/trigonometric.hpp>
// after the reductions and assemblies they are batched to
#include <parallax/primitives/collective.hpp>
#include <parallax/primitives/exchange.hpp>

namespace parallax {

/// A primitive's rules as values; null where there is none.
struct primitive_rules {
  std::string_view name;
  primitive_kind kind;
  abstract_value (*shape)(const shape_application&);
  batched (*batch)(const batch_application&);
  void (*vjp)(vjp_application&);
};

namespace detail {
template <class P> constexpr primitive_rules make_rules() {
  primitive_rules rules{P::name, P::kind, nullptr, nullptr, nullptr};
  if constexpr (requires { P::shape; }) rules.shape = &P::shape;
  if constexpr (requires { P::batch; }) rules.batch = &P::batch;
  if constexpr (requires { P::vjp; }) rules.vjp = &P::vjp;
  return rules;
}
template <class List> struct rule_table;
template <class... P> struct rule_table<primitives::list<P...>> {
  static constexpr primitive_rules entries[sizeof...(P)] = {make_rules<P>()...};
};
} // namespace detail

/// The rules of primitive number `operation`.
constexpr const primitive_rules& rules_of(int operation) {
  return detail::rule_table<primitives::catalogue>::entries[operation];
}

namespace detail {
/// x * 1, x / 1 and the like are x.
constexpr bool is_one(const graph& g, int id) {
  if (g.at(id).operation != primitives::number_of<primitives::literal>) return false;
  std::int64_t bits = g.parameter(id, 2);
  return is_floating(g.at(id).type) ? std::bit_cast<double>(bits) == 1.0 : bits == 1;
}
constexpr int neutral_result(const graph& g, int operation, std::span<const int> operands) {
  if (operation == primitives::number_of<primitives::multiply> ||
      operation == primitives::number_of<primitives::divide>) {
    if (is_one(g, operands[1]) && g.at(operands[0]).type == g.at(operands[1]).type) return operands[0];
    if (operation == primitives::number_of<primitives::multiply> && is_one(g, operands[0])) return operands[1];
  }
  if (operation == primitives::number_of<primitives::negative> &&
      g.at(operands[0]).operation == primitives::number_of<primitives::negative>)
    return g.operand(operands[0], 0);
  return -1;
}

/// Arithmetic on constants is done here, in the type it would have at run time. False where it is left to the program.
constexpr bool fold_constants(const graph& g, int operation, std::span<const int> operands, std::int64_t& bits) {
  if (operands.size() != 2) return false;
  for (int operand : operands)
    if (g.at(operand).operation != primitives::number_of<primitives::literal>) return false;
  element_type type = g.at(operands[0]).type;
  std::int64_t left = g.parameter(operands[0], 2), right = g.parameter(operands[1], 2);
  auto compute = [&]<class T>(T x, T y, T& result) {
    if (operation == primitives::number_of<primitives::add>) result = x + y;
    else if (operation == primitives::number_of<primitives::subtract>) result = x - y;
    else if (operation == primitives::number_of<primitives::multiply>) result = x * y;
    else if (operation == primitives::number_of<primitives::divide> && is_floating(element_type_of<T>) && y != 0)
      result = x / y;
    else return false;
    return true;
  };
  if (is_floating(type)) {
    double x = std::bit_cast<double>(left), y = std::bit_cast<double>(right), result = 0;
    constexpr double moderate = 1e15; // what overflows or is not finite is no constant expression
    if (!(x > -moderate && x < moderate && y > -moderate && y < moderate)) return false;
    if (y != 0 && y < 1 / moderate && y > -1 / moderate) return false;
    auto compute_as = [&]<class T>(T rounded) {
      if (!compute(static_cast<T>(x), static_cast<T>(y), rounded)) return false;
      result = static_cast<double>(rounded);
      return true;
    };
    bool done = type == element_type::float16    ? compute_as(float16{})
                : type == element_type::bfloat16 ? compute_as(bfloat16{})
                : type == element_type::float32  ? compute_as(float{})
                                                 : compute_as(double{});
    if (!done) return false;
    bits = std::bit_cast<std::int64_t>(result);
    return true;
  }
  constexpr std::int64_t small = 1 << 15;
  bool fits = type == element_type::int32 || type == element_type::int64;
  return fits && left > -small && left < small && right > -small && right < small && compute(left, right, bits);
}

} // namespace detail

/// Appends an operation by the rules of its primitive.
constexpr tracer append_operation(context& trace, int operation, std::span<const tracer> operands,
                                  std::span<const std::int64_t> parameters) {
  if (trace.failed && !operands.empty()) return operands[0];
  const primitive_rules& rules = rules_of(operation);
  small_vector<int, max_rank> few;
  std::vector<int> many;
  bool is_few = operands.size() <= max_rank;
  std::vector<abstract_value> values;
  values.reserve(operands.size());
  for (const tracer& x : operands) {
    int id = trace.import(x.graph_id, x.id);
    if (is_few) few.push_back(id);
    else many.push_back(id);
    values.push_back(trace.current().value(id));
  }
  std::span<const int> ids = is_few ? std::span<const int>(few.data(), operands.size()) : std::span<const int>(many);
  int graph_id = trace.active.back();
  int neutral = detail::neutral_result(trace.current(), operation, ids);
  if (neutral >= 0) return {&trace, graph_id, neutral};
  if (std::int64_t bits = 0; detail::fold_constants(trace.current(), operation, ids, bits))
    return emit<primitives::literal>(
        trace, {}, {static_cast<std::int64_t>(values[0].type), values[0].weak && values[1].weak ? 1 : 0, bits});
  abstract_value value = rules.shape(shape_application{trace, rules.name, values, parameters});
  check_rank(trace, rules.name, value.rank());
  trace.check_extents(rules.name);
  if (trace.failed) {
    if (!operands.empty()) return operands[0];
    value = {};
  }
  return {&trace, graph_id, trace.current().add(operation, ids, value, parameters)};
}

/// The text for a rule that a primitive does not have.
constexpr void missing_rule(context& trace, int operation, std::string_view rule, const abstract_value& operand,
                            std::string_view advice) {
  message text;
  text << rule << " rule for '" << rules_of(operation).name << "' not implemented, applied here to ";
  print_value(text, trace.extents, operand);
  trace.fail(text << "; " << advice);
}

} // namespace parallax
