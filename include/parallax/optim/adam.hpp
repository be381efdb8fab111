// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019).
#pragma once

#include <parallax/optim/schedules.hpp>

#include <utility>

namespace parallax::optim {

/// The number of steps, and the means of gradients and of their squares.
template <class Count, class Means, class Squares> struct adam_state {
  Count count;
  Means mu;
  Squares nu;
};

struct adam_options {
  double b1 = 0.9;     ///< how much of the mean of gradients stays each step
  double b2 = 0.999;   ///< of the mean of their squares
  double eps = 1e-8;   ///< added to the root
  double eps_root = 0; ///< added below the root
};

/// Means of gradients, divided by the root of the means of their squares. optax: scale_by_adam
struct scale_by_adam : transformation<scale_by_adam> {
  adam_options options;

  constexpr explicit scale_by_adam(adam_options with = {}) : options(with) {}
  template <class Params> static constexpr auto state_of(context& trace, const Params& params) {
    auto zeros = detail::zeros_like_tree{}(params);
    return adam_state<tracer, decltype(zeros), decltype(zeros)>{detail::no_steps(trace), zeros, zeros};
  }
  template <class Updates, class State, class Params>
  constexpr auto update(const Updates& updates, const State& state, const Params&) const {
    const adam_options o = options;
    const tracer count = state.count + 1;
    const auto mu =
        tree_map([o](const tracer& m, const tracer& g) { return m * o.b1 + g * (1 - o.b1); }, state.mu, updates);
    const auto nu =
        tree_map([o](const tracer& v, const tracer& g) { return v * o.b2 + g * g * (1 - o.b2); }, state.nu, updates);
    const auto step = [o, count](const tracer& m, const tracer& v) {
      const tracer number = detail::in_type_of(count, m);
      const tracer mean = m / (1. - power(o.b1, number)), square = v / (1. - power(o.b2, number));
      return mean / (sqrt(square + o.eps_root) + o.eps);
    };
    return std::pair{tree_map(step, mu, nu),
                     adam_state<tracer, std::remove_cv_t<decltype(mu)>, std::remove_cv_t<decltype(nu)>>{count, mu, nu}};
  }
};

/// optax: adam
template <rate Rate> constexpr auto adam(Rate learning_rate, adam_options options = {}) {
  return chain(scale_by_adam(options), scale_by_learning_rate<Rate>(learning_rate));
}
/// Adam, whose steps also make parameters smaller by `weight_decay` times themselves. optax: adamw
template <rate Rate> constexpr auto adamw(Rate learning_rate, double weight_decay = 1e-4, adam_options options = {}) {
  return chain(scale_by_adam(options), add_decayed_weights(weight_decay), scale_by_learning_rate<Rate>(learning_rate));
}

} // namespace parallax::optim
