// Labelled pictures in memory, and their deterministic division into training and held-out rows.
#pragma once

#include "errors.hpp"

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace examples {

/// The number of different labels: the digits 0 to 9.
inline constexpr std::size_t classes = 10;

/// Pictures of digits, one row of `width * height` pixels (0 is paper, 1 is ink) per label.
struct dataset {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<float> pixels;
  std::vector<int> labels;

  std::size_t size() const { return labels.size(); }
  std::size_t features() const { return width * height; }
  std::span<const float> picture(std::size_t row) const {
    return std::span(pixels).subspan(row * features(), features());
  }
};

/// What a model learns from, and what it is judged by.
struct divided_dataset {
  dataset training;
  dataset held_out;
};

/// The numbers 0 to `count - 1` in an order drawn from `engine`.
/// (`std::shuffle` may differ between standard libraries; this order may not.)
inline std::vector<std::size_t> permutation(std::size_t count, std::mt19937_64& engine) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

/// The given rows of `data`, in the given order.
inline dataset select(const dataset& data, std::span<const std::size_t> rows) {
  dataset chosen{data.width, data.height, {}, {}};
  chosen.pixels.reserve(rows.size() * data.features());
  chosen.labels.reserve(rows.size());
  for (std::size_t row : rows) {
    auto picture = data.picture(row);
    chosen.pixels.insert(chosen.pixels.end(), picture.begin(), picture.end());
    chosen.labels.push_back(data.labels[row]);
  }
  return chosen;
}

/// Holds out one row in five. The choice depends on the number of rows only, so that all runs are judged alike.
/// Throws `data_error` for fewer than five rows.
inline divided_dataset divide(const dataset& data) {
  if (data.size() < 5)
    throw data_error("at least 5 rows are needed to hold some out, got " + std::to_string(data.size()));
  std::mt19937_64 engine(data.size());
  auto order = permutation(data.size(), engine);
  auto held_out = data.size() / 5;
  return {select(data, std::span(order).subspan(held_out)), select(data, std::span(order).first(held_out))};
}

} // namespace examples
