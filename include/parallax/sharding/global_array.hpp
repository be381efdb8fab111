// One array on the devices of a mesh, block by block, in this process and in others.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/sharded.hpp>
#include <parallax/core/version.hpp>
#include <parallax/sharding/cut_shape.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The block of a global array on one device: the indices of its first element in the whole array, and its elements, in
/// place. JAX: Shard
template <class T, int Rank> struct local_shard {
  int device = 0;
  std::array<std::int64_t, detail::index_of(Rank)> start{};
  array<T, Rank> values;
};

/// An array of elements of type `T` and shape `Shape` (as of `array`) whose dimensions lie along axes of a mesh as
/// `Cut` says. If there are several processes, each has the blocks of its own devices. `device_put`,
/// `global_from_local` and functions mapped by `shard_map` return it, and the latter take it without moving it. Copies
/// share their blocks. JAX: a jax.Array with a NamedSharding
template <element T, auto Shape, class Mesh, detail::partition Cut> class global_array {
 public:
  using value_type = T;
  using extents_type = detail::extents_of<Shape>;
  using mesh_type = Mesh;
  static constexpr detail::partition cut = Cut;
  static constexpr int rank = extents_type::rank;
  using shape_type = std::array<std::int64_t, detail::index_of(rank)>;
  /// The array of the blocks on this process' devices: it has a further dimension for each cut.
  using blocks_type = sharded<T, detail::shape_for<typename detail::cut_extents<extents_type, Mesh, Cut>::type>>;

  /// The global array with these blocks in this process.
  static global_array of_blocks(blocks_type blocks, const processes::mesh_part& part) {
    global_array result(std::move(blocks), part);
    std::size_t at = 0;
    for (int d = 0; d < rank; ++d) {
      std::int64_t& extent = result.lengths[detail::index_of(d)];
      extent = 1;
      for (int i = 0; i < Cut.cuts_of(d); ++i) {
        extent *= part[Cut.dimensions[detail::index_of(d)].axes[detail::index_of(i)]].all;
        ++at;
      }
      extent *= result.pieces.shape()[at++];
    }
    return result;
  }

  /// The extents of the whole array.
  const shape_type& shape() const { return lengths; }
  /// The extent along `axis`; a negative axis counts from the last.
  std::int64_t shape(int axis) const { return lengths[detail::index_of(runtime::checked_axis(axis, rank))]; }
  /// The number of elements of the whole array.
  std::int64_t size() const { return runtime::product(lengths); }

  /// The blocks on the devices of this process.
  const blocks_type& blocks() const { return pieces; }
  /// This process' part of the mesh.
  const processes::mesh_part& part() const { return on; }
  /// Whether all of it lies on devices of this process. JAX: is_fully_addressable
  bool is_fully_addressable() const { return divided_axis() < 0; }

  /// The blocks on the devices of this process, by device. JAX: addressable_shards
  std::vector<local_shard<T, rank>> local_shards() const {
    std::vector<local_shard<T, rank>> here;
    const auto& devices = pieces.devices();
    const shape_type block = block_shape();
    for (int p = 0; p < detail::count_of(devices); ++p) {
      local_shard<T, rank> one;
      one.device = devices[detail::index_of(p)];
      for (int d = 0; d < rank; ++d) one.start[detail::index_of(d)] = block_index(d, p) * block[detail::index_of(d)];
      one.values = array<T, rank>::adopt(pieces.shard_buffer(p), block);
      here.push_back(std::move(one));
    }
    return here;
  }

  /// The whole array, on the host. Counts its bytes as moved. Throws `error` if parts of it lie in other processes:
  /// `distributed::gather` fetches those.
  array<T, Shape> gather() const {
    if (const int axis = divided_axis(); axis >= 0)
      throw error("global_array: of the " + std::to_string(on[axis].all) + " parts along " +
                  std::string(Mesh::name(axis)) + " this process has " + std::to_string(on[axis].here) +
                  ", from number " + std::to_string(on[axis].first) +
                  " on; plx::distributed::gather(x) fetches the others");
    return array<T, Shape>::adopt(pieces.gather().storage(), lengths);
  }
  /// The whole array on the host with other extents static. Throws `shape_error` if a static extent differs.
  template <auto Other>
    requires(runtime::extents_agree<detail::extents_of<Other>, extents_type>())
  operator array<T, Other>() const {
    return gather();
  }

  /// The element at `indices`, one per dimension; negative ones count from the end. Counts as moved to the host. Throws
  /// `shape_error` for an index out of bounds, and an `error` that says where the element lies if it is in another
  /// process.
  template <std::integral... Index> T operator()(Index... indices) const {
    static_assert(sizeof...(Index) == detail::index_of(rank), "parallax: an array takes one index per dimension");
    const shape_type given{static_cast<std::int64_t>(indices)...};
    const shape_type block = block_shape();
    detail::mesh_sizes<Mesh> position{};
    std::int64_t offset = 0;
    for (int axis = 0; axis < Mesh::rank; ++axis) position[detail::index_of(axis)] = on[axis].first;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t index = runtime::checked_index(given[detail::index_of(d)], shape(d), d);
      std::int64_t number = index / std::max<std::int64_t>(block[detail::index_of(d)], 1);
      for (int i = Cut.cuts_of(d); i-- > 0;) {
        const int axis = Cut.dimensions[detail::index_of(d)].axes[detail::index_of(i)];
        position[detail::index_of(axis)] = number % on[axis].all;
        number /= on[axis].all;
      }
      offset = offset * block[detail::index_of(d)] + index % block[detail::index_of(d)];
    }
    std::int64_t device = 0;
    for (int axis = 0; axis < Mesh::rank; ++axis) {
      const processes::axis_part& along = on[axis];
      const std::int64_t index = position[detail::index_of(axis)];
      if (!along.contains(index))
        throw error("global_array: the element lies with another process, at number " + std::to_string(index) +
                    " along " + std::string(Mesh::name(axis)) + ", of which this one has " +
                    std::to_string(along.first) + " to " + std::to_string(along.first + along.here - 1) +
                    "; call plx::distributed::gather(x)");
      device = device * along.here + index - along.first;
    }
    runtime::count_read(pieces.shard_buffer(static_cast<int>(device)), sizeof(T));
    return pieces.shard_values(static_cast<int>(device))[detail::index_of(offset)];
  }
  /// The element of an array that has only one. Throws `shape_error` if there are more, and `error` if it is in another
  /// process. NumPy: ndarray.item
  T item() const {
    if (size() != 1)
      throw shape_error("global_array: item() of an array of the shape " + runtime::shape_text(lengths) +
                        ", which has not one element");
    return [&]<std::size_t... D>(std::index_sequence<D...>) {
      return (*this)((static_cast<void>(D), 0)...);
    }(std::make_index_sequence<detail::index_of(rank)>{});
  }

 private:
  global_array(blocks_type blocks, const processes::mesh_part& part) : pieces(std::move(blocks)), on(part) {}

  /// The first axis that cuts the array and along which other processes have indices; -1 if there is none.
  int divided_axis() const {
    for (int axis = 0; axis < Mesh::rank; ++axis)
      if (Cut.has(axis) && !on[axis].is_whole()) return axis;
    return -1;
  }

  shape_type block_shape() const {
    shape_type block;
    for (int d = 0, at = 0; d < rank; ++d) {
      at += Cut.cuts_of(d);
      block[detail::index_of(d)] = pieces.shape()[detail::index_of(at++)];
    }
    return block;
  }
  /// The number along dimension `d` of the block on the device at position `p` of this process.
  std::int64_t block_index(int d, int p) const {
    std::int64_t number = 0;
    for (int i = 0; i < Cut.cuts_of(d); ++i) {
      const int axis = Cut.dimensions[detail::index_of(d)].axes[detail::index_of(i)];
      std::int64_t stride = 1;
      for (int later = axis + 1; later < Mesh::rank; ++later) stride *= Mesh::size(later);
      number = number * on[axis].all + (on.begin() + p) / stride % on[axis].all;
    }
    return number;
  }

  blocks_type pieces;
  processes::mesh_part on;
  shape_type lengths{};
};

template <class T, auto Shape, class Mesh, detail::partition Cut>
array(const global_array<T, Shape, Mesh, Cut>&) -> array<T, Shape>;

namespace detail {
template <class T> inline constexpr bool is_global_array = false;
template <class T, auto Shape, class Mesh, partition Cut>
inline constexpr bool is_global_array<global_array<T, Shape, Mesh, Cut>> = true;
} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION
