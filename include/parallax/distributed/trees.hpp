// Exchanges between processes outside of programs: barriers, and trees of arrays and numbers.
#pragma once

#include <parallax/arrays/memory/slices.hpp>
#include <parallax/arrays/pieces.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/distributed/session.hpp>
#include <parallax/host/devices/thread_state.hpp>
#include <parallax/processes/bytes.hpp>
#include <parallax/processes/gather_bytes.hpp>
#include <parallax/runtime/value.hpp>
#include <parallax/sharding/global_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION::distributed {

namespace detail {

using parallax::detail::recycled_vector;
using runtime::runtime_value;

/// The leaves of a tree one after another: type, extents, elements.
template <class Tree> std::vector<std::byte> bytes_of(const Tree& tree) {
  processes::byte_writer out;
  tree_for_each(
      [&](const auto& leaf) {
        runtime_value value = runtime::value_of(leaf);
        out.put(value.type);
        out.put(value.shape.size());
        for (std::int64_t extent : value.shape) out.put(extent);
        out.put(value.host_data(), value.bytes());
      },
      tree);
  return std::move(out.bytes);
}
inline runtime_value read_value(processes::byte_reader& in, element_type type) {
  runtime_value value;
  value.type = in.take<element_type>();
  if (value.type != type) throw error("distributed: processes give trees of different types");
  for (int rank = in.take<int>(); rank > 0; --rank) value.shape.push_back(in.take<std::int64_t>());
  value.on_host = true;
  value.host = buffer::allocate(value.bytes());
  if (value.bytes() > 0) std::memcpy(value.host.data(), in.take(value.bytes()), value.bytes());
  return value;
}
template <class T, auto Shape>
array<T, Shape> read_leaf(std::type_identity<array<T, Shape>> as, processes::byte_reader& in) {
  return runtime::array_of(as, read_value(in, element_type_of<T>));
}
template <scalar T> T read_leaf(std::type_identity<T>, processes::byte_reader& in) {
  const runtime_value value = read_value(in, scalar_type_of<T>);
  return static_cast<T>(*reinterpret_cast<const element_t<scalar_type_of<T>>*>(value.host.data()));
}
template <class Tree> Tree tree_of(const std::vector<std::byte>& bytes) {
  processes::byte_reader in(bytes.data(), bytes.size());
  auto leaf = [&]<class L, int Number>() { return read_leaf(std::type_identity<L>{}, in); };
  return parallax::detail::tree_build<Tree>(leaf);
}

inline std::vector<std::vector<std::byte>> gather(processes::gathering kind, std::string_view what,
                                                  const std::vector<std::byte>& own) {
  processes::world* const all = processes::current_world();
  if (all == nullptr) return {own};
  if (host::current_device() >= 0)
    throw error("distributed: a device's part of a program called " + std::string(what) +
                ", for which its process has no time meanwhile");
  processes::world::call now(*all);
  return processes::gather_bytes(*all, kind, what, own);
}

} // namespace detail

/// Waits until all processes have come to a barrier of this name. Throws `process_error` if one comes to another
/// barrier. JAX: multihost_utils.sync_global_devices
inline void barrier(std::string_view name) {
  const auto bytes_of_name = std::as_bytes(std::span(name.data(), name.size()));
  const std::vector<std::byte> own(bytes_of_name.begin(), bytes_of_name.end());
  const auto names = detail::gather(processes::gathering::barrier, "barrier \"" + std::string(name) + '"', own);
  for (std::size_t p = 0; p < names.size(); ++p)
    if (names[p] != own)
      throw process_error(static_cast<int>(p),
                          "barrier: process " + std::to_string(process_index()) + " came to \"" + std::string(name) +
                              "\", process " + std::to_string(p) + " to \"" +
                              std::string(reinterpret_cast<const char*>(names[p].data()), names[p].size()) + '"');
}

/// By process: its tree of arrays and numbers, whose extents may differ. All processes call it. JAX:
/// multihost_utils.process_allgather
template <class Tree> std::vector<Tree> gather(const Tree& own) {
  std::vector<Tree> result;
  for (const std::vector<std::byte>& each :
       detail::gather(processes::gathering::trees, "gather", detail::bytes_of(own)))
    result.push_back(detail::tree_of<Tree>(each));
  return result;
}

