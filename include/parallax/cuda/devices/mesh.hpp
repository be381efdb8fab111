// The devices of a section as a mesh, and the groups that a collective over some of its axes is among.
#pragma once

#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/cuda/devices/device.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace parallax::cuda {

/// Positions are row-major, the outermost axis first.
template <device_api Api> class mesh {
 public:
  std::vector<device<Api>*> devices; ///< by position

  mesh(plain_span<const std::int64_t> sizes, std::vector<device<Api>*> at)
      : devices(std::move(at)), axis_sizes(sizes.begin(), sizes.end()) {}

  int size() const { return count_of(devices); }

  /// The row-major index of a position along the axes of a mask.
  int axis_index(int position, unsigned axes) const {
    int index = 0, scale = 1;
    for (std::size_t axis = axis_sizes.size(); axis-- > 0;) {
      const int extent = static_cast<int>(axis_sizes[axis]);
      if (axes >> axis & 1U) {
        index += position % extent * scale;
        scale *= extent;
      }
      position /= extent;
    }
    return index;
  }

  /// The positions that differ along these axes only, group by group, in row-major order of the axes.
  std::vector<std::vector<int>> groups(unsigned axes) const {
    int group_size = 1;
    for (std::size_t axis = 0; axis < axis_sizes.size(); ++axis)
      if (axes >> axis & 1U) group_size *= static_cast<int>(axis_sizes[axis]);
    std::vector<std::vector<int>> result(index_of(size() / group_size));
    for (auto& group : result) group.resize(index_of(group_size));
    for (int position = 0; position < size(); ++position)
      result[index_of(axis_index(position, ~axes))][index_of(axis_index(position, axes))] = position;
    return result;
  }

 private:
  std::vector<std::int64_t> axis_sizes;
};

} // namespace parallax::cuda
