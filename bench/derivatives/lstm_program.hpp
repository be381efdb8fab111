// lstm as an array program.
#pragma once

#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;

/// The layers' weights and biases (layers, 2, 4, width), those of input and output (3, width), where layers begin
/// (layers, 2, width), and the sequence (length, width). Units meet in the output alone, so layer by layer all rounds
/// of what asks for no state are computed at once: gates of a layer's input before its scan, the output behind all of
/// them.
constexpr auto lstm_program = [](auto layers, auto ends, auto state, auto sequence) {
  auto count = sequence.shape(0);
  auto input = plx::slice_in_dim(sequence, 0, count - 1) * ends[0];
  for (int k = 0; k < layers.shape(0).number(); ++k) {
    auto weight = layers[k][0], bias = layers[k][1];
    auto forget = plx::logistic(input * weight[0] + bias[0]), out = plx::logistic(input * weight[2] + bias[2]);
    auto round = [&](auto carry, auto gates) {
      auto [hidden, cell] = carry;
      auto [forgotten, shown] = gates;
      auto changed = plx::logistic(hidden * weight[1] + bias[1]) * plx::tanh(hidden * weight[3] + bias[3]);
      auto next = cell * forgotten + changed;
      auto seen = shown * plx::tanh(next);
      return std::pair{std::pair{seen, next}, seen};
    };
    input = plx::scan(round, std::pair{state[k][0], state[k][1]}, std::pair{forget, out}).second;
  }
  auto output = input * ends[1] + ends[2];
  auto whole = plx::log(2. + plx::sum(plx::exp(output), 1));
  auto wanted = plx::slice_in_dim(sequence, 1, count);
  return plx::mean(wanted * (plx::expand_dims(whole, 1) - output));
};

} // namespace bench
