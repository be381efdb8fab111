// The transformer example: its forward pass by plain loops, its gradient by differences, and that it learns.
#include "support/test.hpp"
#include "transformer_model.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace transformer_test {

namespace plx = parallax;
using namespace examples;

namespace {

/// Row-major numbers, `columns` in a row.
struct matrix {
  std::size_t columns;
  std::vector<double> values;
  double& operator()(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
  std::size_t rows() const { return values.size() / columns; }
};
matrix matrix_of(const auto& array) {
  return {static_cast<std::size_t>(array.shape(1)), {array.values().begin(), array.values().end()}};
}
matrix product(const matrix& a, const matrix& b) {
  matrix result{b.columns, std::vector<double>(a.rows() * b.columns)};
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}
void add(matrix& to, const matrix& more) {
  for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += more.values[i];
}
matrix normalised_rows(matrix x, const auto& scale) {
  for (std::size_t i = 0; i < x.rows(); ++i) {
    double mean = 0, square = 0;
    for (std::size_t j = 0; j < x.columns; ++j) mean += x(i, j) / static_cast<double>(x.columns);
    for (std::size_t j = 0; j < x.columns; ++j) square += (x(i, j) - mean) * (x(i, j) - mean);
    const double root = std::sqrt(square / static_cast<double>(x.columns) + 1e-5);
    for (std::size_t j = 0; j < x.columns; ++j)
      x(i, j) = (x(i, j) - mean) / root * static_cast<double>(scale.values()[j]);
  }
  return x;
}
matrix attended(const auto& block, const matrix& x) {
  const matrix query = product(x, matrix_of(block.query)), key = product(x, matrix_of(block.key)),
               value = product(x, matrix_of(block.value));
  matrix joined{x.columns, std::vector<double>(x.values.size())};
  const std::size_t each = x.columns / heads;
  for (std::size_t head = 0; head < heads; ++head)
    for (std::size_t here = 0; here < x.rows(); ++here) {
      std::vector<double> weights;
      double sum = 0;
      for (std::size_t there = 0; there <= here; ++there) {
        double score = 0;
        for (std::size_t j = head * each; j < (head + 1) * each; ++j) score += query(here, j) * key(there, j);
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(each))));
        sum += weights.back();
      }
      for (std::size_t there = 0; there <= here; ++there)
        for (std::size_t j = head * each; j < (head + 1) * each; ++j)
          joined(here, j) += weights[there] / sum * value(there, j);
    }
  return product(joined, matrix_of(block.result));
}
/// The parameters of one block.
auto block_of(const auto& params, int number) {
  constexpr auto element = plx::jit([](auto x, auto i) { return x[i]; });
  return plx::tree_map([&](const auto& leaf) { return element(leaf, number); }, params.blocks);
}
matrix predicted(const auto& params, const std::vector<std::int32_t>& text) {
  const matrix embedding = matrix_of(params.embedding);
  matrix x = matrix_of(params.positions);
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < x.columns; ++j) x(i, j) += embedding(static_cast<std::size_t>(text[i]), j);
  for (int number = 0; number < block_count; ++number) {
    const auto block = block_of(params, number);
    add(x, attended(block, normalised_rows(x, block.attention_scale)));
    matrix hidden = product(normalised_rows(x, block.mlp_scale), matrix_of(block.up));
    for (double& h : hidden.values) // jax.nn.gelu's approximation
      h *= 0.5 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (h + 0.044715 * h * h * h)));
    add(x, product(hidden, matrix_of(block.down)));
  }
  return product(normalised_rows(x, params.scale), matrix_of(params.head));
}

std::vector<std::int32_t> some_text(std::size_t count, std::int32_t first) {
  std::vector<std::int32_t> text;
  for (std::size_t i = 0; i < count; ++i)
    text.push_back(static_cast<std::int32_t>(i * i + static_cast<std::size_t>(first)) % 23);
  return text;
}

} // namespace

TEST_CASE("the transformer's prediction is that of plain loops, and its gradient that of differences") {
  const auto params = plx::jit(initial_transformer)(plx::random::key(3));
  const std::vector<std::int32_t> text = some_text(length, 5);
  const auto found = plx::jit(predict_next)(params, plx::borrow<plx::extents<length>>(text));
  const matrix expected = predicted(params, text);
  double worst = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found.values()[i]) - expected.values[i]));
  CHECK(worst < 1e-4);

  // the same blocks, written out one after another
  const auto written_out = plx::jit(predict_next)(
      transformer{params.embedding, params.positions,
                  std::array{block_of(params, 0), block_of(params, 1), block_of(params, 2), block_of(params, 3)},
                  params.scale, params.head},
      plx::borrow<plx::extents<length>>(text));
  for (std::size_t i = 0; i < expected.values.size(); ++i)
    CHECK(std::abs(written_out.values()[i] - found.values()[i]) < 1e-5f);

  const std::vector<std::int32_t> texts = some_text(2 * length, 1), next = some_text(2 * length, 2);
  const auto batch = plx::borrow<plx::extents<2, length>>(texts), behind = plx::borrow<plx::extents<2, length>>(next);
  constexpr auto slope = plx::jit(plx::value_and_grad(batch_loss));
  const auto gradient = std::get<1>(slope(params, batch, behind));
  // along the gradient itself, where the difference is largest
  double square = 0;
  plx::tree_for_each(
      [&](const auto& g) {
        for (const float v : g.values()) square += static_cast<double>(v) * static_cast<double>(v);
      },
      gradient);
  const float step = static_cast<float>(1e-2 / std::sqrt(square));
  auto loss_at = [&](float distance) {
    const auto moved =
        plx::tree_map([&](const auto& p, const auto& g) { return plx::evaluate(p + distance * g); }, params, gradient);
    return static_cast<double>(std::get<0>(slope(moved, batch, behind)).item());
  };
  const double difference = (loss_at(step) - loss_at(-step)) / (2 * static_cast<double>(step));
  CHECK(difference == Approx(square).epsilon(0.02));
}

TEST_CASE("a transformer learns on several devices") {
  auto params = initial_on_devices(plx::broadcast_to(plx::random::key(0), {2, 2}));
  auto state = state_on_devices(params);
  const std::vector<std::int32_t> texts = some_text(4 * length, 0), next = some_text(4 * length, 1);
  float first = 0, last = 0;
  for (int step = 1; step <= 30; ++step) {
    auto [new_params, new_state, loss] =
        learn_on_devices(params, state, plx::borrow(texts, {2, 2, length}), plx::borrow(next, {2, 2, length}));
    params = new_params, state = new_state;
    CHECK(loss(0) == loss(1));
    (step == 1 ? first : last) = loss(0);
  }
  CHECK(first > 4);
  CHECK(last < first / 2);
}

} // namespace transformer_test
