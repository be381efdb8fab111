// A perceptron with its optimisers and a transformer block, whose launches are counted.
#pragma once

#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace training_models {

namespace plx = parallax;

template <class Weight, class Bias> struct layer {
  Weight weight;
  Bias bias;
};

constexpr auto predict = [](const auto& params, auto x) {
  const auto& [first, second, last] = params;
  auto hidden = plx::relu(plx::dot(x, first.weight) + first.bias);
  hidden = plx::relu(plx::dot(hidden, second.weight) + second.bias);
  return plx::dot(hidden, last.weight) + last.bias;
};
constexpr auto cross_entropy = [](const auto& params, auto x, auto targets) {
  auto logits = predict(params, x);
  return -plx::mean(plx::sum((logits - plx::logsumexp(logits, 1, plx::keepdims)) * targets, 1));
};
constexpr auto optimiser = plx::optim::adam(1e-3);
constexpr auto adam_step = [](auto params, auto state, auto x, auto targets) {
  auto [loss, gradients] = plx::value_and_grad(cross_entropy)(params, x, targets);
  auto [updates, next] = optimiser.update(gradients, state, params);
  return std::tuple{plx::optim::apply_updates(params, updates), next, loss};
};
constexpr auto sgd_step = [](auto params, auto x, auto targets, auto rate) {
  auto [loss, gradients] = plx::value_and_grad(cross_entropy)(params, x, targets);
  return std::pair{plx::tree_map([=](auto p, auto g) { return p - rate * g; }, params, gradients), loss};
};

/// The same with a rate that is known, by which gradients of matrices are added as they are made.
constexpr auto fixed_rate_step = [](auto params, auto x, auto targets) { return sgd_step(params, x, targets, 0.1f); };

template <class Vector, class Matrix, class Up, class Wide, class Down> struct transformer_block {
  Vector attention_scale, attention_shift;
  Matrix query, key, value, result;
  Vector mlp_scale, mlp_shift;
  Up up;
  Wide up_bias;
  Down down;
  Vector down_bias;
};
/// Of an input of [batch, sequence, width]; what else is said to its products comes behind.
struct block_sizes {
  int batch = 1, sequence = 16, width = 16, heads = 4;
};
constexpr float inverse_root(int square) {
  int root = 1;
  while (root * root < square) ++root;
  return 1.f / static_cast<float>(root);
}

constexpr auto normalised = [](auto x, auto scale, auto shift) {
  auto centred = x - plx::mean(x, 2, plx::keepdims);
  return centred * plx::rsqrt(plx::mean(plx::square(centred), 2, plx::keepdims) + 1e-5f) * scale + shift;
};
template <block_sizes S, auto... Precision>
constexpr auto attention = [](const auto& block, auto x) {
  auto by_head = [&](auto matrix) {
    return plx::transpose(
        plx::reshape(plx::dot(x, matrix, Precision...), {S.batch, S.sequence, S.heads, S.width / S.heads}),
        {0, 2, 1, 3});
  };
  auto scores = plx::matmul(by_head(block.query), plx::transpose(by_head(block.key), {0, 1, 3, 2}), Precision...);
  auto weights = plx::softmax(scores * inverse_root(S.width / S.heads), 3);
  auto joined = plx::transpose(plx::matmul(weights, by_head(block.value), Precision...), {0, 2, 1, 3});
  return plx::dot(plx::reshape(joined, {S.batch, S.sequence, S.width}), block.result, Precision...);
};
template <block_sizes S, auto... Precision>
constexpr auto through_block = [](const auto& block, auto x) {
  auto seen = x + attention<S, Precision...>(block, normalised(x, block.attention_scale, block.attention_shift));
  auto hidden =
      plx::gelu(plx::dot(normalised(seen, block.mlp_scale, block.mlp_shift), block.up, Precision...) + block.up_bias);
  return seen + plx::dot(hidden, block.down, Precision...) + block.down_bias;
};
template <block_sizes S, auto... Precision>
constexpr auto block_loss =
    [](const auto& block, auto x) { return plx::mean(plx::square(through_block<S, Precision...>(block, x))); };
/// The loss, and its derivatives by all parameters and the input.
template <block_sizes S, auto... Precision>
constexpr auto block_step = [](const auto& block, auto x) {
  return plx::value_and_grad(block_loss<S, Precision...>, plx::argnums<0, 1>)(block, x);
};

} // namespace training_models
