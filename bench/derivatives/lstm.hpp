// lstm: what a recurrent network loses that foretells the next character, whose gates have diagonal weights.
#pragma once

#include "support/random_values.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The point is of each layer the weights and then the biases of its gates (forget, in, out, change), and of the whole
/// the weights of the input and of the output and the output's bias; all of them have `width` numbers.
struct lstm_problem {
  static constexpr std::size_t layers = 2, width = 14, length = 1024, rounds = length - 1, of_layer = 8 * width;
  enum gate : std::size_t { forget, in, out, change };
  std::vector<double> state, sequence, point; // state: of each layer what is hidden, and its cell

  lstm_problem() {
    for (float each : random_values(length * width, 31, 1.0f)) sequence.push_back(each > 0 ? 1 : 0);
    for (float each : random_values(layers * 2 * width, 32, 0.5f)) state.push_back(each);
    for (float each : random_values(layers * of_layer + 3 * width, 33, 1.0f)) point.push_back(each);
  }
  template <class S> static S sigmoid(const S& x) {
    using std::exp;
    return 1 / (1 + exp(-x));
  }
  template <class S> S value(const S* x) const {
    using std::exp, std::log, std::tanh;
    const S *in_weight = x + layers * of_layer, *out_weight = in_weight + width, *out_bias = out_weight + width;
    std::vector<S> now(state.begin(), state.end()), input(width);
    S total = 0;
    for (std::size_t t = 0; t < rounds; ++t) {
      for (std::size_t i = 0; i < width; ++i) input[i] = sequence[t * width + i] * in_weight[i];
      for (std::size_t k = 0; k < layers; ++k) {
        const S *weight = x + k * of_layer, *bias = weight + 4 * width;
        S *hidden = &now[k * 2 * width], *cell = hidden + width;
        for (std::size_t i = 0; i < width; ++i) {
          auto linear = [&](gate g, const S& of) { return S(of * weight[g * width + i] + bias[g * width + i]); };
          cell[i] = cell[i] * sigmoid(linear(forget, input[i])) +
                    sigmoid(linear(in, hidden[i])) * tanh(linear(change, hidden[i]));
          hidden[i] = sigmoid(linear(out, input[i])) * tanh(cell[i]);
          input[i] = hidden[i];
        }
      }
      S sum = 2;
      for (std::size_t i = 0; i < width; ++i) {
        input[i] = input[i] * out_weight[i] + out_bias[i];
        sum += exp(input[i]);
      }
      const S whole = log(sum);
      for (std::size_t i = 0; i < width; ++i) total += sequence[(t + 1) * width + i] * (input[i] - whole);
    }
    return total * (-1.0 / (rounds * width));
  }
  /// What a round computes for one number of a layer, and the way back needs.
  struct unit {
    double input, before, cell_before, gates[4], squashed, hidden;
  };
  /// The rounds' gates and states, and the derivatives by what comes out of each.
  void keep_rounds(const double* x, std::vector<unit>& kept, std::vector<double>& by_output) const {
    const double *in_weight = x + layers * of_layer, *out_weight = in_weight + width, *out_bias = out_weight + width;
    double now[layers * 2 * width];
    for (std::size_t j = 0; j < state.size(); ++j) now[j] = state[j];
    for (std::size_t t = 0; t < rounds; ++t) {
      double input[width];
      for (std::size_t i = 0; i < width; ++i) input[i] = sequence[t * width + i] * in_weight[i];
      for (std::size_t k = 0; k < layers; ++k) {
        const double *weight = x + k * of_layer, *bias = weight + 4 * width;
        double *hidden = &now[k * 2 * width], *cell = hidden + width;
        for (std::size_t i = 0; i < width; ++i) {
          unit& u = kept[(t * layers + k) * width + i];
          auto linear = [&](gate g, double of) { return of * weight[g * width + i] + bias[g * width + i]; };
          u.input = input[i], u.before = hidden[i], u.cell_before = cell[i];
          u.gates[forget] = sigmoid(linear(forget, input[i])), u.gates[in] = sigmoid(linear(in, hidden[i]));
          u.gates[out] = sigmoid(linear(out, input[i])), u.gates[change] = std::tanh(linear(change, hidden[i]));
          cell[i] = cell[i] * u.gates[forget] + u.gates[in] * u.gates[change];
          u.squashed = std::tanh(cell[i]);
          u.hidden = input[i] = hidden[i] = u.gates[out] * u.squashed;
        }
      }
      double sum = 2, wanted = 0, powers[width];
      for (std::size_t i = 0; i < width; ++i) sum += powers[i] = std::exp(input[i] * out_weight[i] + out_bias[i]);
      for (std::size_t i = 0; i < width; ++i) wanted += sequence[(t + 1) * width + i];
      for (std::size_t i = 0; i < width; ++i)
        by_output[t * width + i] =
            (wanted * powers[i] / sum - sequence[(t + 1) * width + i]) * (1.0 / (rounds * width));
    }
  }
  /// Goes back through the rounds, of which the gates and states have been kept.
  void gradient(const double* x, double* result) const {
    const double* out_weight = x + layers * of_layer + width;
    std::vector<unit> kept(rounds * layers * width);
    std::vector<double> by_output(rounds * width);
    keep_rounds(x, kept, by_output);
    for (std::size_t j = 0; j < point.size(); ++j) result[j] = 0;
    double *by_in = result + layers * of_layer, *by_out = by_in + width, *by_bias = by_out + width;
    double ahead[layers * 2 * width] = {}; // by what is hidden and by cells, of the round behind
    for (std::size_t t = rounds; t-- > 0;) {
      double above[width];
      for (std::size_t i = 0; i < width; ++i) {
        by_out[i] += by_output[t * width + i] * kept[(t * layers + layers - 1) * width + i].hidden;
        by_bias[i] += by_output[t * width + i];
        above[i] = by_output[t * width + i] * out_weight[i];
      }
      for (std::size_t k = layers; k-- > 0;) {
        const double* weight = x + k * of_layer;
        double *by_weight = result + k * of_layer, *by_offset = by_weight + 4 * width;
        double *by_hidden = ahead + k * 2 * width, *by_cell = by_hidden + width;
        for (std::size_t i = 0; i < width; ++i) {
          const unit& u = kept[(t * layers + k) * width + i];
          const double here = by_hidden[i] + above[i];
          const double cell = by_cell[i] + here * u.gates[out] * (1 - u.squashed * u.squashed);
          auto of_sigmoid = [](double y) { return y * (1 - y); };
          const double by[4] = {cell * u.cell_before * of_sigmoid(u.gates[forget]),
                                cell * u.gates[change] * of_sigmoid(u.gates[in]),
                                here * u.squashed * of_sigmoid(u.gates[out]),
                                cell * u.gates[in] * (1 - u.gates[change] * u.gates[change])};
          const double of[4] = {u.input, u.before, u.input, u.before};
          for (std::size_t g = 0; g < 4; ++g)
            by_weight[g * width + i] += by[g] * of[g], by_offset[g * width + i] += by[g];
          above[i] = by[forget] * weight[forget * width + i] + by[out] * weight[out * width + i];
          by_hidden[i] = by[in] * weight[in * width + i] + by[change] * weight[change * width + i];
          by_cell[i] = cell * u.gates[forget];
        }
      }
      for (std::size_t i = 0; i < width; ++i) by_in[i] += above[i] * sequence[t * width + i];
    }
  }
};

} // namespace bench
