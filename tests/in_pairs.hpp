// The order in which devices' values are promised to be combined, in plain loops.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

/// Combines neighbours, then neighbouring pairs, and so on; the last of an odd number goes on as it is.
template <class T, class Combine> T in_pairs(std::vector<T> values, const Combine& combine) {
  while (values.size() > 1) {
    std::vector<T> pairs;
    for (std::size_t k = 0; k + 1 < values.size(); k += 2) pairs.push_back(combine(values[k], values[k + 1]));
    if (values.size() % 2 == 1) pairs.push_back(values.back());
    values = std::move(pairs);
  }
  return values[0];
}
