// Calling a function mapped by shard_map with arrays.
#pragma once

#include <parallax/sharding/device_put.hpp>
#include <parallax/transforms/shard_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax {

namespace detail {

/// What is read of specs as a constant; nothing where they do not fit the tree, which the program says then.
template <std::size_t Count, class Entries> constexpr auto constant_partitions(const Entries& read) {
  std::array<partition, Count> all{};
  for (std::size_t k = 0; read.fit == entry_fit::fits && k != Count; ++k) all[k] = read.values[k];
  return all;
}

template <class L> inline constexpr bool is_host_array = false;
template <class T, auto Shape> inline constexpr bool is_host_array<array<T, Shape>> = true;

/// The part of a cut array that lies along this process' rows of the mesh.
template <class T, auto Shape> array<T, Shape> part_of(const array<T, Shape>& whole, int axis, const mesh_rows& rows) {
  const plain_span<const std::int64_t> shape = whole.shape();
  auto part_shape = whole.shape();
  part_shape[index_of(axis)] = rows.here;
  auto part = array<T, Shape>::uninitialised(part_shape);
  const std::int64_t outer = runtime::product(shape.first(index_of(axis)));
  const std::size_t row = index_of(runtime::product(shape.subspan(index_of(axis) + 1)));
  for (std::int64_t i = 0; i < outer; ++i)
    std::copy_n(whole.data() + index_of(i * rows.all + rows.before) * row, index_of(rows.here) * row,
                part.mutable_data() + index_of(i * rows.here) * row);
  return part;
}

/// An argument's leaf as its blocks.
template <class Mesh, partition Cut, class L> auto blocks_of(const L& leaf, const mesh_rows& rows) {
  if constexpr (is_host_array<L>) {
    using cut = typename cut_extents<typename L::extents_type, Mesh, Cut>::type;
    using blocks_type = array<typename L::value_type, shape_for<cut>>;
    const auto whole = blocks_type::adopt(leaf.storage(), cut_shape<Mesh, Cut>(leaf.shape(), rows.all));
    if (!Cut.has(0) || rows.here == rows.all) return whole;
    return part_of(whole, Cut.place_of(0), rows);
  } else if constexpr (is_global_array<L>) {
    return leaf.blocks();
  } else {
    return leaf;
  }
}

/// A result's leaf as a global array.
template <class Mesh, partition Cut, class L> auto global_of(const L& leaf, const mesh_rows& rows) {
  if constexpr (requires { typename L::numbers; }) { // sharded: others stand for results of a program with an error
    using extents_type = typename whole_extents<typename L::extents_type, Cut>::type;
    return global_array<typename L::value_type, shape_for<extents_type>, Mesh, Cut>::of_blocks(leaf, rows);
  } else {
    return leaf;
  }
}

/// The leaves of trees, each changed by `convert.template operator()<Number>(leaf)`.
template <class Tree, class Convert> auto converted_tree(const Tree& tree, const Convert& convert) {
  const auto leaves = flat_leaves(tree);
  auto leaf = [&]<class L, int Number>() {
    return convert.template operator()<Number>(std::get<std::size_t{Number}>(leaves));
  };
  return tree_build<Tree>(leaf);
}

/// The number of the first leaf of tree `Which`.
template <std::size_t Which, class... Trees> constexpr int first_leaf() {
  const int counts[] = {leaf_count<Trees>..., 0};
  int sum = 0;
  for (std::size_t k = 0; k != Which; ++k) sum += counts[k];
  return sum;
}

/// What a leaf is to a mesh.
enum class leaf_fit { fits, is_uneven, lies_elsewhere };
template <class L, class Mesh, partition Cut> constexpr leaf_fit fit_of_leaf() {
  if constexpr (is_global_array<L>) {
    return std::is_same_v<typename L::mesh_type, Mesh> && L::cut == Cut ? leaf_fit::fits : leaf_fit::lies_elsewhere;
  } else {
    bool is_even = Cut == partition{};
    if constexpr (is_host_array<L>) is_even = cut_extents<typename L::extents_type, Mesh, Cut>::is_even;
    return is_even ? leaf_fit::fits : leaf_fit::is_uneven;
  }
}
template <class Mesh, auto& In, class... Args, std::size_t... I>
constexpr bool any_leaf(leaf_fit asked, std::index_sequence<I...>) {
  auto tree = [&]<class Tree, std::size_t First>() {
    bool any = false;
    auto leaf = [&]<class L, int Number>() {
      any = any || fit_of_leaf<L, Mesh, In[First + std::size_t{Number}]>() == asked;
      return 0;
    };
    static_cast<void>(tree_build<Tree>(leaf));
    return any;
  };
  return (tree.template operator()<Args, index_of(first_leaf<I, Args...>())>() || ...);
}

/// How the leaves of arguments lie on a mesh.
template <class Mesh, class InSpecs, class... Args> struct arguments_on_mesh {
  static constexpr auto cuts =
      constant_partitions<index_of((0 + ... + leaf_count<Args>))>(InSpecs::template read<Mesh, Args...>());
  template <leaf_fit Asked>
  static constexpr bool any = any_leaf<Mesh, cuts, Args...>(Asked, std::index_sequence_for<Args...>{});
};

} // namespace detail

/// Calls a function mapped by shard_map with arrays, global arrays and numbers.
template <class Function, class Mesh, class InSpecs, class OutSpecs, class... Args>
auto execute_on_mesh(const shard_mapped<Function, Mesh, InSpecs, OutSpecs>& mapped, const Args&... args) {
  using arguments = detail::arguments_on_mesh<Mesh, InSpecs, std::remove_cvref_t<decltype(detail::evaluated(args))>...>;
  if constexpr (arguments::template any<detail::leaf_fit::lies_elsewhere>) {
    static_assert(!arguments::template any<detail::leaf_fit::lies_elsewhere>,
                  "parallax: shard_map takes a global array that lies on its mesh as in_specs says: "
                  "plx::device_put(x, mesh, spec) moves it there");
  } else if constexpr (arguments::template any<detail::leaf_fit::is_uneven>) {
    return execute(mapped, args...); // whose program says what is wrong
  } else {
    const detail::mesh_rows rows = detail::rows_of_mesh<Mesh>();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      constexpr auto first = std::array{detail::first_leaf<I, Args...>()...};
      auto blocks = [&]<std::size_t Which>(const auto& arg) {
        return detail::converted_tree(arg, [&]<int Number>(const auto& leaf) {
          return detail::blocks_of<Mesh, arguments::cuts[index_of(first[Which] + Number)]>(leaf, rows);
        });
      };
      const auto results = execute(detail::mapped_blocks<Function, Mesh, InSpecs, OutSpecs>{mapped.function},
                                   blocks.template operator()<I>(detail::evaluated(args))...);
      using tree = std::remove_cvref_t<decltype(results)>;
      return detail::converted_tree(results, [&]<int Number>(const auto& leaf) {
        constexpr auto cuts =
            detail::constant_partitions<index_of(leaf_count<tree>)>(OutSpecs::template read<Mesh, tree>());
        return detail::global_of<Mesh, cuts[index_of(Number)]>(leaf, rows);
      });
    }(std::index_sequence_for<Args...>{});
  }
}

} // namespace parallax
