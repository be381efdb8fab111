// The shapes of arrays that are cut along a mesh, and where their blocks lie.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/pieces.hpp>
#include <parallax/backends/execute.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>
#include <parallax/processes/mesh_part.hpp>
#include <parallax/processes/world.hpp>
#include <parallax/transforms/maps/mesh.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The extents of an array of `Extents` that is cut along axes of a mesh: before each dimension the sizes of its axes,
/// in the places that `partition::place_of` gives. If the blocks are not equally large, `is_even` is false.
template <class Extents, class Mesh, partition Cut> struct cut_extents {
  static constexpr int rank = Extents::rank + Cut.cut_count();
  static constexpr bool fits =
      Cut.wrong == partition::fault::no_fault && Cut.entries <= Extents::rank && rank <= max_rank;

  struct split {
    std::array<std::int64_t, index_of(fits ? rank : 0)> extents{};
    bool is_even = true;
  };
  static constexpr split parts = [] {
    split result;
    std::size_t at = 0;
    for (int d = 0; fits && d < Extents::rank; ++d) {
      std::int64_t blocks = 1;
      for (int i = 0; i < Cut.cuts_of(d); ++i) {
        const std::int64_t size = Mesh::size(Cut.dimensions[index_of(d)].axes[index_of(i)]);
        result.extents[at++] = size;
        blocks = size == dyn || blocks == dyn ? dyn : blocks * size;
      }
      const std::int64_t whole = Extents::values[index_of(d)];
      const bool is_known = whole != dyn && blocks != dyn;
      result.is_even = result.is_even && (!is_known || whole % blocks == 0);
      result.extents[at++] = is_known ? whole / blocks : dyn;
    }
    return result;
  }();
  static constexpr bool is_even = fits && parts.is_even;

  template <std::size_t... I> static extents_t<parts.extents[I]...> listed(std::index_sequence<I...>);
  using type = decltype(listed(std::make_index_sequence<parts.extents.size()>{}));
};

/// The extents of a whole array, if an array of `Extents` holds this process' blocks of it.
template <class Extents, partition Cut> struct whole_extents {
  static constexpr int rank = Extents::rank - Cut.cut_count();
  static constexpr std::array<std::int64_t, index_of(rank)> extents = [] {
    std::array<std::int64_t, index_of(rank)> result{};
    std::size_t at = 0;
    for (int d = 0; d < rank; ++d) {
      std::int64_t whole = 1;
      for (int i = 0; i <= Cut.cuts_of(d); ++i) {
        const std::int64_t next = Extents::values[at++];
        whole = whole == dyn || next == dyn ? dyn : whole * next;
      }
      result[index_of(d)] = whole;
    }
    return result;
  }();
  template <std::size_t... I> static extents_t<extents[I]...> listed(std::index_sequence<I...>);
  using type = decltype(listed(std::make_index_sequence<index_of(rank)>{}));
};

/// Throws `error`, on all processes alike, unless each process' devices are whole rows of the mesh, or all processes
/// have equally many, which are ranges of indices along its axes. Otherwise groups that span processes would not meet
/// at the same device of each.
inline void check_parts(plain_span<const std::int64_t> sizes, plain_span<const int> devices_of_process,
                        std::int64_t per_row, std::string_view first_axis) {
  bool have_rows = true, have_alike = true;
  std::int64_t begin = 0;
  for (const int devices : devices_of_process) {
    have_rows = have_rows && devices % per_row == 0;
    have_alike = have_alike && devices == devices_of_process[0] && processes::mesh_part(sizes, begin, devices).fits();
    begin += devices;
  }
  if (have_rows || have_alike) return;
  throw error("mesh: the devices of some process are not indices along its axes; let each process have whole numbers "
              "of the " +
              std::to_string(per_row) + " devices for each index along " + std::string(first_axis) +
              ", or all of them as many, which make up an index or several along an axis");
}

