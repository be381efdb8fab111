// A function inside a program whose way back keeps little, and computes the rest again.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/custom_call.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/joint_program.hpp>
#include <parallax/transforms/passes/varying.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The values that a checkpoint keeps for the way back, beside its arguments. JAX: checkpoint_policies
enum class checkpoint_policy {
  nothing,     ///< nothing_saveable
  products,    ///< dots_saveable
  named_values ///< save_only_these_names: what `checkpoint_name` marks
};
constexpr std::string_view name_of(checkpoint_policy policy) {
  switch (policy) {
  case checkpoint_policy::nothing: return "nothing";
  case checkpoint_policy::products: return "products";
  case checkpoint_policy::named_values: return "named_values";
  }
  return "";
}

namespace primitives {

struct checkpoint_call : body_call {
  static constexpr std::string_view name = "checkpoint";

  struct parameters {
    graph_id body = graph_id::none;
    checkpoint_policy keeps = checkpoint_policy::nothing;

    static constexpr void describe(auto& p, auto& member) {
      member("body", p.body);
      member("keeps", p.keeps);
    }
  };

  static constexpr growing_vector<batched> batch(const batch_application& a, parameters p) {
    using namespace parallax::detail;
    const operand_flags mapped = mapped_operands(a);
    p.body = batched_body(a, p.body, mapped);
    return at_front(emit_call<checkpoint_call>(a.trace, operands_at_front(a, mapped), p));
  }

  /// The backward half computes the values again that it reads of the forward half, except for those that the policy
  /// keeps.
  static constexpr linearized_call linearize(const linearize_application& a, const parameters& p) {
    auto same = [](std::size_t, tracer x) { return x; };
    const auto keeps = [policy = p.keeps](const graph& g, node_id id) { return is_kept(policy, g, id); };
    parallax::detail::joint_program joint(a.trace, p.body, a.wanted, same, same);
    joint.keep_only(keeps);
    if (a.trace.failed) return {};
    growing_vector<tracer> values;
    if (joint.residual_count() == 0) values = emit_call<checkpoint_call>(a.trace, a.operands, p);
    else values = emit_call<custom_call>(a.trace, a.operands, {joint.forward_half()});
    return custom_call::by_halves(a, p.body, joint, values);
  }

  static constexpr results_with_tangents jvp(const jvp_application& a, parameters p) {
    const parallax::detail::body_with_tangents both(a.trace, p.body, a.moving());
    if (a.trace.failed) return {};
    p.body = both.body;
    return results_with_tangents::of(emit_call<checkpoint_call>(a.trace, a.operands_with_tangents(), p), both.moving);
  }

  // Defined where graphs are prepared.
  static constexpr void prepare(parallax::detail::preparation&, node_id call, const parameters&);

 private:
  static constexpr bool is_kept(checkpoint_policy policy, const graph& g, node_id id) {
    switch (policy) {
    case checkpoint_policy::nothing: return false;
    case checkpoint_policy::products: return is<dot_general>(g, id);
    case checkpoint_policy::named_values: return is<named>(g, id);
    }
    return false;
  }
};

} // namespace primitives
} // namespace parallax::PARALLAX_INLINE_VERSION
