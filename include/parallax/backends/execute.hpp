// From a call with arrays to its results.
#pragma once

#include <parallax/backends/default_backend.hpp>
#include <parallax/backends/deferred_call.hpp>
#include <parallax/backends/host_calls.hpp>
#include <parallax/backends/unknown_results.hpp>
#include <parallax/compile/program_error.hpp>
#include <parallax/compile/trace/among_constants.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/devices/device_count.hpp>
#include <parallax/ops/shapes/strided.hpp>
#include <parallax/runtime/array_operations.hpp>
#include <parallax/runtime/constants.hpp>
#include <parallax/runtime/eager.hpp>
#include <parallax/runtime/into.hpp>

#include <algorithm>
#include <concepts>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The number of devices a pmap may use on the default backend: PARALLAX_HOST_DEVICES virtual ones on the host, or each
/// GPU PARALLAX_CUDA_DEVICES_PER_GPU times. JAX: device_count
inline int device_count() {
  if (default_backend() == backend::cuda) return detail::cuda_backend_of_process.load()->device_count();
  return host::device_count();
}

namespace detail {

template <std::integral Number> [[noreturn]] void refuse_bound(std::string_view text) {
  throw shape_error(std::string(text));
}

/// At the end of a session: waits until devices have done the work that other processes may wait for; after a failure
/// ends the session.
inline void leave_processes(bool has_failed) {
  if (const cuda_backend_functions* cuda = cuda_backend_of_process.load()) cuda->leave_processes(has_failed);
}

/// The leaves of an argument as values; leaves that are known while compiling have none.
template <class T> void append_values(recycled_vector<runtime_value>& values, const T& tree) {
  tree_for_each(
      [&]<class L>(const L& leaf) {
        if constexpr (is_static_leaf<L>) {
          runtime_value nothing;
          nothing.is_input = false;
          append(values, std::move(nothing));
        } else {
          append(values, value_of(leaf));
        }
      },
      tree);
}

/// Whether a program can take all leaves of a tree.
template <class T>
inline constexpr bool is_argument = !any_leaf<T>([]<class L>(std::type_identity<L>) {
  return !(eager_operand<L> || is_static_leaf<L> || requires(const L& x) { value_of(x); });
});

[[noreturn]] inline void throw_not_compiled_for_cuda() {
  throw error(
      "the CUDA backend was chosen, but this program was compiled for the host alone: call it from a .cu file, or "
      "choose backend::host for it (before main, a program may not know yet that a .cu file calls it)");
}

/// The function that runs a program on CUDA devices, if `current_backend` says that it runs there. Files that call the
/// same program have equal code here, apart from the host's kernels: the copy that the linker keeps stays with the
/// kernels that it was compiled beside, and every copy is right.
template <class Program> cuda_run_function chosen_cuda_run() {
  static_cast<void>(entered_for_cuda<Program>);
  const backend_choice where = current_backend();
  if (where.which == backend::host) return nullptr;
  const cuda_run_function run = cuda_run_of<Program>.load(std::memory_order_acquire);
  if (run == nullptr && where.is_chosen) throw_not_compiled_for_cuda();
  return run;
}

template <class Program, class... Args> recycled_vector<runtime_value> values_of(const Args&... args) {
  constexpr int leaves = (0 + ... + leaf_count<Args>);
  constexpr int values = Program::plan.section(section_id::main).value_count;
  recycled_vector<runtime_value> arguments;
  arguments.reserve(index_of(std::max(leaves, values)));
  (append_values(arguments, args), ...);
  return arguments;
}

template <class Program, class... Args> auto run_program(const Args&... args) {
  try {
    const cuda_run_function run_on_cuda = chosen_cuda_run<Program>();
    if constexpr (host_calls::is_direct<Program, Args...>) {
      if (run_on_cuda == nullptr) return host_calls::direct_call<Program>::run(args...);
      return make_results<Program>(run_on_cuda(values_of<Program>(args...), {}));
    } else {
      const auto run = run_on_cuda == nullptr ? &host_calls::run<Program> : run_on_cuda;
      return make_results<Program>(run(values_of<Program>(args...), {}));
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory::for_lists();
  }
}

/// Runs a program with its tables behind the arguments. A program without tables spares the compiler the lambda.
template <class Program, class... Args> auto call_program(const Args&... args) {
  if constexpr (Program::table_count == 0) return run_program<Program>(args...);
  else return with_tables<Program>([](const auto&... all) { return run_program<Program>(all...); }, args...);
}

template <class Program, class Memory> constexpr bool takes_results() {
  constexpr std::size_t results = index_of(Program::plan.section(section_id::main).outputs.count);
  if constexpr (results != Memory::count) {
    static_assert(results == Memory::count, "parallax: into takes the memory of each result, leaf by leaf, and this "
                                            "function has more or fewer of them");
    return false;
  } else {
    constexpr bool same_types = []<std::size_t... I>(std::index_sequence<I...>) {
      return ((output_description<Program, static_cast<int>(I)>::type ==
               element_type_of<typename Memory::template element_at<I>>) &&
              ...);
    }(std::make_index_sequence<results>{});
    static_assert(same_types, "parallax: the memory that into is given has elements of another type than the result: "
                              "convert that with plx::astype<T>(...)");
    return same_types;
  }
}

/// Runs a program, which writes its results into memory that the caller gives.
template <class Program, class Memory, class... Args> void run_program_into(const Memory& memory, const Args&... args) {
  const auto given = memory.given();
  try {
    const cuda_run_function run_on_cuda = chosen_cuda_run<Program>();
    if (run_on_cuda != nullptr) return place_results(run_on_cuda(values_of<Program>(args...), given), given);
    check_on_host(given);
    if constexpr (host_calls::is_direct<Program, Args...>) host_calls::direct_call<Program>::run_into(given, args...);
    else place_results(host_calls::run<Program>(values_of<Program>(args...), given), given);
  } catch (const std::bad_alloc&) {
    throw out_of_memory::for_lists();
  }
}

template <class Program, class Memory, class... Args>
void call_program_into(const Memory& memory, const Args&... args) {
  if constexpr (Program::table_count == 0) run_program_into<Program>(memory, args...);
  else with_tables<Program>([&](const auto&... all) { run_program_into<Program>(memory, all...); }, args...);
}

/// Whether there is a program of a function and such arguments, be it one with an error.
template <class Function, class... Args> constexpr bool has_program() {
  if constexpr (!is_stateless<Function> || !(is_argument<Args> && ...)) return false;
  else if constexpr (!is_callable<Function, traced_t<argument_t<Args>>...>()) return false;
  else return is_evaluated<Function, argument_t<Args>...>;
}
/// Whether a function's program can run with such arguments. If not, `execute` gives the reason.
template <class Function, class... Args> constexpr bool is_runnable() {
  if constexpr (has_program<Function, Args...>()) return program<Function, argument_t<Args>...>::valid;
  else return false;
}

/// Calls a traced function whose last argument says where its results go. The compiler finds the function's result type
/// by compiling it, so that an error is reported at the user's line.
template <class Function, class... Args> auto execute_into(const Function& function, const Args&... args) {
  const auto all = std::tie(args...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto& memory = std::get<sizeof...(I)>(all);
    using memory_type = std::remove_cvref_t<decltype(memory)>;
    if constexpr (is_runnable<Function, std::remove_cvref_t<decltype(std::get<I>(all))>...>()) {
      using compiled = program<Function, argument_t<std::remove_cvref_t<decltype(std::get<I>(all))>>...>;
      if constexpr (takes_results<compiled, memory_type>())
        call_program_into<compiled>(memory, evaluated(std::get<I>(all))...);
    } else {
      static_cast<void>(execute(function, std::get<I>(all)...));
    }
  }(std::make_index_sequence<sizeof...(Args) - 1>{});
}

template <class Function, class... Args> auto execute_flat(const Function&, const Args&... args) {
  const auto all = std::tie(args...);
  constexpr std::size_t trees = sizeof...(Args) - (ends_with_memory<Args...>() ? 1 : 0);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto call = [](const auto&... each) {
      return execute(of_flat_leaves<Function, std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Args...>>>...>{},
                     each...);
    };
    auto leaves = std::tuple_cat(flat_leaves(std::get<I>(all))...);
    if constexpr (trees == sizeof...(Args)) return std::apply(call, leaves);
    else return std::apply(call, std::tuple_cat(leaves, std::tie(std::get<trees>(all))));
  }(std::make_index_sequence<trees>{});
}

} // namespace detail

