// A direct call: it goes from arguments to results without any code that knows types at run time only.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/direct/direct_extents.hpp>
#include <parallax/host/direct/direct_steps.hpp>
#include <parallax/host/direct/loop_call.hpp>
#include <parallax/host/direct/straight_call.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/runtime/result_memory.hpp>
#include <parallax/runtime/value.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {
struct result_maker {
  /// An array of a valid shape, with `size` elements that are yet to be written.
  template <class Array> static PARALLAX_INLINE Array make(const typename Array::shape_type& shape, std::int64_t size) {
    return Array(shape, size, typename Array::unset{});
  }
  /// The address of the elements to be written.
  template <class Array> static PARALLAX_INLINE std::byte* bytes_of(Array& result) {
    return reinterpret_cast<std::byte*>(result.elements.data());
  }
};
} // namespace detail

namespace host::PARALLAX_INLINE_REGISTERS {

/// The leaves of a call's arguments as a program finds them.
template <class... Args> class direct_arguments {
  static constexpr std::size_t leaf_total = index_of((0 + ... + leaf_count<Args>));
  static constexpr std::size_t room = leaf_total == 0 ? 1 : leaf_total;

 public:
  const std::byte* values[room];    ///< by leaf, the first element; leaves without elements are left out
  const std::int64_t* shapes[room]; ///< by leaf, the extents

  PARALLAX_INLINE explicit direct_arguments(const Args&... args) {
    [[maybe_unused]] auto add = [&]<class L>(const L& leaf) PARALLAX_INLINE_LAMBDA { add_leaf(leaf); };
    (tree_for_each(add, args), ...);
  }
  direct_arguments(const direct_arguments&) = delete;
  direct_arguments& operator=(const direct_arguments&) = delete;

 private:
  std::size_t leaves = 0, value_total = 0;
  alignas(std::int64_t) std::byte numbers[room][sizeof(std::int64_t)];
  std::int64_t lists[room][max_rank];

  template <class T, auto Shape> PARALLAX_INLINE void add_leaf(const array<T, Shape>& x) {
    values[value_total++] = reinterpret_cast<const std::byte*>(x.data());
    shapes[leaves++] = x.shape().data();
  }
  template <scalar T> PARALLAX_INLINE void add_leaf(const T& x) {
    using number = element_t<scalar_type_of<T>>;
    const number converted = static_cast<number>(x);
    __builtin_memcpy(numbers[leaves], &converted, sizeof converted);
    values[value_total++] = numbers[leaves];
    shapes[leaves++] = nullptr;
  }
  template <std::size_t Rank> PARALLAX_INLINE void add_leaf(const extent_list<Rank>& list) {
    std::int64_t* next = lists[leaves];
    for (const auto& extent : list.view()) *next++ = extent.number();
    shapes[leaves] = lists[leaves];
    ++leaves;
  }
  template <class T>
    requires parallax::detail::is_static_leaf<T>
  PARALLAX_INLINE void add_leaf(const T&) {
    shapes[leaves++] = nullptr;
  }
};

/// Whether a tree has leaves that lie on devices.
template <class T> inline constexpr bool is_spread_leaf = false;
template <class T, auto Shape> inline constexpr bool is_spread_leaf<sharded<T, Shape>> = true;
template <class T> constexpr bool has_spread_leaves() {
  if constexpr (parallax::detail::is_std_array<T>) return has_spread_leaves<typename T::value_type>();
  else if constexpr (tree_node<T>) {
    return []<class... C>(std::type_identity<std::tuple<C...>>) {
      return (has_spread_leaves<C>() || ...);
    }(std::type_identity<parallax::detail::children_t<T>>{});
  } else {
    return is_spread_leaf<T>;
  }
}

/// Whether calls of a program with such arguments are direct.
template <class Program, class... Args>
inline constexpr bool is_direct = direct_steps<Program>::are_direct && !(has_spread_leaves<Args>() || ...);

/// Calls a program.
template <class Program> class direct_call {
  using steps = direct_steps<Program>;
  static constexpr std::size_t output_count = index_of(steps::section.outputs.count);
  template <std::size_t I>
  using result_t = typename decltype(output_description<Program, static_cast<int>(I)>::type_of_array())::type;

 public:
  template <class... Args> static auto run(const Args&... args) { return run_with(no_donors{}, args...); }

  /// Calls a program with donated arguments. `memory_of(number)` is the memory of argument `Donors[result]`, which that
  /// result takes; a null handle if the result takes none. `has_begun` becomes true before any donated memory is
  /// changed.
  template <auto Donors, class MemoryOf, class... Args>
  static auto run_in_place(const MemoryOf& memory_of, bool& has_begun, const Args&... args) {
    return run_with(donors<Donors, MemoryOf>{memory_of, has_begun}, args...);
  }

  /// Calls a program with results in memory that the caller lends.
  template <class... Args> static void run_into(given_memory given, const Args&... args) {
    const direct_arguments<Args...> arguments(args...);
    const direct_extents<Program> extents(arguments.shapes);
    check_given(given, Program::plan, extents, [&](std::size_t number) { return arguments.values[number]; });
    std::byte* outputs[output_count + 1];
    for (std::size_t k = 0; k < output_count; ++k) outputs[k] = given[k].first;
    compute(extents, arguments.values, outputs);
  }

 private:
  struct no_donors {
    template <std::size_t> static constexpr bool has = false;
    void begin() const {}
  };
  template <auto Donors, class MemoryOf> struct donors {
    const MemoryOf& memory_of;
    bool& has_begun;
    mutable bool is_any_taken = false;
    template <std::size_t I> static constexpr bool has = Donors[I] >= 0;
    template <std::size_t I> buffer memory() const {
      buffer found = memory_of(index_of(Donors[I]));
      is_any_taken = is_any_taken || !found.is_null();
      return found;
    }
    void begin() const { has_begun = has_begun || is_any_taken; }
  };

  template <class From, class... Args> static auto run_with(const From& from, const Args&... args) {
    const direct_arguments<Args...> arguments(args...);
    const direct_extents<Program> extents(arguments.shapes);
    using tree = typename Program::result_tree;
    if constexpr (!tree_node<tree>) {
      result_t<0> result = new_result<0>(extents, from);
      std::byte* const outputs[] = {parallax::detail::result_maker::bytes_of(result)};
      from.begin();
      compute(extents, arguments.values, outputs);
      return result;
    } else {
      return run_to_tree(extents, arguments.values, from, std::make_index_sequence<output_count>{});
    }
  }
  template <class From, std::size_t... I>
  static auto run_to_tree(const direct_extents<Program>& extents, const std::byte* const* values, const From& from,
                          std::index_sequence<I...>) {
    std::tuple<result_t<I>...> results{new_result<I>(extents, from)...};
    std::byte* const outputs[] = {parallax::detail::result_maker::bytes_of(std::get<I>(results))..., nullptr};
    from.begin();
    compute(extents, values, outputs);
    auto leaf = [&]<class, int Number>() { return std::move(std::get<index_of(Number)>(results)); };
    return parallax::detail::tree_build<typename Program::result_tree>(leaf);
  }
  static PARALLAX_INLINE void compute([[maybe_unused]] const direct_extents<Program>& extents,
                                      const std::byte* const* values, std::byte* const* outputs) {
    if constexpr (steps::are_straight) straight_call<Program>::run(values, outputs);
    else loop_call<Program>::run(extents, values, outputs);
  }
  template <std::size_t I, class From>
  static PARALLAX_INLINE auto new_result(const direct_extents<Program>& extents, const From& from) {
    return new_result<I>(
        extents, from,
        std::make_index_sequence<index_of(Program::plan[steps::section.outputs][I].described.shape.count)>{});
  }
  template <std::size_t I, class From, std::size_t... D>
  static PARALLAX_INLINE auto new_result(const direct_extents<Program>& extents, [[maybe_unused]] const From& from,
                                         std::index_sequence<D...>) {
    constexpr output_record output = Program::plan[steps::section.outputs][I];
    constexpr dim count = [] {
      for (const buffer_record& buffer : Program::plan[steps::section.buffers])
        if (buffer.kind == buffer_kind::output && index_of(buffer.number) == I) return buffer.count;
      return dim{0};
    }();
    const std::int64_t size = extents[count];
    if constexpr (!is_static(count)) checked_bytes(size, output.described.type);
    if constexpr (From::template has<I>) {
      if (buffer memory = from.template memory<I>(); !memory.is_null())
        return result_t<I>::adopt(std::move(memory), {extents[Program::plan[output.described.shape][D]]...});
    }
    return parallax::detail::result_maker::make<result_t<I>>({extents[Program::plan[output.described.shape][D]]...},
                                                             size);
  }
};

} // namespace host::PARALLAX_INLINE_REGISTERS
} // namespace parallax::PARALLAX_INLINE_VERSION
