// From a call with arrays to its results.
#pragma once

#include <parallax/backends/default_backend.hpp>
#include <parallax/compile/program_error.hpp>
#include <parallax/host/kernel_table.hpp>
#include <parallax/host/program_run.hpp>
#include <parallax/runtime/eager.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace parallax {

/// The number of devices a pmap may use: PARALLAX_HOST_DEVICES virtual ones on the host, or each GPU
/// PARALLAX_CUDA_DEVICES_PER_GPU times. JAX: device_count
inline int device_count() {
  if (default_backend() == backend::cuda) return detail::cuda_device_count();
  return host::device_pool::instance().size();
}

namespace detail {

/// The leaves of an argument as values; leaves that are known while compiling have none.
template <class T> void append_values(std::vector<runtime_value>& values, const T& tree) {
  tree_for_each(
      [&]<class L>(const L& leaf) {
        if constexpr (is_static_leaf<L>) values.emplace_back().is_input = false;
        else values.push_back(value_of(leaf));
      },
      tree);
}

/// Whether all leaves of a tree are what a program can take.
template <class T> constexpr bool all_leaves_are_values() {
  if constexpr (tree_node<T>) {
    return []<class... C>(std::type_identity<std::tuple<C...>>) {
      return (all_leaves_are_values<C>() && ...);
    }(std::type_identity<children_t<T>>{});
  } else {
    return eager_operand<T> || is_static_leaf<T> || requires(const T& x) { value_of(x); };
  }
}
template <class T> inline constexpr bool is_argument = all_leaves_are_values<T>();

template <class Program> auto make_results(std::vector<runtime_value>&& outputs) {
  auto leaf = [&]<class L, int Number>() {
    return output_description<Program, Number>::make(std::move(outputs[static_cast<std::size_t>(Number)]));
  };
  return tree_build<typename Program::result_tree>(leaf);
}

template <class Function, class... Args> auto run_program(const Args&... args) {
  using compiled = program<Function, abstract_t<Args>...>;
  if constexpr (!compiled::valid) {
    return report_error<Function, abstract_t<Args>...>();
  } else {
    constexpr int leaves = (0 + ... + leaf_count<Args>);
    std::vector<runtime_value> arguments;
    arguments.reserve(std::max(static_cast<std::size_t>(leaves), block_table::value_count_of(compiled::table.data())));
    (append_values(arguments, args), ...);
    const backend where = default_backend(); // throws where it is not compiled in
#if PARALLAX_CUDA_BACKEND
    if (where == backend::cuda) return make_results<compiled>(run_on_cuda<compiled>(std::move(arguments)));
#else
    static_cast<void>(where);
#endif
    host::program_run run(compiled::table.data(), host::kernel_table<compiled>::functions.data(), std::move(arguments));
    return make_results<compiled>(run.run());
  }
}

} // namespace detail

/// Calls a traced function with arrays: its program was compiled with this code, and runs now.
template <class Function, class... Args> auto execute(const Function&, const Args&... args) {
  static_assert(detail::is_stateless<Function>, "parallax: the outermost function must not capture: make captured "
                                                "functions static constexpr, and pass captured values as arguments");
  static_assert(
      (detail::is_argument<Args> && ...),
      "parallax: an argument is neither an array nor a number nor a tree of them (tuple, pair, std::array, "
      "aggregate): let a struct be a template of its leaf types, template <class T> struct params { T w, b; }");
  if constexpr (detail::is_stateless<Function> && (detail::is_argument<Args> && ...))
    return detail::run_program<Function>(detail::evaluated(args)...);
  else return detail::no_result<Function>{};
}

} // namespace parallax