namespace detail {

/// The blocks of which this process has the first copy, one behind another, and their places in the mesh.
template <class T, class Blocks, partition Cut> struct distinct_blocks {
  array<T, 2> values;
  array<std::int64_t, 1> places;

  distinct_blocks(const Blocks& blocks, const processes::mesh_part& part) {
    std::vector<std::int64_t> positions;
    for (std::int64_t p = 0; p < part.size(); ++p)
      if (is_first(part, p)) positions.push_back(p);
    values = array<T, 2>::uninitialised({std::ssize(positions), blocks.shard_size()});
    places = array<std::int64_t, 1>::uninitialised({std::ssize(positions)});
    T* to = values.mutable_data();
    for (std::size_t k = 0; k < positions.size(); ++k) {
      to = std::ranges::copy(read(blocks, positions[k]), to).out;
      places.mutable_data()[k] = part.begin() + positions[k];
    }
    // others may wait for the program that makes the blocks, so it has to end here before this process waits for them
    if (positions.empty()) read(blocks, 0);
  }

 private:
  static std::span<const T> read(const Blocks& blocks, std::int64_t position) {
    const std::span<const T> block = blocks.shard_values(static_cast<int>(position));
    runtime::count_read(blocks.shard_buffer(static_cast<int>(position)), block.size_bytes());
    return block;
  }
  /// Whether no earlier place has the same block: the place has index 0 along all axes that do not cut the array.
  static bool is_first(const processes::mesh_part& part, std::int64_t position) {
    for (int axis = part.rank(); axis-- > 0; position /= part[axis].here)
      if (!Cut.has(axis) && part[axis].first + position % part[axis].here != 0) return false;
    return true;
  }
};

} // namespace detail

/// The whole of an array that lies on the devices of all processes, on every process. All processes call it.
template <class T, auto Shape, class Mesh, partition Cut>
array<T, Shape> gather(const global_array<T, Shape, Mesh, Cut>& x) {
  if (x.is_fully_addressable()) return x.gather();
  using blocks = detail::distinct_blocks<T, typename std::remove_cvref_t<decltype(x)>::blocks_type, Cut>;
  const blocks here(x.blocks(), x.part());
  const auto sizes = parallax::detail::sizes_of_all<Mesh>(x.part());
  const auto whole_shape = parallax::detail::cut_shape<Mesh, Cut>(x.shape(), sizes);
  const std::vector<shard_axis> axes = parallax::detail::shard_axes<Mesh, Cut>(sizes);
  auto whole = array<T, Shape>::uninitialised(x.shape());
  for (const auto& [values, places] : gather(std::pair(here.values, here.places))) {
    if (values.shape(1) != here.values.shape(1) || values.shape(0) != places.size())
      throw shape_error("distributed::gather: the blocks of one process have " + std::to_string(here.values.shape(1)) +
                        " elements, of another one " + std::to_string(values.shape(1)) +
                        "; let global_from_local be given parts whose blocks are alike");
    const std::byte* from = values.storage().data();
    for (std::int64_t k = 0; k < places.size(); ++k)
      runtime::for_each_run_of_piece(
          whole_shape, sizeof(T), axes, places(k), [&](std::size_t offset, std::size_t bytes) {
            runtime::copy_bytes(reinterpret_cast<std::byte*>(whole.mutable_data()) + offset, from, bytes);
            from += bytes;
          });
  }
  return whole;
}

/// The tree of one process, for all. All processes call it. JAX: multihost_utils.broadcast_one_to_all
template <class Tree> Tree broadcast_from(int process, const Tree& own) {
  if (process < 0 || process >= process_count())
    throw error("distributed::broadcast_from: there is no process " + std::to_string(process) + " of " +
                std::to_string(process_count()));
  const std::vector<std::byte> sent = process_index() == process ? detail::bytes_of(own) : std::vector<std::byte>{};
  return detail::tree_of<Tree>(
      detail::gather(processes::gathering::one_tree, "broadcast_from", sent)[static_cast<std::size_t>(process)]);
}

} // namespace parallax::PARALLAX_INLINE_VERSION::distributed
