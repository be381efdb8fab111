// Cases that are models and their gradients.
#include "case.hpp"
#include "families.hpp"
#include "layernorm.hpp"
#include "support/perceptron.hpp"

#include <cstdint>
#include <string>
#include <tuple>

namespace bench {
namespace {

matrix weight(std::int64_t rows, std::int64_t columns, double phase) {
  return plx::array<float, 2>(waves<matrix>({rows, columns}, phase) * 0.05f);
}

/// Of three layers, 784 to 256 to 256 to 10, with their derivatives: 2 operations for each product.
void add_perceptron(std::int64_t batch) {
  constexpr double products = 784. * 256 + 256. * 256 + 256. * 10;
  const double forward = 2. * static_cast<double>(batch) * products;
  const std::string size = std::to_string(batch);
  const suite_case loss("perceptron " + size, {.operations = forward}),
      step("perceptron step " + size, {.operations = 3 * forward - 2. * static_cast<double>(batch) * 784 * 256});
  const auto weights = std::tuple{weight(784, 256, 0),     waves<vector>({256}, 1), weight(256, 256, 2),
                                  waves<vector>({256}, 3), weight(256, 10, 4),      waves<vector>({10}, 5)};
  const auto x = waves<matrix>({batch, 784}, 6);
  const matrix target = plx::softmax(waves<matrix>({batch, 10}, 7), plx::axis<1>);
  loss.add("parallax", [=] { return plx::array<float, 0>(plx::jit(perceptron_loss)(weights, x, target)); });
  step.add("parallax", [=] { return matrix(std::get<0>(perceptron_step(weights, x, target))); });
}

/// One head of attention and a perceptron, each added to what it was made of.
constexpr auto block = [](auto weights, auto x) {
  auto [query, key, value, out, up, down] = weights;
  auto h = layernorm(x);
  auto scores = plx::matmul(plx::matmul(h, query), plx::transpose(plx::matmul(h, key))) * 0.125f;
  auto y = x + plx::matmul(plx::matmul(plx::softmax(scores, 1), plx::matmul(h, value)), out);
  return y + plx::matmul(plx::gelu(plx::matmul(layernorm(y), up)), down);
};
constexpr auto block_step = plx::jit(plx::grad([](auto w, auto x) { return plx::mean(plx::square(block(w, x))); }));

/// Of n rows and n columns: 14 products of n x n x n.
void add_transformer(std::int64_t n) {
  const double operations = 28. * static_cast<double>(n * n * n);
  const std::string name = "transformer block " + std::to_string(n);
  const suite_case forward(name, {.operations = operations}),
      gradient(name + ", gradient", {.operations = 3 * operations});
  const auto weights = std::tuple{weight(n, n, 0), weight(n, n, 1),     weight(n, n, 2),
                                  weight(n, n, 3), weight(n, 4 * n, 4), weight(4 * n, n, 5)};
  const auto x = waves<matrix>({n, n}, 6);
  forward.add("parallax", [=] { return matrix(plx::jit(block)(weights, x)); });
  gradient.add("parallax", [=] { return matrix(std::get<0>(block_step(weights, x))); });
}

} // namespace

void add_training() {
  for (std::int64_t batch : {1, 32, 256, 2048}) add_perceptron(batch);
  for (std::int64_t n : {64, 256}) add_transformer(n);
}

} // namespace bench
