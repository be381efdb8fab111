// Schedules: rates as functions of the number of steps before the current one. Names are optax's.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/optim/transformation.hpp>

#include <concepts>
#include <numbers>

namespace parallax::PARALLAX_INLINE_VERSION::optim {

namespace detail {

/// A value that does not change, for one number of steps or for several.
constexpr tracer unchanging(const tracer& count, double value) {
  return build::broadcast_to(build::literal(*count.owner, element_type::float32, value), count.extents());
}
/// The number of steps since step `begin`, at the earliest the first one. Negative before it.
constexpr tracer steps_since(const tracer& count, int begin) { return astype<float>(count - (begin < 0 ? 0 : begin)); }

} // namespace detail

/// One value for all steps. optax: constant_schedule
struct constant_schedule {
  double value;
  constexpr tracer operator()(const tracer& count) const {
    return build::literal(*count.owner, element_type::float32, value, true);
  }
};

/// From `first` to `last` in a straight line over `steps` steps, from step `begin` on; constant before and after.
/// Without steps it stays at `first`. optax: linear_schedule
struct linear_schedule {
  double first, last;
  int steps, begin = 0;

  constexpr tracer operator()(const tracer& count) const {
    if (steps <= 0) return detail::unchanging(count, first);
    const tracer done = clip(detail::steps_since(count, begin) / static_cast<double>(steps), 0., 1.);
    return (first - last) * (1. - done) + last;
  }
};

/// `first * decay_rate^((count - begin) / steps)`; the exponent is rounded down if `staircase` is set. Without steps,
/// or with a rate of 0, it stays at `first`. optax: exponential_decay
struct exponential_decay {
  double first;
  int steps;
  double decay_rate;
  int begin = 0;
  bool staircase = false;

  constexpr tracer operator()(const tracer& count) const {
    if (steps <= 0 || decay_rate == 0) return detail::unchanging(count, first);
    const tracer since = detail::steps_since(count, begin);
    tracer passed = since / static_cast<double>(steps);
    if (staircase) passed = floor(passed);
    return where(since <= 0.f, first, first * power(decay_rate, passed));
  }
};

/// From `first` along half a cosine to `alpha * first` after `steps` steps, at least one; constant afterwards. optax:
/// cosine_decay_schedule
struct cosine_decay_schedule {
  double first;
  int steps;
  double alpha = 0;

  constexpr tracer operator()(const tracer& count) const {
    if (steps <= 0) {
      count.owner->fail(message() << "cosine_decay_schedule: it decays over " << steps
                                  << " steps; give 1 or more, behind the warm-up where there is one");
      return detail::unchanging(count, first);
    }
    const tracer done = minimum(astype<float>(count) / static_cast<double>(steps), 1.);
    return first * ((1 - alpha) * (0.5 + 0.5 * cos(done * std::numbers::pi)) + alpha);
  }
};

/// A straight line from `first` to `peak` over `warmup_steps` steps, and from there half a cosine to `last` at step
/// `decay_steps`, which comes later. Without warm-up it begins at `peak`. A peak of 0 stays 0, as in optax. optax:
/// warmup_cosine_decay_schedule
struct warmup_cosine_decay_schedule {
  double first, peak;
  int warmup_steps, decay_steps;
  double last = 0;

  constexpr tracer operator()(const tracer& count) const {
    const tracer rising = linear_schedule{first, peak, warmup_steps}(count);
    const double alpha = peak == 0 ? 0 : last / peak;
    const tracer falling = cosine_decay_schedule{peak, decay_steps - warmup_steps, alpha}(count - warmup_steps);
    return where(count < warmup_steps, rising, falling);
  }
};

/// A rate: a number, or a schedule.
template <class T>
concept rate = std::convertible_to<T, double> || requires(const T& schedule, const tracer& count) {
  { schedule(count) } -> std::convertible_to<tracer>;
};

/// The state of a rate that is a schedule: the number of steps so far.
template <class Count> struct step_count {
  Count count;
};

/// Updates multiplied by minus a rate. optax: scale_by_learning_rate
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
      const double factor = -static_cast<double>(value);
      const auto scaled = [factor](const tracer& u) { return detail::in_type_of(detail::wide(u) * factor, u); };
      return std::pair{tree_map(scaled, updates), state};
    } else {
      const tracer now = value(state.count);
      const auto scaled = [now](const tracer& u) {
        const tracer exact = detail::wide(u);
        return detail::in_type_of(exact * -detail::in_type_of(now, exact), u);
      };
      return std::pair{tree_map(scaled, updates), step_count<tracer>{state.count + 1}};
    }
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::optim
