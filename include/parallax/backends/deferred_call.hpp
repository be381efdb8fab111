// Calls of constants and tables alone inside a traced function: their results are arrays that become part of the trace
// once an operation reads them.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/constant_block.hpp>
#include <parallax/compile/trace/among_constants.hpp>
#include <parallax/core/growing_vector.hpp>
#include <parallax/core/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/constants.hpp>
#include <parallax/runtime/value.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A call, which its results share: it is traced once in a graph.
template <class Function, class... Args> struct deferred_call {
  Function function;
  std::tuple<Args...> args;
  int owners = 1; ///< its results, and who makes these
  context* trace = nullptr; ///< where the results are, if anywhere
  graph_id scope = graph_id::outermost;
  growing_vector<tracer> results;

  constexpr deferred_call(const Function& called, const Args&... with) : function(called), args(with...) {}

  constexpr tracer result(context& reader, int number) {
    if (trace != &reader || !is_open(reader)) {
      trace = &reader;
      scope = reader.innermost();
      results = tracers_of(tree_map([&](const auto& leaf) { return leaf_to_tracer(reader, leaf); },
                                    std::apply([&](const auto&... each) { return function(constants_in(reader, each)...); },
                                               args)));
    }
    return results[index_of(number)];
  }

 private:
  constexpr bool is_open(const context& reader) const { return plain::contains(reader.active, scope); }
};

/// One of the results of a call.
template <class Call> struct deferred_result : runtime::constant_block_of<deferred_result<Call>> {
  Call* call;
  int number;

  constexpr deferred_result(Call* of, int which) : call(of), number(which) { ++call->owners; }
  deferred_result(const deferred_result&) = delete;
  deferred_result& operator=(const deferred_result&) = delete;
  constexpr ~deferred_result() {
    if (--call->owners == 0) delete call;
  }
  constexpr runtime::constant_block* copy_of() const { return new deferred_result(call, number); }
  constexpr tracer value_in(context& trace) const { return call->result(trace, number); }
};

/// The results of a call that its program describes.
template <class Program, class Function, class... Args>
constexpr auto deferred_results(const Function& function, const Args&... args) {
  using call = deferred_call<Function, Args...>;
  auto* const shared = new call(function, args...);
  auto leaf = [&]<class L, int Number>() {
    using array_type = typename decltype(output_description<Program, Number>::type_of_array())::type;
    return constant_access::computed<array_type>(new deferred_result<call>(shared, Number));
  };
  auto results = tree_build<typename Program::result_tree>(leaf);
  if (--shared->owners == 0) delete shared;
  return results;
}

/// Whether results are on the host, as those of a traced function's calls can be.
template <class Program, int... Number> constexpr bool are_arrays(std::integer_sequence<int, Number...>) {
  return (!output_description<Program, Number>::is_value && ...);
}
template <class Program>
concept can_be_deferred = are_arrays<Program>(
    std::make_integer_sequence<int, Program::plan.section(section_id::main).outputs.count>{});

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