/// Calls a traced function with arrays: its program was compiled with this code, and runs now. Returns the results,
/// unless the last argument is the result of `into`.
template <class Function, class... Args>
  requires(!detail::is_call_in_a_trace<Function, Args...>())
constexpr auto execute(const Function& function, const Args&... args) {
  static_assert(detail::is_stateless<Function>, "parallax: the outermost function must not capture: make captured "
                                                "functions static constexpr, and pass captured values as arguments");
  static_assert(detail::ends_with_memory<Args...>() || (detail::is_argument<Args> && ...),
                "parallax: an argument is neither an array nor a number nor a tree of them (tuple, pair, std::array, "
                "aggregate): let a struct be a template of its leaf types, template <class T> struct params { T w, b; "
                "}, and copy a "
                "std::vector into a plx::array");
  if constexpr ((detail::has_strided<Args>() || ...)) {
    return detail::execute_flat(function, args...);
  } else if constexpr (detail::ends_with_memory<Args...>()) {
    return detail::execute_into(function, args...);
  } else if constexpr (!detail::is_stateless<Function> || !(detail::is_argument<Args> && ...)) {
    return detail::no_result<Function>{};
  } else if constexpr (!detail::is_callable<Function, detail::traced_t<detail::argument_t<Args>>...>()) {
    return detail::no_result<Function>{};
  } else if constexpr (!detail::is_evaluated<Function, detail::argument_t<Args>...>) {
    return detail::not_constant<Function>{};
  } else {
    using compiled = detail::program<Function, detail::argument_t<Args>...>;
    if constexpr (compiled::valid) {
      // a traced function may call it too, with constants and tables
      if constexpr ((detail::all_constants<Args>() && ...) && sizeof...(Args) > 0 &&
                    detail::can_be_deferred<compiled>()) {
        if (__builtin_is_constant_evaluated()) return detail::deferred_results<compiled, Function>(args...);
      }
      return detail::call_program<compiled>(detail::evaluated(args)...);
    } else if constexpr (detail::prints_texts<compiled>()) {
      detail::print_error<detail::error_of<compiled>>();
      return detail::show_line<Function, detail::argument_t<Args>...>();
    } else {
      return detail::unknown_results<Function, detail::argument_t<Args>...>();
    }
  }
}
/// A function that captures, called with constants and tables only, is part of a traced function.
template <class Function, class... Args>
  requires(detail::is_call_in_a_trace<Function, Args...>())
constexpr auto execute(const Function& function, const Args&... args) {
  return detail::call_among_constants(function, args...);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
