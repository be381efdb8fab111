// The digit classifier and its training step: all that a user of Parallax writes.
#pragma once

#include <parallax/parallax.hpp>

#include <utility>

namespace examples {

namespace plx = parallax;

// An aggregate templated on its members' types is a pytree: transformations look inside it.
template <class Weight, class Bias> struct layer {
  Weight weight; // (inputs, outputs)
  Bias bias;     // (outputs)
};

// (rows, features) -> (rows, classes): the logarithm of each class's probability.
constexpr auto predict = [](auto params, auto images) {
  auto [first, second, last] = params;
  auto hidden = plx::tanh(plx::dot(images, first.weight) + first.bias);
  hidden = plx::tanh(plx::dot(hidden, second.weight) + second.bias);
  auto logits = plx::dot(hidden, last.weight) + last.bias;
  return logits - plx::logsumexp(logits, 1, plx::keepdims);
};

// The mean cross-entropy of one device's rows; `targets` are one-hot.
constexpr auto loss = [](auto params, auto images, auto targets) {
  return -plx::mean(plx::sum(predict(params, images) * targets, 1));
};

// One step of stochastic gradient descent, as one device sees it.
constexpr auto update = [](auto params, auto images, auto targets, auto rate) {
  auto [value, gradients] = plx::value_and_grad(loss)(params, images, targets);
  auto shared = plx::pmean<"batch">(gradients); // the mean over all devices: the gradient of the whole batch
  auto updated = plx::tree_map([=](auto p, auto g) { return p - rate * g; }, params, shared);
  return std::pair{updated, plx::pmean<"batch">(value)};
};

// Arguments are cut along their first axis, one part per device; every device gets the whole of `rate`.
constexpr auto step = plx::pmap<"batch">(update, plx::in_axes<0, 0, 0, plx::none>);

} // namespace examples
