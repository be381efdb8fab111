// A step of training a perceptron of three layers by gradient descent.
#pragma once

#include <parallax/parallax.hpp>

namespace bench {

namespace plx = parallax;

inline constexpr auto perceptron_loss = [](auto weights, auto x, auto target) {
  auto [w1, b1, w2, b2, w3, b3] = weights;
  auto h = plx::tanh(plx::matmul(x, w1) + b1);
  h = plx::tanh(plx::matmul(h, w2) + b2);
  auto scores = plx::matmul(h, w3) + b3;
  return -plx::mean(plx::sum(target * (scores - plx::logsumexp(scores, 1, plx::keepdims)), 1));
};
inline constexpr auto perceptron_step = plx::jit([](auto weights, auto x, auto target) {
  return plx::tree_map([](auto w, auto by_w) { return w - 0.1f * by_w; }, weights,
                       plx::grad(perceptron_loss)(weights, x, target));
});

} // namespace bench
