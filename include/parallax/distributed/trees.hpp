// What processes tell each other outside of programs: that they are there, and trees of arrays and numbers.
#pragma once

#include <parallax/arrays/slices.hpp>
#include <parallax/core/pytree.hpp>
#include <parallax/distributed/session.hpp>
#include <parallax/host/devices/thread_state.hpp>
#include <parallax/processes/bytes.hpp>
#include <parallax/processes/gather_bytes.hpp>
#include <parallax/runtime/value.hpp>
#include <parallax/sharding/global_array.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::distributed {

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

/// Waits until all processes have come to a barrier of this name. Throws `process_error` where they come to others.
/// JAX: multihost_utils.sync_global_devices
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

/// The trees of all processes, by their number: arrays and numbers, whose extents may differ. All processes call it.
/// JAX: multihost_utils.process_allgather
template <class Tree> std::vector<Tree> gather(const Tree& own) {
  std::vector<Tree> result;
  for (const std::vector<std::byte>& each :
       detail::gather(processes::gathering::trees, "gather", detail::bytes_of(own)))
    result.push_back(detail::tree_of<Tree>(each));
  return result;
}

/// The whole of an array that lies on the devices of all processes, for each of them. All processes call it.
template <class T, auto Shape, class Mesh, partition Cut>
array<T, Shape> gather(const global_array<T, Shape, Mesh, Cut>& x) {
  if (x.is_fully_addressable()) return x.gather();
  // along the first axis of the mesh each process has so many parts, one after another
  constexpr int axis = Cut.place_of(0);
  const auto here = x.blocks().gather();
  auto all_shape = here.shape();
  all_shape[index_of(axis)] = x.rows().all;
  auto whole = std::remove_cvref_t<decltype(here)>::uninitialised(all_shape);
  const plain_span<const std::int64_t> shape = here.shape();
  const std::int64_t outer = runtime::product(shape.first(index_of(axis)));
  const std::size_t row_bytes = index_of(runtime::product(shape.subspan(index_of(axis) + 1))) * sizeof(T);
  auto* const first_row = reinterpret_cast<std::byte*>(whole.mutable_data());
  std::int64_t before = 0;
  for (const auto& part : gather(here)) {
    auto like_here = part.shape();
    like_here[index_of(axis)] = here.shape(axis);
    if (like_here != here.shape())
      throw shape_error("distributed::gather: the blocks of one process have the shape " +
                        runtime::shape_text(here.shape()) + ", of another one " + runtime::shape_text(part.shape()) +
                        "; let global_from_local be given parts whose blocks are alike");
    const std::int64_t part_rows = part.shape(axis);
    runtime::copy_slices(part.storage().data(), part_rows, first_row + index_of(before) * row_bytes, x.rows().all,
                         outer, part_rows, row_bytes);
    before += part_rows;
  }
  return array<T, Shape>::adopt(whole.storage(), x.shape());
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

} // namespace parallax::distributed
