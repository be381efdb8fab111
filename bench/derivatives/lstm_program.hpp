// lstm as an array program.
#pragma once

#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>

namespace bench {

namespace plx = parallax;

/// The layers' weights and biases (layers, 2, 4, width), those of input and output (3, width), where layers begin
/// (layers, 2, width), and the sequence (length, width). Units meet in the output alone, so layer by layer all rounds
/// of what asks for no state are computed at once: gates of a layer's input before its scan, and the output behind.
/// Weights are slices as well, so that derivatives by them are summed behind the scan.
constexpr auto lstm_program = [](auto layers, auto ends, auto state, auto sequence) {
  auto count = sequence.shape(0) - 1, width = sequence.shape(1);
  auto input = plx::slice_in_dim(sequence, 0, count) * ends[0];
  for (int k = 0; k < layers.shape(0).number(); ++k) {
    auto weight = layers[k][0], bias = layers[k][1];
    auto forget = plx::logistic(input * weight[0] + bias[0]), out = plx::logistic(input * weight[2] + bias[2]);
    auto each_round = [&](auto x) { return plx::broadcast_to(x, {count, width}); };
    auto round = [](auto carry, auto given) {
      auto [hidden, cell] = carry;
      auto [forgotten, shown, in_weight, in_bias, change_weight, change_bias] = given;
      auto changed = plx::logistic(hidden * in_weight + in_bias) * plx::tanh(hidden * change_weight + change_bias);
      auto next = cell * forgotten + changed;
      auto seen = shown * plx::tanh(next);
      return std::pair{std::pair{seen, next}, seen};
    };
    auto given =
        std::tuple{forget, out, each_round(weight[1]), each_round(bias[1]), each_round(weight[3]), each_round(bias[3])};
    input = plx::scan(round, std::pair{state[k][0], state[k][1]}, given).second;
  }
  auto output = input * ends[1] + ends[2];
  auto whole = plx::log(2. + plx::sum(plx::exp(output), 1));
  return plx::mean(plx::slice_in_dim(sequence, 1, count + 1) * (plx::expand_dims(whole, 1) - output));
};

} // namespace bench
