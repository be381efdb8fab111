// A small transformer that reads text character by character, and its training step with Adam.
#pragma once

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace examples {

namespace plx = parallax;

// How many blocks there are; `scripts/compile-cost` asks for four.
#ifndef PARALLAX_TRANSFORMER_BLOCKS
#define PARALLAX_TRANSFORMER_BLOCKS 1
#endif
inline constexpr std::size_t block_count = PARALLAX_TRANSFORMER_BLOCKS;

inline constexpr int characters = 96; // the printable ones of ASCII, and the end of a line
inline constexpr int length = 64;     // characters that are read at once
inline constexpr int width = 64;      // numbers that stand for a character
inline constexpr int heads = 4;

// Aggregates templated on their members' types are pytrees: transformations look inside them.
template <class Vector, class Matrix, class Up, class Down> struct transformer_block {
  Vector attention_scale, mlp_scale; // (width)
  Matrix query, key, value, result;  // (width, width)
  Up up;                             // (width, 4 width)
  Down down;                         // (4 width, width)
};
template <class Embedding, class Positions, class Blocks, class Vector, class Head> struct transformer {
  Embedding embedding; // (characters, width)
  Positions positions; // (length, width)
  Blocks blocks;
  Vector scale; // (width)
  Head head;    // (width, characters)
};

constexpr auto normalised = [](auto x, auto scale) {
  auto centred = x - plx::mean(x, 1, plx::keepdims);
  return centred * plx::rsqrt(plx::mean(plx::square(centred), 1, plx::keepdims) + 1e-5f) * scale;
};

// (length, width) -> (length, width): each character looks at itself and at those before it.
constexpr auto attention = [](const auto& block, auto x) {
  auto by_head = [&](auto matrix) {
    return plx::transpose(plx::reshape(plx::dot(x, matrix), {length, heads, width / heads}), {1, 0, 2});
  };
  auto scores = plx::matmul(by_head(block.query), plx::transpose(by_head(block.key), {0, 2, 1}));
  auto here = plx::broadcasted_iota<std::int32_t, 0>({length, length});
  auto there = plx::broadcasted_iota<std::int32_t, 1>({length, length});
  constexpr float root = 4; // of width / heads
  auto weights = plx::softmax(plx::where(plx::less_equal(there, here), scores / root, -1e9f), 2);
  auto joined = plx::transpose(plx::matmul(weights, by_head(block.value)), {1, 0, 2});
  return plx::dot(plx::reshape(joined, {length, width}), block.result);
};
static_assert(width / heads == 16);

constexpr auto one_hot = [](auto numbers) {
  return plx::astype<float>(plx::equal(plx::expand_dims(numbers, 1), plx::arange(characters)));
};

// (length) characters -> (length, characters): how likely each is to come next, as unnormalised logarithms.
constexpr auto predict_next = [](const auto& params, auto text) {
  auto x = plx::dot(one_hot(text), params.embedding) + params.positions;
  for (const auto& block : params.blocks) {
    x = x + attention(block, normalised(x, block.attention_scale));
    x = x + plx::dot(plx::gelu(plx::dot(normalised(x, block.mlp_scale), block.up)), block.down);
  }
  return plx::dot(normalised(x, params.scale), params.head);
};

// The mean cross-entropy of one text, in nats for each character.
constexpr auto text_loss = [](const auto& params, auto text, auto next) {
  auto logits = predict_next(params, text);
  return plx::mean(plx::logsumexp(logits, 1) - plx::sum(logits * one_hot(next), 1));
};
constexpr auto batch_loss = [](const auto& params, auto texts, auto next) {
  return plx::mean(plx::vmap(text_loss, plx::in_axes<plx::none, 0, 0>)(params, texts, next));
};

// One step of Adam as one device sees it; `step` counts from 1.
constexpr auto adam = [](auto params, auto means, auto squares, auto texts, auto next, auto rate, auto step) {
  auto [loss, local] = plx::value_and_grad(batch_loss)(params, texts, next);
  auto gradients = plx::pmean<"batch">(local);
  auto new_means = plx::tree_map([](auto m, auto g) { return 0.9f * m + 0.1f * g; }, means, gradients);
  auto new_squares = plx::tree_map([](auto s, auto g) { return 0.99f * s + 0.01f * g * g; }, squares, gradients);
  auto mean_part = 1.f - plx::power(0.9f, step), square_part = 1.f - plx::power(0.99f, step);
  auto updated = plx::tree_map(
      [=](auto p, auto m, auto s) { return p - rate * (m / mean_part) / (plx::sqrt(s / square_part) + 1e-8f); }, params,
      new_means, new_squares);
  return std::tuple{updated, new_means, new_squares, plx::pmean<"batch">(loss)};
};
constexpr auto adam_step = plx::pmap<"batch">(adam, plx::in_axes<0, 0, 0, 0, 0, plx::none, plx::none>);

// The first parameters of one device.
constexpr auto initial_transformer = [](auto key) {
  auto random = [&](int number, int rows, int columns, float scale) {
    return scale * plx::random::normal(plx::random::fold_in(key, number), {rows, columns});
  };
  constexpr float small = 0.125f; // 1 / sqrt(width)
  auto block_at = [&](int number) {
    const int first = 10 * (number + 1);
    return transformer_block{plx::ones({width}),
                             plx::ones({width}),
                             random(first, width, width, small),
                             random(first + 1, width, width, small),
                             random(first + 2, width, width, small),
                             random(first + 3, width, width, small),
                             random(first + 4, width, 4 * width, small),
                             random(first + 5, 4 * width, width, small / 2)};
  };
  auto blocks = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{block_at(static_cast<int>(I))...};
  }(std::make_index_sequence<block_count>{});
  return transformer{random(0, characters, width, small), random(1, length, width, small), blocks, plx::ones({width}),
                     random(2, width, characters, small)};
};
constexpr auto initial_on_devices = plx::pmap(initial_transformer);
constexpr auto zeros_on_devices =
    plx::pmap([](auto params) { return plx::tree_map([](auto p) { return plx::zeros_like(p); }, params); });

} // namespace examples
