// Calling a function mapped by shard_map with arrays.
#pragma once

#include <parallax/arrays/memory/slices.hpp>
#include <parallax/backends/execute_donating.hpp>
#include <parallax/core/version.hpp>
#include <parallax/sharding/device_put.hpp>
#include <parallax/transforms/maps/shard_map.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The partitions read from specs, as a constant; empty ones if the specs do not fit the tree, which the program then
/// reports.
template <std::size_t Count, class Entries> constexpr auto constant_partitions(const Entries& read) {
  std::array<partition, Count> all{};
  for (std::size_t k = 0; read.fit == entry_fit::fits && k != Count; ++k) all[k] = read.values[k];
  return all;
}

template <class L> inline constexpr bool is_host_array = false;
template <class T, auto Shape> inline constexpr bool is_host_array<array<T, Shape>> = true;

/// This process' part of a cut array, one of whose dimensions lies along an axis of the mesh.
template <class T, auto Shape>
array<T, Shape> part_of(const array<T, Shape>& whole, int axis, const processes::axis_part& rows) {
  const plain_span<const std::int64_t> shape = whole.shape();
  auto part_shape = whole.shape();
  part_shape[index_of(axis)] = rows.here;
  auto part = array<T, Shape>::uninitialised(part_shape);
  const std::int64_t outer = runtime::product(shape.first(index_of(axis)));
  const std::size_t row_bytes = index_of(runtime::product(shape.subspan(index_of(axis) + 1))) * sizeof(T);
  runtime::copy_slices(whole.storage().data() + index_of(rows.first) * row_bytes, rows.all,
                       reinterpret_cast<std::byte*>(part.mutable_data()), rows.here, outer, rows.here, row_bytes);
  return part;
}

/// An argument's leaf as its blocks.
template <class Mesh, partition Cut, class L> auto blocks_of(const L& leaf, const processes::mesh_part& part) {
  if constexpr (is_host_array<L>) {
    using cut = typename cut_extents<typename L::extents_type, Mesh, Cut>::type;
    using blocks_type = array<typename L::value_type, shape_for<cut>>;
    const auto whole = blocks_type::adopt(leaf.storage(), cut_shape<Mesh, Cut>(leaf.shape(), sizes_of_all<Mesh>(part)));
    if (!Cut.has(0) || Mesh::size(0) != dyn || part[0].is_whole()) return whole;
    return part_of(whole, Cut.place_of(0), part[0]);
  } else if constexpr (is_global_array<L>) {
    return leaf.blocks();
  } else {
    return leaf;
  }
}

/// A result's leaf as a global array.
template <class Mesh, partition Cut, class L> auto global_of(const L& leaf, const processes::mesh_part& part) {
  using extents_type = typename whole_extents<typename L::extents_type, Cut>::type;
  return global_array<typename L::value_type, shape_for<extents_type>, Mesh, Cut>::of_blocks(leaf, part);
}

/// The leaves of trees, each replaced by `convert.template operator()<Number>(leaf)`.
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

/// Whether a leaf lies on the mesh as its spec says.
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

/// A call of a function mapped by shard_map with arrays, global arrays and numbers.
template <class Function, class Mesh, class InSpecs, class OutSpecs, class... Args>
struct mesh_call<shard_mapped<Function, Mesh, InSpecs, OutSpecs>, Args...> {
  using blocks_function = mapped_blocks<Function, Mesh, InSpecs, OutSpecs>;
  template <class Tree> using tree_type = std::remove_cvref_t<decltype(evaluated(std::declval<const Tree&>()))>;
  using each = std::index_sequence_for<Args...>;

  static constexpr auto cuts =
      constant_partitions<index_of((0 + ... + leaf_count<Args>))>(InSpecs::template read<Mesh, tree_type<Args>...>());
  static constexpr bool any_lies_elsewhere = any_leaf<Mesh, cuts, tree_type<Args>...>(leaf_fit::lies_elsewhere, each{});

  /// Whether the program over blocks can run. If not, `execute` gives the reason for the function and its whole
  /// arguments. If an axis is of open size, `refuse` does: such a function over whole arguments has another error,
  /// which would be reported instead.
  static constexpr bool is_runnable() {
    if constexpr (any_lies_elsewhere) return true; // `run` reports it
    else if constexpr (any_leaf<Mesh, cuts, tree_type<Args>...>(leaf_fit::is_uneven, each{})) return false;
    else return is_runnable(each{});
  }

  static constexpr bool is_refused_on_blocks() {
    if constexpr (any_leaf<Mesh, cuts, tree_type<Args>...>(leaf_fit::is_uneven, each{})) return false;
    else return Mesh::size(0) == dyn;
  }
  /// Reports why the program over blocks cannot run. The text comes from here, as few calls below the user's line as
  /// elsewhere.
  static auto refuse(const Function& function, const Args&... args) {
    using refused = decltype(program_over_blocks(each{}));
    if constexpr (!std::is_void_v<refused>) print_error<error_of<refused>>();
    return refuse(each{}, blocks_function{function}, args...);
  }

  static auto run(const Function& function, const Args&... args) {
    static_assert(!any_lies_elsewhere, "parallax: shard_map takes a global array that lies on its mesh as in_specs "
                                       "says: plx::device_put(x, mesh, spec) moves it there");
    if constexpr (!any_lies_elsewhere) return run(each{}, blocks_function{function}, args...);
  }

