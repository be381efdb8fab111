// Groups of a mesh of eight devices, with operands of collectives, and what these are promised to make of them.
#pragma once

#include "support/in_pairs.hpp"

#include <parallax/host/devices/collectives.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace cube_of_devices {

using parallax::host::reduction;

inline constexpr std::array<std::int64_t, 3> cube{2, 2, 2};

// The positions of a group in group order, found by comparing coordinates.
inline std::vector<int> group_of(int position, unsigned mask) {
  std::vector<int> members;
  for (int other = 0; other < 8; ++other) {
    const unsigned differs = static_cast<unsigned>(position ^ other); // bit 2 is axis 0, bit 0 is axis 2
    const unsigned allowed = (mask & 1) << 2 | (mask & 2) | (mask & 4) >> 2;
    if ((differs & ~allowed) == 0) members.push_back(other);
  }
  return members;
}

/// Each group of the mesh once.
inline std::vector<std::vector<int>> groups_of(unsigned mask) {
  std::vector<std::vector<int>> groups;
  for (int p = 0; p < 8; ++p) {
    if (auto members = group_of(p, mask); members.front() == p) groups.push_back(std::move(members));
  }
  return groups;
}

inline int index_in(const std::vector<int>& members, int position) {
  return static_cast<int>(std::find(members.begin(), members.end(), position) - members.begin());
}

template <class T> std::vector<std::vector<T>> operands(std::size_t count, int devices = 8) {
  std::vector<std::vector<T>> all(static_cast<std::size_t>(devices));
  std::uint32_t state = 12345;
  for (auto& each : all) {
    each.resize(count);
    for (T& value : each) {
      state = state * 1664525u + 1013904223u;
      if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(state >> 8) / static_cast<T>(1 << 20) - T(8);
      else value = static_cast<T>(state >> 4);
    }
  }
  return all;
}

template <class T> std::vector<std::vector<T>> results(std::size_t count, int devices = 8) {
  return {static_cast<std::size_t>(devices), std::vector<T>(count, T(99))};
}

template <class T> auto& at(std::vector<T>& all, int i) { return all[static_cast<std::size_t>(i)]; }

template <class T> T plainly(reduction how, T a, T b) {
  switch (how) {
  case reduction::max: return std::max(a, b);
  case reduction::min: return std::min(a, b);
  case reduction::sum: break;
  }
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// The combination in the order that is promised.
template <class T> T in_order(reduction how, const std::vector<T>& values) {
  return in_pairs(values, [&](T a, T b) { return plainly(how, a, b); });
}

} // namespace cube_of_devices