/// This process' part of a mesh on the existing devices. Throws `error` if the mesh does not fit them.
template <class Mesh> processes::mesh_part part_of_mesh() {
  constexpr std::int64_t per_row = Mesh::devices_per_row(), size = Mesh::size(0);
  const processes::world* const all = processes::current_world();
  const bool is_alone = all == nullptr || all->count() == 1;
  const std::int64_t devices = parallax::device_count(), all_devices = is_alone ? devices : all->all_devices;
  if (size == dyn && (all_devices < per_row || (!is_alone && all_devices % per_row != 0)))
    throw error("mesh: there are " + std::to_string(all_devices) + " devices, and each index along " +
                std::string(Mesh::name(0)) + " takes " + std::to_string(per_row));
  const std::int64_t rows = size == dyn ? all_devices / per_row : size;
  if (is_alone ? rows * per_row > devices : rows * per_row != all_devices)
    throw error("mesh: it has " + std::to_string(rows * per_row) + " devices, and there are " +
                std::to_string(all_devices) +
                (is_alone ? "" : " of all processes, which take part with all they have"));
  std::array<std::int64_t, index_of(Mesh::rank)> sizes{rows};
  for (int axis = 1; axis < Mesh::rank; ++axis) sizes[index_of(axis)] = Mesh::size(axis);
  if (is_alone) return {sizes, 0, rows * per_row};
  check_parts(sizes, all->device_counts, per_row, Mesh::name(0));
  return {sizes, all->devices_before, devices};
}

/// The sizes of a mesh, by axis.
template <class Mesh> using mesh_sizes = std::array<std::int64_t, index_of(Mesh::rank)>;
/// `sizes_of_all`: of the whole mesh; `sizes_here`: of this process' part; and the sizes that arrays in this process
/// have: the whole mesh's, except along an axis of open size.
template <class Mesh> mesh_sizes<Mesh> sizes_of_all(const processes::mesh_part& part) {
  mesh_sizes<Mesh> sizes;
  for (int axis = 0; axis < Mesh::rank; ++axis) sizes[index_of(axis)] = part[axis].all;
  return sizes;
}
template <class Mesh> mesh_sizes<Mesh> sizes_here(const processes::mesh_part& part) {
  mesh_sizes<Mesh> sizes;
  for (int axis = 0; axis < Mesh::rank; ++axis) sizes[index_of(axis)] = part[axis].here;
  return sizes;
}
template <class Mesh> mesh_sizes<Mesh> sizes_of_blocks(const processes::mesh_part& part) {
  mesh_sizes<Mesh> sizes = sizes_of_all<Mesh>(part);
  if (Mesh::size(0) == dyn) sizes[0] = part[0].here;
  return sizes;
}

/// The extents of an array of `shape` that is cut along a partition of a mesh of these sizes. Throws `shape_error` if
/// it is not divided evenly.
template <class Mesh, partition Cut, std::size_t Rank>
auto cut_shape(const std::array<std::int64_t, Rank>& shape, const mesh_sizes<Mesh>& sizes) {
  std::array<std::int64_t, Rank + index_of(Cut.cut_count())> result{};
  std::size_t at = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    std::int64_t blocks = 1;
    for (int i = 0; i < Cut.cuts_of(static_cast<int>(d)); ++i) {
      result[at] = sizes[index_of(Cut.dimensions[d].axes[index_of(i)])];
      blocks *= result[at++];
    }
    if (shape[d] % blocks != 0)
      throw shape_error("shard_map: an array of the shape " + runtime::shape_text(shape) + " has " +
                        std::to_string(shape[d]) + " elements along axis " + std::to_string(d) + ", which " +
                        std::to_string(blocks) + " devices do not divide evenly; pad it, or use another mesh");
    result[at++] = shape[d] / blocks;
  }
  return result;
}

/// The dimensions of the cut array that lie along axes of the mesh, in the order of the axes.
template <class Mesh, partition Cut> std::vector<shard_axis> shard_axes(const mesh_sizes<Mesh>& sizes) {
  std::vector<shard_axis> axes;
  std::int64_t stride = 1;
  for (int axis = Mesh::rank; axis-- > 0; stride *= sizes[index_of(axis)])
    if (Cut.has(axis)) axes.insert(axes.begin(), {Cut.place_of(axis), sizes[index_of(axis)], stride});
  return axes;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
