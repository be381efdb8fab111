// Calls that use up some of their arguments.
#pragma once

#include <parallax/backends/execute.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/pytree.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/donors.hpp>
#include <parallax/transforms/passes/donate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

template <class> inline constexpr bool is_list_of_extents = false;
template <std::size_t Rank> inline constexpr bool is_list_of_extents<extent_list<Rank>> = true;

/// Whether this is the only handle to all memory of a leaf.
template <class L> bool has_only_handle(const L&) { return false; }
template <class T, auto Shape> bool has_only_handle(const array<T, Shape>& x) {
  if constexpr (runtime::count_in_place<T, extents_of<Shape>> > 0) return false;
  else return x.size() > 0 && x.storage().is_only_handle();
}
template <class T, auto Shape> bool has_only_handle(const sharded<T, Shape>& x) {
  for (int p = 0; p < count_of(x.devices()); ++p)
    if (!x.shard_buffer(p).is_only_handle()) return false;
  return x.size() > 0;
}

/// A leaf's memory on the host, which results may overwrite.
template <class L> buffer memory_on_host(const L&) { return {}; }
template <class T, auto Shape> buffer memory_on_host(const array<T, Shape>& x) {
  if constexpr (runtime::count_in_place<T, extents_of<Shape>> > 0) return {};
  else {
    if (x.storage().on_device() != nullptr) return {};
    x.storage().forget_copies();
    return x.storage();
  }
}

/// By leaf of a call's arguments: whether results may take its memory. They may if it is donated, no other handle has
/// the memory, and the array is no other argument of the call.
template <class Donated, class... Args> auto leaves_to_take(const Args&... args) {
  std::array<bool, index_of((1 + ... + leaf_count<Args>))> may{};
  std::array<const void*, may.size()> arrays{};
  std::size_t number = 0, tree = 0;
  auto ask = [&](const auto& leaf) {
    may[number] = Donated::has(tree) && has_only_handle(leaf);
    arrays[number++] = &leaf;
  };
  ((tree_for_each(ask, args), ++tree), ...);
  for (std::size_t k = 0; k < number; ++k)
    for (std::size_t other = 0; other < number; ++other) may[k] = may[k] && (other == k || arrays[other] != arrays[k]);
  return may;
}

/// By argument of a program (leaf that has elements): whether it is donated.
template <class Program, class Donated, class... Args> constexpr auto donated_leaves() {
  std::array<bool, index_of(Program::plan.section(section_id::main).argument_count) + 1> donated{};
  std::size_t next = 0, tree = 0;
  auto look = [&]<class L, int>() {
    if constexpr (!is_static_leaf<L> && !is_list_of_extents<L>) donated[next++] = Donated::has(tree);
    return 0;
  };
  ((static_cast<void>(tree_build<Args>(look)), ++tree), ...);
  return donated;
}

template <class Program, class Donated, class... Args>
inline constexpr auto donors = compiled::donors_of<Program>(donated_leaves<Program, Donated, Args...>());

/// Moves from the donated trees.
template <class Donated, class... Args> void use_up(Args&... args) {
  std::size_t tree = 0;
  auto one = [&]<class Tree>(Tree& given) {
    if constexpr (!std::is_const_v<Tree>)
      if (Donated::has(tree)) [[maybe_unused]]
        const auto gone = std::move(given);
    ++tree;
  };
  (one(args), ...);
}

template <class Program, class Donated, class... Args> auto run_program_donating(bool& has_begun, const Args&... args) {
  constexpr const auto& taken = donors<Program, Donated, Args...>;
  try {
    const cuda_run_function run_on_cuda = chosen_cuda_run<Program>();
    const auto may_take = leaves_to_take<Donated>(args...);
    if constexpr (host_calls::is_direct<Program, Args...>) {
      if (run_on_cuda == nullptr) {
        const auto memory_of = [&](std::size_t argument) {
          std::size_t leaf_number = 0, next = 0;
          buffer memory;
          auto look = [&]<class L>(const L& leaf) {
            const bool may = may_take[leaf_number++];
            if constexpr (!is_static_leaf<L> && !is_list_of_extents<L>)
              if (next++ == argument && may) memory = memory_on_host(leaf);
          };
          (tree_for_each(look, args), ...);
          return memory;
        };
        return host_calls::direct_call<Program>::template run_in_place<taken>(memory_of, has_begun, args...);
      }
    }
    recycled_vector<runtime_value> values = values_of<Program>(args...);
    for (std::size_t k = 0; k < values.size(); ++k) values[k].is_donated = may_take[k];
    const auto run = run_on_cuda == nullptr ? &host_calls::run<Program> : run_on_cuda;
    return make_results<Program>(run(std::move(values), {plain_span<const int>(taken), has_begun}));
  } catch (const std::bad_alloc&) {
    throw out_of_memory::for_lists();
  }
}

template <class Program, class Donated, class... Args>
auto call_program_donating(bool& has_begun, const Args&... args) {
  if constexpr (Program::table_count == 0) return run_program_donating<Program, Donated>(has_begun, args...);
  else
    return with_tables<Program>(
        [&](const auto&... all) { return run_program_donating<Program, Donated>(has_begun, all...); }, args...);
}

/// Whether an argument can be moved from: it is an array or a tree of arrays, and not const.
template <class Arg> constexpr bool can_be_donated() {
  using tree = std::remove_cvref_t<Arg>;
  return !std::is_const_v<std::remove_reference_t<Arg>> && !has_expressions<tree>() && !has_strided<tree>();
}
/// Stops compilation if a donated argument cannot be moved from.
template <class Donated, class... Args> constexpr bool can_donate() {
  static_assert(Donated::highest < static_cast<std::int64_t>(sizeof...(Args)),
                "parallax: donate<...> names an argument that the call does not have");
  constexpr bool can = [] {
    std::size_t number = 0;
    return ((!Donated::has(number++) || can_be_donated<Args>()) && ...);
  }();
  static_assert(can,
                "parallax: what is donated is moved from: pass an array, or a tree of arrays, that is not const and "
                "no expression");
  return can;
}

} // namespace detail

/// Calls a traced function, and moves from the arguments that `Donated` names: results may take their memory. If the
/// call throws before any of that memory was changed, the arguments are as they were.
template <class Function, class Donated, class... Args>
auto execute_donating(const Function& function, Donated, Args&&... args) {
  constexpr bool can_donate = detail::can_donate<Donated, Args...>();
  constexpr bool may_run = !(detail::has_strided<std::remove_cvref_t<Args>>() || ...) &&
                           !detail::ends_with_memory<std::remove_cvref_t<Args>...>();
  static_assert(may_run, "parallax: a call that donates takes arrays, and returns its results: no into and no views");
  if constexpr (!can_donate || !may_run || !detail::is_runnable<Function, std::remove_cvref_t<Args>...>()) {
    return execute(function, args...);
  } else {
    using compiled = detail::program<Function, detail::argument_t<std::remove_cvref_t<Args>>...>;
    bool has_begun = false;
    try {
      auto results = detail::call_program_donating<compiled, Donated>(has_begun, detail::evaluated(args)...);
      detail::use_up<Donated>(args...);
      return results;
    } catch (...) {
      if (has_begun) detail::use_up<Donated>(args...);
      throw;
    }
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION
