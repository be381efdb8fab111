// A small transformer that reads text character by character, and its training step with Adam.
#pragma once

#include "support/characters.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace examples {

namespace plx = parallax;

inline constexpr int block_count = 4;

inline constexpr int length = 64; // characters that are read at once
inline constexpr int width = 64;  // numbers that stand for a character
inline constexpr int heads = 4;

// Aggregates templated on their members' types are pytrees: transformations look inside them. Blocks are one tree,
// whose arrays have the blocks along a first axis.
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

constexpr auto through_block = [](auto x, const auto& block) {
  auto seen = x + attention(block, normalised(x, block.attention_scale));
  return seen + plx::dot(plx::gelu(plx::dot(normalised(seen, block.mlp_scale), block.up)), block.down);
};

// A loop of the program goes over the blocks, so that it is compiled once for all. Blocks in a std::array are written
// out one after another instead.
template <class T> inline constexpr bool is_written_out = false;
template <class Block, std::size_t Count> inline constexpr bool is_written_out<std::array<Block, Count>> = true;
constexpr auto through_blocks = []<class Blocks>(auto x, const Blocks& blocks) {
  if constexpr (is_written_out<Blocks>) {
    for (const auto& block : blocks) x = through_block(x, block);
    return x;
  } else {
    auto next = [](auto state, const auto& block) { return std::pair{through_block(state, block), plx::none}; };
    return plx::scan(next, x, blocks).first;
  }
};

// (length) characters -> (length, characters): how likely each is to come next, as unnormalised logarithms.
constexpr auto predict_next = [](const auto& params, auto text) {
  auto x = through_blocks(params.embedding[text] + params.positions, params.blocks);
  return plx::dot(normalised(x, params.scale), params.head);
};

// The mean cross-entropy of one text, in nats for each character.
constexpr auto text_loss = [](const auto& params, auto text, auto next) {
  auto logits = predict_next(params, text);
  auto right = plx::take_along_axis(logits, plx::expand_dims(next, 1), 1);
  return plx::mean(plx::logsumexp(logits, 1, plx::keepdims) - right);
};
constexpr auto batch_loss = [](const auto& params, auto texts, auto next) {
  return plx::mean(plx::vmap(text_loss, plx::in_axes<plx::none, 0, 0>)(params, texts, next));
};

// One step of Adam along clipped gradients as one device sees it.
constexpr auto optimiser = plx::optim::chain(plx::optim::clip_by_global_norm(1), plx::optim::adam(3e-3, {.b2 = 0.99}));
constexpr auto learn = [](auto params, auto state, auto texts, auto next) {
  auto [loss, local] = plx::value_and_grad(batch_loss)(params, texts, next);
  auto [updates, new_state] = optimiser.update(plx::pmean<"batch">(local), state, params);
  return std::tuple{plx::optim::apply_updates(params, updates), new_state, plx::pmean<"batch">(loss)};
};
constexpr auto learn_on_devices = plx::pmap<"batch">(learn);

// The first parameters of one device.
constexpr auto initial_transformer = [](auto key) {
  auto random = [&]<std::size_t Rank>(int number, const plx::extent(&shape)[Rank], float scale) {
    return scale * plx::random::normal(plx::random::fold_in(key, number), shape);
  };
  constexpr float small = 0.125f; // 1 / sqrt(width)
  auto blocks = transformer_block{plx::ones({block_count, width}),
                                  plx::ones({block_count, width}),
                                  random(3, {block_count, width, width}, small),
                                  random(4, {block_count, width, width}, small),
                                  random(5, {block_count, width, width}, small),
                                  random(6, {block_count, width, width}, small / 2),
                                  random(7, {block_count, width, 4 * width}, small),
                                  random(8, {block_count, 4 * width, width}, small / 4)};
  return transformer{random(0, {characters, width}, small), random(1, {length, width}, small), blocks,
                     plx::ones({width}), random(2, {width, characters}, small)};
};
constexpr auto initial_on_devices = plx::pmap(initial_transformer);
constexpr auto state_on_devices = plx::pmap([](auto params) { return optimiser.init(params); });

} // namespace examples
