// Results of programs, compared before anything is timed.
#pragma once

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The elements of trees of arrays, one after another.
template <class... Trees> std::vector<double> elements(const Trees&... trees) {
  std::vector<double> all;
  auto add = [&](const auto& a) {
    for (auto value : a.values()) all.push_back(static_cast<double>(value));
  };
  (parallax::tree_for_each(add, trees), ...);
  return all;
}

/// Whether numbers differ from those that are right, as many at least, by no more than a share of the largest of these.
template <class Right> bool agree(const std::vector<double>& values, const Right& right, double share) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(right[i])));
    difference = std::max(difference, std::abs(values[i] - static_cast<double>(right[i])));
  }
  return difference <= share * largest; // false for NaN
}

} // namespace bench
