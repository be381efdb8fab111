// The table of all primitives' rules, in the order of the catalogue.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/trace/known_equal.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/collective.hpp>
#include <parallax/primitives/building/call.hpp>
#include <parallax/primitives/building/print_parameters.hpp>
#include <parallax/primitives/contract.hpp>

#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A primitive's rules as values; `context::rules` has one for each, by primitive_id.
struct primitive_rules {
  std::string_view name;
  primitive_kind kind = primitive_kind::source;
  abstract_value (*shape)(const shape_application&, parameter_words) = nullptr;
  bool has_batch = false; ///< flags, since some compilers cannot compare functions with null while compiling
  batched (*batch)(const batch_application&) = nullptr;
  bool has_vjp = false;
  std::string_view no_vjp{}, no_batch{}; ///< why the rule is missing
  void (*vjp)(vjp_application&, parameter_words) = nullptr;
  bool has_zero_vjp = false;         ///< whether no operand gets a cotangent
  bool varies_over_own_axes = false; ///< of collectives, as are the next members
  exchange_kind exchange = exchange_kind::all_reduce;
  reduction_kind reduction = reduction_kind::sum;
  call_rules call{};      ///< of calls
  bool is_lowered = true; ///< false for calls that preparation replaces
  void (*print)(parameter_printer&, parameter_words) = nullptr;
  void (*rename)(plain_span<std::int64_t> words, known_equal&) = nullptr; ///< renames the extents among its parameters
};

/// The rules of a primitive.
constexpr const primitive_rules& rules_of(const context& trace, primitive_id primitive) {
  return trace.rules[static_cast<int>(primitive)];
}
/// The rules of a node's primitive.
constexpr const primitive_rules& rules_of(const context& trace, const graph& g, node_id id) {
  return trace.rules[static_cast<int>(g.primitive(id))];
}
/// Whether a node is an operation of this kind.
constexpr bool is_kind(const context& trace, const graph& g, node_id id, primitive_kind kind) {
  const int primitive = static_cast<int>(g.primitive(id)); // below 0 if it is no operation
  return primitive >= 0 && trace.rules[primitive].kind == kind;
}
/// The instances that take part in a collective.
constexpr primitives::mapped_axes mapped_axes_of(const graph& g, node_id id) {
  const auto p = decode<primitives::collective_parameters>(g.parameters(id)); // nvcc 13.0 loses a temporary's vectors
  return p.over;
}

/// A primitive's rules as functions of one signature. Parameters, if there are any, are decoded from their words.
template <class P> struct rule_functions {
  static constexpr abstract_value shape(const shape_application& a, parameter_words words) {
    if constexpr (std::is_base_of_v<of_ordered, P>) require_order(a);
    if constexpr (std::is_base_of_v<of_numbers, P>) require_numbers(a);
    if constexpr (requires { P::shape(a); }) return P::shape(a);
    else return P::shape(a, decode<typename P::parameters>(words));
  }
  static constexpr batched batch(const batch_application& a) {
    if constexpr (requires { P::batch(a); }) return P::batch(a);
    else return P::batch(a, decode<typename P::parameters>(a.parameters));
  }
  static constexpr void vjp(vjp_application& a, parameter_words words) {
    if constexpr (requires { P::vjp(a); }) P::vjp(a);
    else P::vjp(a, decode<typename P::parameters>(words));
  }
  static constexpr void print(parameter_printer& printer, parameter_words words) {
    if constexpr (has_parameters<P>) {
      auto parameters = decode<typename P::parameters>(words);
      P::parameters::describe(parameters, printer);
    }
    printer.finish();
  }
  static constexpr void rename(plain_span<std::int64_t> words, known_equal& renamed) {
    if constexpr (has_parameters<P>) {
      auto parameters = decode<typename P::parameters>(words);
      extent_renamer renamer(renamed);
      P::parameters::describe(parameters, renamer);
      const growing_vector<std::int64_t> after = encode(parameters);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] = after[i];
    }
  }
};

template <class P> struct call_functions {
  using parameters = typename P::parameters;
  static constexpr growing_vector<abstract_value> results(context& trace, plain_span<const abstract_value> operands,
                                                          parameter_words words) {
    return P::results(trace, operands, decode<parameters>(words));
  }
  static constexpr growing_vector<batched> batch(const batch_application& a, parameter_words words) {
    return P::batch(a, decode<parameters>(words));
  }
  static constexpr linearized_call linearize(const linearize_application& a, parameter_words words) {
    return P::linearize(a, decode<parameters>(words));
  }
  static constexpr results_with_tangents jvp(const jvp_application& a, parameter_words words) {
    return P::jvp(a, decode<parameters>(words));
  }
  static constexpr result_flags varies(const variation& v, const operand_flags& operands, parameter_words words) {
    return P::varies(v, operands, decode<parameters>(words));
  }
  static constexpr growing_vector<graph_id> bodies(parameter_words words) {
    const auto p = decode<parameters>(words);
    graph_finder graphs;
    parameters::describe(p, graphs);
    return graphs.found;
  }
  static constexpr void prepare(preparation& p, node_id call, parameter_words words) {
    P::prepare(p, call, decode<parameters>(words));
  }
  static constexpr void lower(section_planner& planner, node_id call, parameter_words words) {
    if constexpr (!says_none<decltype(P::lower)>) P::lower(planner, call, decode<parameters>(words));
  }
};

template <class P> constexpr primitive_rules make_rules() {
  static_assert(primitive<P>, "a primitive of the catalogue lacks a rule, or misspells one: see `concept primitive`");
  using functions = rule_functions<P>;
  primitive_rules rules{.name = P::name, .kind = P::kind, .print = &functions::print, .rename = &functions::rename};
  if constexpr (P::kind == primitive_kind::call) {
    using calls = call_functions<P>;
    rules.call = {&calls::results, &calls::batch,  &calls::linearize, &calls::jvp,
                  &calls::varies,  &calls::bodies, &calls::prepare,   &calls::lower};
    rules.is_lowered = !says_none<decltype(P::lower)>;
  } else {
    rules.shape = &functions::shape;
    if constexpr (has_batch_rule<P>) rules.has_batch = true, rules.batch = &functions::batch;
    else rules.no_batch = P::batch.why;
    if constexpr (has_vjp_rule<P>) rules.has_vjp = true, rules.vjp = &functions::vjp;
    else rules.no_vjp = P::vjp.why;
    rules.has_zero_vjp = requires { requires std::is_same_v<decltype(P::vjp), const zero_rule>; };
  }
  if constexpr (P::kind == primitive_kind::collective) rules.varies_over_own_axes = P::varies_over_own_axes;
  if constexpr (has_exchange<P>) rules.exchange = P::exchange;
  if constexpr (requires { P::reduction; }) rules.reduction = P::reduction;
  return rules;
}

template <class List> struct rule_table;
template <class... P> struct rule_table<primitives::list<P...>> {
  static constexpr primitive_rules entries[sizeof...(P)] = {make_rules<P>()...};
};

/// The text for a rule that a primitive lacks.
constexpr void missing_rule(context& trace, primitive_id primitive, std::string_view rule,
                            const abstract_value& operand, std::string_view advice) {
  message text;
  text << rule << " rule for '" << rules_of(trace, primitive).name << "' not implemented, applied here to ";
  print_value(text, trace.extents, operand);
  trace.fail(text << "; " << advice);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
