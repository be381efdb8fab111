// Gradient descent, with momentum if it is asked for.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/optim/schedules.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::optim {

/// The decaying sums of gradients.
template <class Trace> struct trace_state {
  Trace trace;
};

/// Sums of gradients: sum = gradient + decay * sum in each step. With `nesterov`, the update looks one step ahead. Sums
/// are of the gradients' types, computed in float32 if gradients are of 16 bits. optax: trace
struct trace : transformation<trace> {
  double decay;
  bool nesterov;

  constexpr explicit trace(double of, bool ahead = false) : decay(of), nesterov(ahead) {}
  template <class Params> static constexpr auto state_of(context&, const Params& params) {
    auto zeros = detail::zeros_like_tree{}(params);
    return trace_state<decltype(zeros)>{zeros};
  }
  template <class Updates, class State, class Params>
  constexpr auto step(const Updates& updates, const State& state, const Params&) const {
    const auto add = [this](const tracer& g, const tracer& sum) {
      return build::convert(detail::wide(g) + detail::wide(sum) * decay, promote(g.type(), sum.type()));
    };
    const auto sums = tree_map(add, updates, state.trace);
    const auto made = nesterov ? tree_map(add, updates, sums) : sums;
    return std::pair{made, trace_state<std::remove_cv_t<decltype(sums)>>{sums}};
  }
};

/// Steps against the gradient, with momentum if it is given. optax: sgd
template <rate Rate> constexpr auto sgd(Rate learning_rate) { return scale_by_learning_rate<Rate>(learning_rate); }
template <rate Rate> constexpr auto sgd(Rate learning_rate, double momentum, bool nesterov = false) {
  return chain(trace(momentum, nesterov), scale_by_learning_rate<Rate>(learning_rate));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::optim
