// Expressions of arrays whose elements lie with strides in memory.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/extent_arguments.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The type of `strides<...>`: an empty class that lists strides, in elements.
template <std::int64_t... Strides> struct strides_t {
  static_assert(((Strides >= dyn) && ...), "parallax: a stride is not negative, or it is parallax::dyn");

  static constexpr int rank = static_cast<int>(sizeof...(Strides));
  static constexpr std::array<std::int64_t, sizeof...(Strides)> values{Strides...};
};
/// Strides of which some are known while compiling, as the template argument of `borrow`: `strides<dyn, 1>`. Programs
/// read faster along an axis whose stride is known to be 1.
template <std::int64_t... Strides> inline constexpr strides_t<Strides...> strides{};

namespace detail {

/// Reads elements of memory by extents and strides, the operands. The types give extents and strides that are known
/// while compiling.
template <class Extents, class Strides>
struct as_strided_operation : operation<as_strided_operation<Extents, Strides>> {
  template <std::size_t Rank>
  static constexpr tracer apply(context& trace, tracer memory, const extent_list<Rank>& shape,
                                const extent_list<Rank>& distances) {
    const extent_list<Rank> known_shape = with_known(shape, Extents::values),
                            known_strides = with_known(distances, Strides::values);
    const primitives::stride_parameters where{dims_of(trace, "borrow", known_shape),
                                              dims_of(trace, "borrow", known_strides)};
    return trace.failed ? memory : emit<primitives::as_strided>({memory}, where);
  }

 private:
  template <std::size_t Rank>
  static constexpr extent_list<Rank> with_known(extent_list<Rank> list, const std::array<std::int64_t, Rank>& known) {
    for (std::size_t i = 0; i < Rank; ++i)
      if (known[i] != dyn) list.values[i] = known[i];
    return list;
  }
};

template <class T> inline constexpr bool is_strided = false;
template <class Extents, class Strides, class... Operands>
inline constexpr bool is_strided<lazy<as_strided_operation<Extents, Strides>, Operands...>> = true;

/// Whether a tree has leaves with strides.
template <class T> constexpr bool has_strided() {
  return any_leaf<T>([]<class L>(std::type_identity<L>) { return is_strided<L>; });
}

/// The arguments that a tree's leaves become: three for a leaf with strides (memory, extents, strides), the leaf itself
/// otherwise.
template <class T> constexpr auto flat_leaves(const T& tree) {
  if constexpr (is_strided<T>) {
    return std::apply([](const auto&... operand) { return std::tuple<decltype(operand)...>(operand...); },
                      tree.operands);
  } else if constexpr (tree_node<T>) {
    return std::apply([](const auto&... child) { return std::tuple_cat(flat_leaves(child)...); }, fields(tree));
  } else {
    return std::tuple<const T&>(tree);
  }
}
/// Counts the flat leaves of a tree's leaves. It is no lambda: nvcc 13 crashes on one in a variable template.
struct flat_leaf_counter {
  std::size_t* starts;
  template <class L, int Number> constexpr int operator()() const {
    starts[Number + 1] = starts[Number] + (is_strided<L> ? 3 : 1);
    return 0;
  }
};
/// By leaf of a tree: the number of its first flat leaf.
template <class T> constexpr auto count_flat_leaves() {
  std::array<std::size_t, std::size_t{leaf_count<T>} + 1> starts{};
  const flat_leaf_counter leaf{starts.data()};
  static_cast<void>(tree_build<T>(leaf));
  return starts;
}
template <class T> inline constexpr auto flat_starts = count_flat_leaves<T>();

/// A function of trees of these types, as a function of their flat leaves. Programs read strided elements in place.
template <class Function, class... Trees> struct of_flat_leaves {
  template <class... Leaves> constexpr auto operator()(const Leaves&... leaves) const {
    const auto all = std::tie(leaves...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Function{}(rebuilt<Trees, start_of(I)>(all)...);
    }(std::index_sequence_for<Trees...>{});
  }

 private:
  /// Where the leaves of a tree begin.
  static constexpr std::size_t start_of(std::size_t tree) {
    const std::size_t widths[] = {flat_starts<Trees>.back()..., 0};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < tree; ++i) sum += widths[i];
    return sum;
  }
  template <class Tree, std::size_t First, class Leaves> static constexpr auto rebuilt(const Leaves& all) {
    auto leaf = [&]<class L, int Number>() {
      constexpr std::size_t at = First + flat_starts<Tree>[std::size_t{Number}];
      if constexpr (is_strided<L>)
        return strided_leaf(std::type_identity<L>{}, all, std::integral_constant<std::size_t, at>{});
      else return std::get<at>(all);
    };
    return tree_build<Tree>(leaf);
  }
  template <class Operation, class... Operands, class Leaves, std::size_t At>
  static constexpr tracer strided_leaf(std::type_identity<lazy<Operation, Operands...>>, const Leaves& all,
                                       std::integral_constant<std::size_t, At>) {
    const tracer memory = std::get<At>(all);
    return Operation::apply(*memory.owner, memory, std::get<At + 1>(all), std::get<At + 2>(all));
  }
};

} // namespace detail
} // namespace parallax::PARALLAX_INLINE_VERSION
