// Programs of a matrix' rows, whose passes over a row are one kernel, and how often they launch one.
#pragma once

#include "cuda/kernels/simulated_kernels.hpp"

#include <tuple>
#include <utility>

namespace row_programs {

namespace plx = parallax;

inline constexpr auto softmax = plx::jit([](auto x) {
  auto e = plx::exp(x - plx::max(x, 1, plx::keepdims));
  return e / plx::sum(e, 1, plx::keepdims);
});
inline constexpr auto layernorm = plx::jit([](auto x, auto scale, auto offset) {
  auto d = x - plx::mean(x, 1, plx::keepdims);
  return d * plx::rsqrt(plx::mean(d * d, 1, plx::keepdims) + 1e-5f) * scale + offset;
});
/// What only the last pass needs is computed there.
inline constexpr auto residual = plx::jit([](auto x, auto y) {
  auto d = x - plx::mean(x, 1, plx::keepdims);
  return d / plx::max(plx::abs(d), 1, plx::keepdims) + plx::tanh(x * y);
});
inline constexpr auto statistics = plx::jit([](auto x) {
  auto mean = plx::mean(x, 1);
  auto d = x - plx::reshape(mean, {x.shape(0), 1});
  return std::tuple{mean, plx::mean(d * d, 1), d, plx::min(x, 1)};
});

inline constexpr auto logsumexp = plx::jit([](auto x) { return plx::logsumexp(x, 1); });
inline constexpr auto library_softmax = plx::jit([](auto x) { return plx::softmax(x); });
inline constexpr auto spread = plx::jit([](auto x) { return std::pair{plx::mean(x, 1), plx::var(x, 1)}; });

/// The number of kernels launched for a call.
template <class Function, class... Args> int launches(const Function& f, const Args&... args) {
  simulated::api::current = {};
  simulated::api::launches = 0;
  simulated::call(f, args...);
  return simulated::api::launches;
}

} // namespace row_programs
