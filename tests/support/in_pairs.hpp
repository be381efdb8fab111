// The order in which devices' values are promised to be combined, in plain loops.
#pragma once

#include <cstddef>
#include <vector>

/// Combines neighbours, then neighbouring pairs, and so on; the last of an odd number goes on as it is.
template <class T, class Combine> T in_pairs(std::vector<T> values, const Combine& combine) {
  for (std::size_t count = values.size(); count > 1; count = (count + 1) / 2) {
    for (std::size_t k = 0; k + 1 < count; k += 2) values[k / 2] = combine(values[k], values[k + 1]);
    if (count % 2 == 1) values[count / 2] = values[count - 1];
  }
  return values[0];
}
