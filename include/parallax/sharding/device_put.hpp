// Putting arrays on the devices of a mesh.
#pragma once

#include <parallax/arrays/borrow.hpp>
#include <parallax/arrays/memory/recycled_vector.hpp>
#include <parallax/backends/placing.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/lazy.hpp>
#include <parallax/runtime/eager.hpp>
#include <parallax/sharding/global_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax::PARALLAX_INLINE_VERSION {

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

/// The global array of this process' blocks, copied from `from`, which is cut along a mesh of the sizes `sizes_there`.
/// This process' devices are those from number `first` on.
template <class Mesh, partition Cut, auto Shape, class T>
auto on_mesh(const array<T, Shape>& from, const processes::mesh_part& part, const mesh_sizes<Mesh>& sizes_there,
             std::int64_t first) {
  using result_type = global_array<T, Shape, Mesh, Cut>;
  const auto shape_there = cut_shape<Mesh, Cut>(from.shape(), sizes_there);
  const std::vector<shard_axis> axes_there = shard_axes<Mesh, Cut>(sizes_there);
  const mesh_sizes<Mesh> sizes = sizes_of_blocks<Mesh>(part);
  const std::vector<shard_axis> axes = shard_axes<Mesh, Cut>(sizes);
  auto shape = shape_there;
  for (const shard_axis& each : axes) shape[index_of(each.axis)] = each.size;
  runtime::recycled_vector<int> devices;
  runtime::recycled_vector<buffer> blocks;
  for (std::int64_t p = 0; p < part.size(); ++p) {
    devices.push_back(static_cast<int>(p));
    blocks.push_back(placed_on(static_cast<int>(p), runtime::copy_piece_out(from.storage().data(), shape_there,
                                                                            sizeof(T), axes_there, first + p)));
  }
  return result_type::of_blocks(
      result_type::blocks_type::of_pieces(shape, std::move(devices), {axes.begin(), axes.end()}, std::move(blocks),
                                          !runtime::has_all_pieces(axes, index_of(part.size()))),
      part);
}

} // namespace detail

/// Puts an array, which all processes have, on the devices of a mesh: each gets a copy of its block. Counts the bytes
/// as moved to the devices. Throws `shape_error` if the devices do not divide a dimension evenly. JAX: device_put with
/// a NamedSharding
template <class T, auto Shape, class Mesh, class Spec> auto device_put(const array<T, Shape>& whole, Mesh, Spec) {
  constexpr detail::partition cut = detail::partition_of<Mesh>(Spec{});
  if constexpr (detail::can_be_cut<detail::extents_of<Shape>, Mesh, cut>()) {
    const processes::mesh_part own = detail::part_of_mesh<Mesh>();
    return detail::on_mesh<Mesh, cut>(whole, own, detail::sizes_of_all<Mesh>(own), own.begin());
  }
}
/// `device_put` of the value of an expression, such as a part of a field that `borrow` reads with strides.
template <detail::lazy_expression E, class Mesh, class Spec> auto device_put(const E& whole, Mesh to, Spec how) {
  return device_put(evaluate(whole), to, how);
}
/// `device_put` of a global array to another mesh, or cut in another way, through the host. Throws `error` if parts of
/// the array lie in other processes.
template <class T, auto Shape, class From, detail::partition Cut, class Mesh, class Spec>
auto device_put(const global_array<T, Shape, From, Cut>& x, Mesh to, Spec how) {
  return device_put(x.gather(), to, how);
}

/// The array that all processes' parts make. A part is the blocks of its process' devices, joined. If the spec names no
/// axis along which other processes have indices, the part is the whole array, alike on all processes. JAX:
/// make_array_from_process_local_data
template <class T, auto Shape, class Mesh, class Spec> auto global_from_local(const array<T, Shape>& part, Mesh, Spec) {
  constexpr detail::partition cut = detail::partition_of<Mesh>(Spec{});
  // static extents are the part's
  using extents_type = std::conditional_t<cut.cut_count() != 0, detail::extents_of<detail::extents_of<Shape>::rank>,
                                          detail::extents_of<Shape>>;
  if constexpr (detail::can_be_cut<extents_type, Mesh, cut>()) {
    const processes::mesh_part own = detail::part_of_mesh<Mesh>();
    return detail::on_mesh<Mesh, cut>(array<T, detail::shape_for<extents_type>>(part), own,
                                      detail::sizes_here<Mesh>(own), 0);
  }
}
/// `global_from_local` of the value of an expression, such as the inner part of a field with a halo: `borrow(first,
/// {ny, nx}, {pitch, 1})`.
template <detail::lazy_expression E, class Mesh, class Spec> auto global_from_local(const E& part, Mesh on, Spec how) {
  return global_from_local(evaluate(part), on, how);
}
/// `global_from_local` that checks the extents of the whole array. Throws `shape_error` if they are not `whole`: then
/// the processes, or their devices, lie in the mesh in another way than the caller thinks.
template <class Part, class Mesh, class Spec, std::size_t Rank>
auto global_from_local(const Part& part, Mesh on, Spec how, const extent (&whole)[Rank]) {
  auto made = global_from_local(part, on, how);
  static_assert(decltype(made)::rank == int{Rank}, "parallax: global_from_local takes an extent for each dimension");
  if (const auto wanted = runtime::numbers_of(whole); made.shape() != wanted)
    throw shape_error("global_from_local: the parts that processes gave make an array of the shape " +
                      runtime::shape_text(made.shape()) + ", which is to have " + runtime::shape_text(wanted) +
                      ": devices are taken row-major along the mesh, those of process 0 first, and this process has " +
                      std::to_string(made.part().size()) + " of them");
  return made;
}

} // namespace parallax::PARALLAX_INLINE_VERSION
