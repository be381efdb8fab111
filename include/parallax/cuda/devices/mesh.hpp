// The devices of a section as a mesh, and the groups of a collective over some of its axes.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/cuda/devices/device.hpp>
#include <parallax/processes/process_mesh.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Positions are row-major, the outermost axis first. If processes share the mesh, the positions of this process follow
/// each other among the places of all processes.
template <device_api Api> class mesh {
 public:
  std::vector<device<Api>*> devices; ///< of this process, by position

  /// `sizes` are those of this process; `of_all` is the mesh of all processes, null if this one is by itself.
  mesh(plain_span<const std::int64_t> sizes, std::vector<device<Api>*> at,
       const processes::process_mesh* of_all = nullptr)
      : devices(std::move(at)), own_sizes(sizes.begin(), sizes.end()), all_sizes(own_sizes), across(of_all) {
    if (across == nullptr) return;
    all_sizes.assign(across->sizes().begin(), across->sizes().end());
    first = static_cast<int>(across->part().begin());
  }

  /// The number of positions.
  int size() const { return count_of(devices); }
  /// The number of places.
  int place_count() const { return size_along(all_sizes, ~0U); }
  /// The place of a position among those of all processes, and the position of a place; -1 for a place in another
  /// process.
  int place_of(int position) const { return first + position; }
  int position_of(int place) const { return place >= first && place < first + size() ? place - first : -1; }
  /// Whether nobody else is there to exchange values with.
  bool is_alone() const { return size() == 1 && across == nullptr; }
  /// Whether each process has one device.
  bool is_one_of_each_process() const {
    if (size() != 1 || across == nullptr) return false;
    for (std::size_t process = 0; process < across->starts().size(); ++process)
      if (across->starts()[process] != static_cast<std::int64_t>(process)) return false;
    return true;
  }
  /// The mesh of all processes; null if this one is by itself.
  const processes::process_mesh* whole() const { return across; }
  /// Whether groups along the axes of a mask have members in other processes.
  bool crosses_processes(unsigned axes) const { return across != nullptr && across->is_divided(axes); }
  /// Whether processes divide more than one axis, so that not all come to an exchange along one of them equally often.
  bool is_divided_twice() const {
    int divided = 0;
    for (std::size_t axis = 0; axis < all_sizes.size(); ++axis) divided += crosses_processes(1U << axis) ? 1 : 0;
    return divided > 1;
  }

  /// The row-major index of a position along the axes of a mask, among all processes, and among this one.
  int axis_index(int position, unsigned axes) const { return index_along(all_sizes, place_of(position), axes); }
  int own_axis_index(int position, unsigned axes) const { return index_along(own_sizes, position, axes); }
  /// The number of indices along the axes of a mask in this process.
  int own_axis_size(unsigned axes) const { return size_along(own_sizes, axes); }

  /// The groups of places that differ along these axes only, in row-major order of the axes: of all processes, or of
  /// this one.
  std::vector<std::vector<int>> groups(unsigned axes, bool of_all) const {
    const std::vector<std::int64_t>& sizes = of_all ? all_sizes : own_sizes;
    const int group_size = size_along(sizes, axes), count = size_along(sizes, ~0U);
    std::vector<std::vector<int>> result(index_of(count / group_size));
    for (auto& group : result) group.resize(index_of(group_size));
    for (int k = 0; k < count; ++k)
      result[index_of(index_along(sizes, k, ~axes))][index_of(index_along(sizes, k, axes))] = of_all ? k : place_of(k);
    return result;
  }

 private:
  std::vector<std::int64_t> own_sizes, all_sizes;
  const processes::process_mesh* across;
  int first = 0; ///< place of this process

  static int size_along(const std::vector<std::int64_t>& sizes, unsigned axes) {
    int size = 1;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
      if (axes >> axis & 1U) size *= static_cast<int>(sizes[axis]);
    return size;
  }
  static int index_along(const std::vector<std::int64_t>& sizes, int place, unsigned axes) {
    int index = 0, scale = 1;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      const int extent = static_cast<int>(sizes[axis]);
      if (axes >> axis & 1U) {
        index += place % extent * scale;
        scale *= extent;
      }
      place /= extent;
    }
    return index;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
