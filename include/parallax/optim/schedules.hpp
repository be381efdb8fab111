// Rates that change from step to step: functions of the number of steps before this one. Names are optax's.
#pragma once

#include <parallax/optim/transformation.hpp>

#include <concepts>
#include <numbers>

namespace parallax::optim {

/// One value for all steps.
struct constant_schedule {
  double value;
  constexpr tracer operator()(const tracer& count) const {
    return build::literal(*count.owner, element_type::float32, value, true);
  }
};

/// From `first` to `last` in a straight line over `steps` steps, `begin` steps after the first one; constant around
/// that.
struct linear_schedule {
  double first, last;
  int steps, begin = 0;

  constexpr tracer operator()(const tracer& count) const {
    const tracer done = clip(astype<float>(count - begin) / static_cast<double>(steps), 0., 1.);
    return (first - last) * (1. - done) + last;
  }
};

/// `first * decay_rate^((count - begin) / steps)`; in whole steps where `staircase` is set.
struct exponential_decay {
  double first;
  int steps;
  double decay_rate;
  int begin = 0;
  bool staircase = false;

  constexpr tracer operator()(const tracer& count) const {
    tracer passed = astype<float>(count - begin) / static_cast<double>(steps);
    if (staircase) passed = floor(passed);
    return where(count <= begin, first, first * power(decay_rate, passed));
  }
};

/// From `first` along half a cosine to `alpha * first` after `steps` steps; constant then.
struct cosine_decay_schedule {
  double first;
  int steps;
  double alpha = 0;

  constexpr tracer operator()(const tracer& count) const {
    const tracer done = minimum(astype<float>(count) / static_cast<double>(steps), 1.);
    return first * ((1 - alpha) * (0.5 + 0.5 * cos(done * std::numbers::pi)) + alpha);
  }
};

/// A straight line from `first` to `peak` over `warmup_steps` steps, and from there along half a cosine to `last` at
/// step `decay_steps`.
struct warmup_cosine_decay_schedule {
  double first, peak;
  int warmup_steps, decay_steps;
  double last = 0;

  constexpr tracer operator()(const tracer& count) const {
    const tracer rising = linear_schedule{first, peak, warmup_steps}(count);
    const tracer falling = cosine_decay_schedule{peak, decay_steps - warmup_steps, last / peak}(count - warmup_steps);
    return where(count < warmup_steps, rising, falling);
  }
};

/// A rate: a number, or a schedule.
template <class T>
concept rate = std::convertible_to<T, double> || requires(const T& schedule, const tracer& count) {
  { schedule(count) } -> std::convertible_to<tracer>;
};

template <class Count> struct step_count {
  Count count;
};

/// Updates times minus a rate. optax: scale_by_learning_rate
template <rate Rate> struct scale_by_learning_rate : transformation<scale_by_learning_rate<Rate>> {
  Rate value;
  static constexpr bool is_constant = std::convertible_to<Rate, double>;

  constexpr explicit scale_by_learning_rate(Rate by) : value(by) {}
  template <class Params> static constexpr auto state_of(context& trace, const Params&) {
    if constexpr (is_constant) return std::tuple<>{};
    else return step_count<tracer>{detail::no_steps(trace)};
  }
  template <class Updates, class State, class Params>
  constexpr auto step(const Updates& updates, const State& state, const Params&) const {
    if constexpr (is_constant) {
      return std::pair{tree_map([this](const tracer& u) { return u * -static_cast<double>(value); }, updates), state};
    } else {
      const tracer now = value(state.count);
      return std::pair{tree_map([now](const tracer& u) { return u * -detail::in_type_of(now, u); }, updates),
                       step_count<tracer>{state.count + 1}};
    }
  }
};

} // namespace parallax::optim
