// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019).
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/optim/schedules.hpp>

#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::optim {

/// The number of steps, and the means of the gradients and of their squares. For 16-bit types the means of squares are
/// float32: squares leave the range of float16, and a step changes such a mean by less than half the last place of
/// bfloat16.
template <class Count, class Means, class Squares> struct adam_state {
  Count count;
  Means mu;
  Squares nu;
};

namespace detail {

/// 1 - decay^count, in the type of a mean.
constexpr tracer bias_correction(double decay, const tracer& count, const tracer& mean) {
  return 1. - power(decay, in_type_of(count, mean));
}

/// Zeros for the means of squares of a tree.
struct zeros_of_squares {
  template <class Tree> constexpr auto operator()(const Tree& tree) const {
    return tree_map([](const tracer& leaf) { return zeros_like(wide(leaf)); }, tree);
  }
};

} // namespace detail

/// The numbers of `adam`, `adamw` and `scale_by_adam`.
struct adam_options {
  double b1 = 0.9;     ///< decay of the mean of gradients in each step
  double b2 = 0.999;   ///< decay of the mean of their squares
  double eps = 1e-8;   ///< added to the root
  double eps_root = 0; ///< added below the root
};

/// Means of gradients, divided by the roots of the means of their squares. optax: scale_by_adam
struct scale_by_adam : transformation<scale_by_adam> {
  adam_options options;

  constexpr explicit scale_by_adam(adam_options with = {}) : options(with) {}
  template <class Params> static constexpr auto state_of(context& trace, const Params& params) {
    auto means = detail::zeros_like_tree{}(params);
    auto squares = detail::zeros_of_squares{}(params);
    return adam_state<tracer, decltype(means), decltype(squares)>{detail::no_steps(trace), means, squares};
  }
  template <class Updates, class State, class Params>
  constexpr auto step(const Updates& updates, const State& state, const Params&) const {
    const adam_options o = options;
    const tracer count = state.count + 1;
    const auto mean = [o](const tracer& m, const tracer& g) {
      return detail::wide(m) * o.b1 + detail::wide(g) * (1 - o.b1);
    };
    const auto mean_square = [o](const tracer& v, const tracer& of) {
      const tracer g = detail::wide(of);
      return v * o.b2 + g * g * (1 - o.b2);
    };
    const auto exact = tree_map(mean, state.mu, updates); // 16-bit leaves are not rounded yet
    const auto nu = tree_map(mean_square, state.nu, updates);
    const auto rounded = [](const tracer& x, const tracer& m, const tracer& g) {
      return build::convert(x, promote(m.type(), g.type()));
    };
    const auto mu = tree_map(rounded, exact, state.mu, updates);
    const auto corrected = [o, count](const tracer& m, const tracer& v, const tracer& kept) {
      const tracer first = m / detail::bias_correction(o.b1, count, m);
      const tracer square = v / detail::bias_correction(o.b2, count, v);
      return build::convert(first / (sqrt(square + o.eps_root) + o.eps), kept.type());
    };
    return std::pair{tree_map(corrected, exact, nu, mu),
                     adam_state<tracer, std::remove_cv_t<decltype(mu)>, std::remove_cv_t<decltype(nu)>>{count, mu, nu}};
  }
};

/// Adam with a learning rate. optax: adam
template <rate Rate> constexpr auto adam(Rate learning_rate, adam_options options = {}) {
  return chain(scale_by_adam(options), scale_by_learning_rate<Rate>(learning_rate));
}
/// Adam whose steps also subtract `weight_decay` times the parameters, scaled by the rate. optax: adamw
template <rate Rate> constexpr auto adamw(Rate learning_rate, double weight_decay = 1e-4, adam_options options = {}) {
  return chain(scale_by_adam(options), add_decayed_weights(weight_decay), scale_by_learning_rate<Rate>(learning_rate));
}

} // namespace parallax::PARALLAX_INLINE_VERSION::optim