  /// `run`, which also uses up the donated arguments.
  template <class Donated, class... Given>
  static auto run_donating(const Function& function, Donated donated, Given&... args) {
    return run_donating(each{}, blocks_function{function}, donated, args...);
  }

  /// An argument with arrays in place of global arrays; only its type is used.
  template <class Arg> static auto as_arrays(const Arg& arg) {
    return converted_tree(evaluated(arg), [&]<int>(const auto& leaf) {
      using leaf_type = std::remove_cvref_t<decltype(leaf)>;
      if constexpr (is_global_array<leaf_type>)
        return unknown_result<array<typename leaf_type::value_type, shape_for<typename leaf_type::extents_type>>>();
      else return leaf;
    });
  }

 private:
  template <std::size_t Which, class Arg> static auto blocks(const Arg& arg, const processes::mesh_part& part) {
    return converted_tree(evaluated(arg), [&]<int Number>(const auto& leaf) {
      return blocks_of<Mesh, cuts[index_of(first_leaf<Which, Args...>() + Number)]>(leaf, part);
    });
  }
  template <std::size_t I>
  using block_tree =
      decltype(blocks<I>(std::declval<const std::tuple_element_t<I, std::tuple<Args...>>&>(), processes::mesh_part{}));
  template <std::size_t... I> static constexpr bool is_runnable(std::index_sequence<I...>) {
    return detail::is_runnable<blocks_function, block_tree<I>...>();
  }
  /// Void if there is none.
  template <std::size_t... I> static auto program_over_blocks(std::index_sequence<I...>) {
    if constexpr (has_program<blocks_function, block_tree<I>...>())
      return program<blocks_function, argument_t<block_tree<I>>...>{};
  }
  template <std::size_t... I>
  static auto refuse(std::index_sequence<I...>, const blocks_function& function, const Args&... args) {
    return execute(function, blocks<I>(args, processes::mesh_part{})...);
  }
  template <std::size_t... I>
  static auto run(std::index_sequence<I...>, const blocks_function& function, const Args&... args) {
    const processes::mesh_part part = part_of_mesh<Mesh>();
    return global_results(execute(function, blocks<I>(args, part)...), part);
  }
  /// Takes the blocks out of the global arrays, so that this call alone has them. If none has been changed, they go
  /// back.
  template <class Donated, std::size_t... I, class... Given>
  static auto run_donating(std::index_sequence<I...>, const blocks_function& function, Donated donated,
                           Given&... args) {
    const processes::mesh_part part = part_of_mesh<Mesh>();
    std::tuple<decltype(blocks<I>(args, part))...> trees(blocks<I>(args, part)...);
    (take_out<Donated, I>(args), ...);
    try {
      auto results = execute_donating(function, donated, std::get<I>(trees)...);
      use_up<Donated>(args...);
      return global_results(results, part);
    } catch (...) {
      (put_back<Donated, I>(args, std::get<I>(trees), part), ...);
      throw;
    }
  }
  template <class Donated, std::size_t I, class Arg> static void take_out(Arg& arg) {
    auto one = []<class L>(L& leaf) {
      if constexpr (is_global_array<L>) [[maybe_unused]]
        const L gone = std::move(leaf);
    };
    if constexpr (Donated::has(I)) tree_for_each(one, arg);
  }
  template <class Donated, std::size_t I, class Arg, class Tree>
  static void put_back(Arg& arg, const Tree& blocks_of_arg, const processes::mesh_part& part) {
    if constexpr (Donated::has(I)) {
      const auto all = flat_leaves(blocks_of_arg);
      arg = converted_tree(arg, [&]<int Number>(const auto& leaf) {
        using leaf_type = std::remove_cvref_t<decltype(leaf)>;
        const auto& own = std::get<std::size_t{Number}>(all);
        if constexpr (is_global_array<leaf_type>)
          if (own.has_pieces()) return leaf_type::of_blocks(own, part);
        return leaf;
      });
    }
  }
  template <class Results> static auto global_results(const Results& results, const processes::mesh_part& part) {
    using tree = std::remove_cvref_t<decltype(results)>;
    return converted_tree(results, [&]<int Number>(const auto& leaf) {
      constexpr auto out = constant_partitions<index_of(leaf_count<tree>)>(OutSpecs::template read<Mesh, tree>());
      return global_of<Mesh, out[index_of(Number)]>(leaf, part);
    });
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

namespace parallax::PARALLAX_INLINE_VERSION {

/// Calls a function that shard_map maps, and uses up the blocks of donated global arrays.
template <class Function, class Mesh, class InSpecs, class OutSpecs, class Donated, class... Args>
auto execute_donating(const shard_mapped<Function, Mesh, InSpecs, OutSpecs>& function, Donated donated,
                      Args&&... args) {
  using call = detail::mesh_call<shard_mapped<Function, Mesh, InSpecs, OutSpecs>, std::remove_cvref_t<Args>...>;
  constexpr bool can_donate = detail::can_donate<Donated, Args...>();
  if constexpr (can_donate && call::is_runnable()) return call::run_donating(function.function, donated, args...);
  else return function(args...);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
