// Calls inside a traced function whose arguments are only constants and tables. Their results are arrays, which become
// part of the trace when an operation reads them.
#pragma once

#include <parallax/arrays/array.hpp>
#include <parallax/arrays/memory/constant_block.hpp>
#include <parallax/compile/trace/among_constants.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/runtime/constants.hpp>
#include <parallax/runtime/eager.hpp>
#include <parallax/runtime/value.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A leaf of an argument. Every program has calls of constants, so little code depends on the leaf's type.
template <class L> struct kept_leaf : runtime::constant_block_of<kept_leaf<L>> {
  const L leaf;

  constexpr explicit kept_leaf(const L& given) : leaf(given) {}
  constexpr runtime::constant_block* copy_of() const { return new kept_leaf(leaf); }
  constexpr tracer value_in(context& trace) const {
    if constexpr (is_static_leaf<L>) return {};
    else if constexpr (passed_extents_rank<L> >= 0) return pass_extents(trace, leaf);
    else return leaf_to_tracer(trace, leaf);
  }
};

/// A call that its results share: it is traced once in a graph.
struct deferred_call {
  using trace_function = growing_vector<tracer> (*)(context&, const growing_vector<tracer>&);

  trace_function run;
  growing_vector<runtime::constant_block*> leaves; ///< of the arguments
  int owners = 1;                                  ///< its results, and the function that makes these
  context* trace = nullptr;                        ///< the trace that has the results; null if none
  graph_id scope = graph_id::outermost;
  growing_vector<tracer> results;

  constexpr explicit deferred_call(trace_function how) : run(how) {}
  deferred_call(const deferred_call&) = delete;
  deferred_call& operator=(const deferred_call&) = delete;
  constexpr ~deferred_call() {
    for (runtime::constant_block* leaf : leaves) leaf->destroy(leaf);
  }

  constexpr tracer result(context& reader, int number) {
    if (trace != &reader || !plain::contains(reader.active, scope)) {
      trace = &reader;
      scope = reader.innermost();
      const auto given = [&](const runtime::constant_block* leaf) { return leaf->in(*leaf, reader); };
      results = run(reader, vector_of(leaves, given));
    }
    return results[index_of(number)];
  }
  constexpr void release() {
    if (--owners == 0) delete this;
  }
};
struct keep_leaf {
  deferred_call* call;
  template <class L> constexpr void operator()(const L& leaf) const { call->leaves.push_back(new kept_leaf<L>(leaf)); }
};

/// One of the results of a call.
struct deferred_result : runtime::constant_block_of<deferred_result> {
  deferred_call* call;
  int number;

  constexpr deferred_result(deferred_call* of, int which) : call(of), number(which) { ++call->owners; }
  deferred_result(const deferred_result&) = delete;
  deferred_result& operator=(const deferred_result&) = delete;
  constexpr ~deferred_result() { call->release(); }
  constexpr runtime::constant_block* copy_of() const { return new deferred_result(call, number); }
  constexpr tracer value_in(context& trace) const { return call->result(trace, number); }
};

/// A program's results: values that it has computed, or results of a deferred call.
template <class Program> struct result_leaf {
  recycled_vector<runtime_value>* values;
  deferred_call* call = nullptr;

  template <class, int Number> constexpr auto operator()() const {
    using description = output_description<Program, Number>;
    if constexpr (!description::is_value) {
      using array_type = typename decltype(description::type_of_array())::type;
      if (__builtin_is_constant_evaluated())
        return constant_access::computed<array_type>(new deferred_result(call, Number));
    }
    return description::make(std::move((*values)[index_of(Number)]));
  }
};
template <class Program> auto make_results(recycled_vector<runtime_value>&& outputs) {
  const result_leaf<Program> leaf{&outputs};
  return tree_build<typename Program::result_tree>(leaf);
}

/// Whether a tree has leaves that are extents, which stay extents of a trace.
template <class T> constexpr bool has_extents() {
  return any_leaf<T>([]<class L>(std::type_identity<L>) { return passed_extents_rank<L> >= 0; });
}

/// Calls a function in a trace, with arguments as in the trace of its own program.
template <class Function, class... Args>
constexpr growing_vector<tracer> run_in_trace(context& trace, const growing_vector<tracer>& leaves) {
  constexpr std::index_sequence_for<Args...> all;
  if constexpr ((has_extents<Args>() || ...))
    return tracers_of(call_on(trace, Function{}, leaves, all, std::type_identity<Args>{}...));
  else return tracers_of(call_on(trace, Function{}, leaves, all, std::type_identity<argument_t<Args>>{}...));
}

/// The results of a call in a traced function, of the types that its program describes.
template <class Program, class Function, class... Args> constexpr auto deferred_results(const Args&... args) {
  const result_leaf<Program> leaf{nullptr, new deferred_call(&run_in_trace<Function, Args...>)};
  const keep_leaf keep{leaf.call};
  (tree_for_each(keep, args), ...);
  auto results = tree_build<typename Program::result_tree>(leaf);
  leaf.call->release();
  return results;
}

/// Whether all results are on the host, as the results of calls in a traced function have to be.
template <class Program> constexpr bool can_be_deferred() {
  for (const output_record& output : Program::plan[Program::plan.section(section_id::main).outputs])
    if (output.value != value_id::none) return false;
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
