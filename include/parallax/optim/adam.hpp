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

namespace detail {

/// 1 - decay^count, which leaves of 16 bits get from float32: in their own type 0.999 is 1.
constexpr tracer bias_correction(double decay, const tracer& count, const tracer& leaf) {
  const element_type type = size_of(leaf.type()) < sizeof(float) ? element_type::float32 : leaf.type();
  return in_type_of(1. - power(decay, build::convert(count, type)), leaf);
}

} // namespace detail

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
  constexpr auto step(const Updates& updates, const State& state, const Params&) const {
    const adam_options o = options;
    const tracer count = state.count + 1;
    const auto mu =
        tree_map([o](const tracer& m, const tracer& g) { return m * o.b1 + g * (1 - o.b1); }, state.mu, updates);
    const auto nu =
        tree_map([o](const tracer& v, const tracer& g) { return v * o.b2 + g * g * (1 - o.b2); }, state.nu, updates);
    const auto corrected = [o, count](const tracer& m, const tracer& v) {
      const tracer mean = m / detail::bias_correction(o.b1, count, m);
      const tracer square = v / detail::bias_correction(o.b2, count, v);
      return mean / (sqrt(square + o.eps_root) + o.eps);
    };
    return std::pair{tree_map(corrected, mu, nu),
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
