// The contract of a primitive: what a type of the catalogue has to say of itself, as concepts. Each concept says why it
// is asked.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/exchange_kind.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/building/call.hpp>
#include <parallax/primitives/building/parameters.hpp>
#include <parallax/primitives/building/primitive.hpp>

#include <concepts>
#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Whether a member of this type stands for a rule that the primitive does not have.
template <class Member> inline constexpr bool says_none = false;
template <> inline constexpr bool says_none<const no_rule> = true;
template <> inline constexpr bool says_none<const prepared_away> = true;

/// Has a member `evaluate`. In a class derived from it and P, the name is ambiguous if P has one too.
struct has_an_evaluate {
  int evaluate;
};
template <class P> struct with_another_evaluate : P, has_an_evaluate {};

template <class P> struct parameters_type {
  struct type {};
};
template <has_parameters P> struct parameters_type<P> {
  using type = typename P::parameters;
};

/// Whether a primitive has a rule for result values: `shape(application)` or `shape(application, parameters)`. Every
/// operation is asked for it, because a node is appended together with the type and the extents of its result.
template <class P, class Parameters = typename parameters_type<P>::type>
concept has_shape_rule = requires(const shape_application& a, const Parameters& p) {
  requires requires {
    { P::shape(a) } -> std::same_as<abstract_value>;
  } || requires {
    { P::shape(a, p) } -> std::same_as<abstract_value>;
  };
};
/// Whether a primitive says what it is for all elements of a mapped axis at once. It is asked because `vmap` replaces
/// each node that has a mapped operand by what this rule appends.
template <class P, class Parameters = typename parameters_type<P>::type>
concept has_batch_rule = requires(const batch_application& a, const Parameters& p) {
  requires requires {
    { P::batch(a) } -> std::same_as<batched>;
  } || requires {
    { P::batch(a, p) } -> std::same_as<batched>;
  };
};
/// Whether a primitive gives its operands their cotangents. It is asked because the reverse pass derives every node by
/// this rule; tangents come from it too, since it is linear in the cotangent.
template <class P, class Parameters = typename parameters_type<P>::type>
concept has_vjp_rule = requires(vjp_application& a, const Parameters& p) {
  requires requires {
    { P::vjp(a) } -> std::same_as<void>;
  } || requires {
    { P::vjp(a, p) } -> std::same_as<void>;
  };
};
/// Whether primitives of a kind have to say how their elements are evaluated.
constexpr bool is_kind_evaluated(primitive_kind kind) {
  return kind == primitive_kind::elementwise || kind == primitive_kind::reduction || kind == primitive_kind::cumulative;
}
/// Whether a primitive says how its elements are evaluated: whether it has a member of that name, of any kind. It is
/// asked of the kinds whose `evaluate` kernels call. Only the name is asked for, because the member may be a template,
/// for single numbers as well as for registers of lanes.
template <class P>
concept has_evaluate = !requires { &with_another_evaluate<P>::evaluate; };

/// Whether a primitive names the exchange between devices and, if the exchange is all_reduce, the reduction. It is
/// asked of collectives, because backends know no collective by its type: a step has only these two.
template <class P>
concept has_exchange = requires {
  { P::exchange } -> std::convertible_to<exchange_kind>;
} && (P::exchange != exchange_kind::all_reduce || requires {
                         { P::reduction } -> std::convertible_to<reduction_kind>;
                       });

/// A primitive that is no call: every rule is there, or declared to be missing by `static constexpr no_rule
/// name{"why"};`. The declaration is asked for, because a rule with a misspelt name would otherwise pass for a rule
/// that is missing, and users are told why there is none.
template <class P>
concept operation_primitive = P::kind != primitive_kind::call && has_shape_rule<P> &&
                              (has_batch_rule<P> || requires { requires says_none<decltype(P::batch)>; }) &&
                              (has_vjp_rule<P> || requires { requires says_none<decltype(P::vjp)>; }) &&
                              (!is_kind_evaluated(P::kind) || has_evaluate<P>) &&
                              (P::kind != primitive_kind::collective || has_exchange<P> ||
                               requires { requires says_none<decltype(P::exchange)>; });

/// A primitive that is a call, with all rules of `call_rules`. All are asked for, because passes name no call: each
/// pass takes the rule that it needs from the table, whichever call it has met. Only `lower` may be `prepared_away`.
template <class P>
concept call_primitive =
    P::kind == primitive_kind::call && has_parameters<P> &&
    requires(context& trace, plain_span<const abstract_value> values, const batch_application& mapped,
             const linearize_application& differentiated, const jvp_application& moved, const operand_flags& varying,
             preparation& prepared, node_id id, const typename P::parameters& p) {
      { P::results(trace, values, p) } -> std::same_as<growing_vector<abstract_value>>;
      { P::batch(mapped, p) } -> std::same_as<growing_vector<batched>>;
      { P::linearize(differentiated, p) } -> std::same_as<linearized_call>;
      { P::jvp(moved, p) } -> std::same_as<results_with_tangents>;
      { P::varies(variation{trace, axis_id::none}, varying, p) } -> std::same_as<result_flags>;
      { P::prepare(prepared, id, p) } -> std::same_as<void>;
    } &&
    requires { P::lower; };

/// A type that may stand in the catalogue. The name is asked for, because printed programs and messages have it; the
/// kind, because it says how the primitive is lowered; and parameters that can be encoded, because a graph keeps them
/// as words.
template <class P>
concept primitive =
    requires {
      { P::name } -> std::convertible_to<std::string_view>;
      { P::kind } -> std::convertible_to<primitive_kind>;
    } && (operation_primitive<P> || call_primitive<P>) &&
    (!has_parameters<P> || requires(typename P::parameters& p) { encode(p); });

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
