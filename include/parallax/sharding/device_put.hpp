// Putting arrays on the devices of a mesh.
#pragma once

#include <parallax/sharding/global_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax {

namespace detail {

template <class Extents, class Mesh, partition Cut> constexpr bool can_be_cut() {
  using cut = cut_extents<Extents, Mesh, Cut>;
  static_assert(Cut.wrong == partition::fault::no_fault,
                "parallax: a spec names axes of its mesh, each of them once at most");
  static_assert(Cut.wrong != partition::fault::no_fault || Cut.entries <= Extents::rank,
                "parallax: a spec has at most one entry for each dimension of the array");
  static_assert(cut::rank <= max_rank, "parallax: the dimensions of an array and the axes that cut it are 8 at most");
  static_assert(!cut::fits || cut::is_even, "parallax: the devices along the axes that a spec names do not divide the "
                                            "array's dimension evenly: pad it, or use another mesh");
  return cut::is_even;
}

/// The global array whose blocks of this process are copied from `from`, which cut has the extents `all_blocks`: along
/// the first axis of the mesh `rows_there` of them, where this process' begin at `first`.
template <class Mesh, partition Cut, auto Shape, class T, std::size_t Rank>
auto on_mesh(const array<T, Shape>& from, const std::array<std::int64_t, Rank>& all_blocks, const mesh_rows& rows,
             std::int64_t first, std::int64_t rows_there) {
  using result_type = global_array<T, Shape, Mesh, Cut>;
  auto here = all_blocks;
  if (Cut.has(0)) here[index_of(Cut.place_of(0))] = rows.here;
  const std::int64_t per_row = Mesh::devices_per_row();
  const std::vector<shard_axis> from_axes = shard_axes<Mesh, Cut>(rows_there);
  std::vector<int> devices;
  std::vector<buffer> blocks;
  for (std::int64_t p = 0; p < rows.here * per_row; ++p) {
    devices.push_back(static_cast<int>(p));
    blocks.push_back(
        runtime::copy_piece_out(from.storage().data(), all_blocks, sizeof(T), from_axes, first * per_row + p));
    runtime::count_host_to_device(blocks.back().bytes());
  }
  return result_type::of_blocks(
      result_type::blocks_type::adopt(here, devices, shard_axes<Mesh, Cut>(rows.here), std::move(blocks)), rows);
}

} // namespace detail

/// Puts an array, which all processes have, on the devices of a mesh: each gets a copy of its block. Counts the bytes
/// as moved to the devices. Throws `shape_error` where the devices do not divide a dimension evenly. JAX: device_put
/// with a NamedSharding
template <class T, auto Shape, class Mesh, class Spec> auto device_put(const array<T, Shape>& whole, Mesh, Spec) {
  constexpr partition cut = partition_of<Mesh>(Spec{});
  if constexpr (detail::can_be_cut<extents_of<Shape>, Mesh, cut>()) {
    const detail::mesh_rows rows = detail::rows_of_mesh<Mesh>();
    return detail::on_mesh<Mesh, cut>(whole, detail::cut_shape<Mesh, cut>(whole.shape(), rows.all), rows, rows.before,
                                      rows.all);
  }
}
/// Moves a global array to another mesh, or cuts it another way, by way of the host. Throws `error` where parts of it
/// lie in other processes.
template <class T, auto Shape, class From, partition Cut, class Mesh, class Spec>
auto device_put(const global_array<T, Shape, From, Cut>& x, Mesh to, Spec how) {
  return device_put(x.gather(), to, how);
}

/// The array of which each process has its part: the blocks of its own devices, put together. Where the spec does not
/// name the first axis of the mesh, that is all of it, alike on all processes. JAX: make_array_from_process_local_data
template <class T, auto Shape, class Mesh, class Spec> auto global_from_local(const array<T, Shape>& part, Mesh, Spec) {
  constexpr partition cut = partition_of<Mesh>(Spec{});
  // static extents are those of the part
  using extents_type = std::conditional_t<cut.has(0), extents_of<extents_of<Shape>::rank>, extents_of<Shape>>;
  if constexpr (detail::can_be_cut<extents_type, Mesh, cut>()) {
    const detail::mesh_rows rows = detail::rows_of_mesh<Mesh>();
    return detail::on_mesh<Mesh, cut>(array<T, shape_for<extents_type>>(part),
                                      detail::cut_shape<Mesh, cut>(part.shape(), rows.here), rows, 0, rows.here);
  }
}

} // namespace parallax
