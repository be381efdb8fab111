// Cuts a shuffled dataset into batches that the devices can share evenly.
#pragma once

#include "dataset.hpp"
#include "errors.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// The rows of one training step: pixels of shape (rows, features) and one-hot labels of shape (rows, classes).
/// Cut into equal parts, the first part is the first device's.
struct batch {
  std::vector<float> images;
  std::vector<float> targets;
};

/// The given rows of `data` as a batch.
inline batch make_batch(const dataset& data, std::span<const std::size_t> rows) {
  batch result;
  result.images.reserve(rows.size() * data.features());
  result.targets.resize(rows.size() * classes, 0.f);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto picture = data.picture(rows[i]);
    result.images.insert(result.images.end(), picture.begin(), picture.end());
    result.targets[i * classes + static_cast<std::size_t>(data.labels[rows[i]])] = 1.f;
  }
  return result;
}

/// How many whole batches `rows` rows give. The rows left over wait for another epoch's order.
/// Throws `usage_error` unless the devices can share a batch evenly and there are rows for one.
inline std::size_t batches_per_epoch(std::size_t rows, std::size_t batch_size, std::size_t devices) {
  if (batch_size % devices != 0)
    throw usage_error("batch size must be divisible by device count, got " + std::to_string(batch_size) + " and " +
                      std::to_string(devices) + ".");
  if (batch_size > rows)
    throw usage_error("batch size must not exceed the number of training rows, got " + std::to_string(batch_size) +
                      " and " + std::to_string(rows) + ".");
  return rows / batch_size;
}

} // namespace examples
