// custom_call: a user's own function, on the host and on CUDA, as an operation of array programs.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/ffi_call.hpp>
#include <parallax/transforms/calls/ffi_entries.hpp>
#include <parallax/transforms/derivatives/custom_trace.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/check_leaves.hpp>
#include <parallax/transforms/passes/graph_function.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

template <std::size_t> struct one_tracer {
  using type = tracer;
};
template <class Indices> struct tuple_of_tracers;
template <std::size_t... I> struct tuple_of_tracers<std::index_sequence<I...>> {
  using type = std::tuple<typename one_tracer<I>::type...>;
};

/// The call of a user's own function. Its rules may give derivatives, by graphs that get the results first.
template <class Rules, class Tree, int Count> class ffi_trace {
  using arguments = typename tuple_of_tracers<std::make_index_sequence<std::size_t{Count}>>::type;
  static constexpr bool has_vjp = requires(const arguments& x, const Tree& y) { Rules::vjp(x, y, y); };
  static constexpr bool has_jvp = requires(const arguments& x, const Tree& y) { Rules::jvp(x, y, x); };

 public:
  constexpr ffi_trace(context& owner, const growing_vector<tracer>& given, const Tree& results)
      : trace(owner), operands(given), tree(results) {
    values = vector_of(tracers_of(results), [](const tracer& y) { return strong(y.value()); });
  }
  constexpr growing_vector<tracer> emit() {
    using entries = ffi_entries<Rules, Count>;
    if (trace.failed || !entries::check(trace, operands, values)) return tracers_of(tree);
    primitives::ffi_call::parameters p;
    p.function = trace.number_of(&entries::function);
    for_each(values, [&](const abstract_value& y) { p.add_result(y); });
    return emit_with_rules(p);
  }

 private:
  context& trace;
  const growing_vector<tracer>& operands;
  const Tree& tree; ///< of values like the results
  growing_vector<abstract_value> values;

  constexpr growing_vector<tracer> emit_with_rules(const primitives::ffi_call::parameters& p) {
    if constexpr (!has_vjp && !has_jvp) {
      return emit_call<primitives::ffi_call>(trace, operands, p);
    } else {
      custom_trace traced(trace, operands);
      traced.call.sees_results = true;
      const growing_vector<tracer> inputs = traced.open();
      traced.call.body = traced.close(emit_call<primitives::ffi_call>(trace, inputs, p));
      if constexpr (has_jvp) traced.call.tangents.push_back(trace_jvp(traced));
      if constexpr (has_vjp) traced.call.backward.push_back(trace_vjp(traced));
      if (trace.failed) return tracers_of(tree);
      return traced.emit();
    }
  }
  constexpr growing_vector<tracer> result_inputs() const {
    return vector_of(values, [&](const abstract_value& y) { return new_input(trace, y); });
  }
  /// An input for a direction of a floating value, zeros for other values.
  constexpr tracer direction(const abstract_value& of) const {
    return has_derivatives(of.type) ? new_input(trace, of) : build::zeros(trace, of);
  }
  static constexpr arguments tuple_of(const growing_vector<tracer>& leaves) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return arguments{leaves[I]...};
    }(std::make_index_sequence<std::size_t{Count}>{});
  }
  /// Closes the innermost graph, whose outputs are the directions of floating values.
  constexpr graph_id close(custom_trace& traced, std::string_view what, const growing_vector<tracer>& given,
                           const growing_vector<abstract_value>& of) {
    growing_vector<tracer> outputs;
    growing_vector<abstract_value> expected;
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (!has_derivatives(of[k].type)) continue;
      expected.push_back(of[k]);
      outputs.push_back(given[k].owner ? build::convert(given[k], given[k].type()) : build::zeros(trace, of[k]));
    }
    check_alike(trace, "custom_call", what, outputs, expected);
    return traced.close(outputs);
  }

  constexpr graph_id trace_jvp(custom_trace& traced) {
    trace.open_graph();
    const growing_vector<tracer> ys = result_inputs(), xs = traced.inputs();
    const growing_vector<tracer> directions =
        vector_of(operands, [&](const tracer& x) { return direction(x.value()); });
    const arguments at = tuple_of(xs), along = tuple_of(directions);
    const Tree result = with_leaves(tree, ys);
    const auto made = Rules::jvp(at, result, along);
    constexpr bool fits = same_structure<Tree, std::remove_cvref_t<decltype(made)>>();
    static_assert(fits, "parallax: custom_call: jvp takes the tuple of arguments, the result and the tuple "
                        "of tangents, and returns a tree of tangents like the result");
    growing_vector<tracer> leaves(values.size());
    if constexpr (fits) leaves = leaves_to_tracers(trace, made);
    return close(traced, "tangent", leaves, values);
  }
  constexpr graph_id trace_vjp(custom_trace& traced) {
    trace.open_graph();
    const growing_vector<tracer> ys = result_inputs(), xs = traced.inputs();
    const growing_vector<tracer> directions = vector_of(values, [&](const abstract_value& y) { return direction(y); });
    const arguments at = tuple_of(xs);
    const Tree result = with_leaves(tree, ys), along = with_leaves(tree, directions);
    const auto made = Rules::vjp(at, result, along);
    constexpr bool fits = one_tree_each<arguments, std::remove_cvref_t<decltype(made)>>;
    static_assert(fits, "parallax: custom_call: vjp takes the tuple of arguments, the result and its "
                        "cotangents, and returns a tuple: a cotangent for each argument, or none");
    growing_vector<tracer> leaves;
    if constexpr (fits)
      std::apply(
          [&](const auto&... each) {
            auto take = [&]<class Given>(const Given& cotangent) {
              if constexpr (std::is_same_v<Given, none_t>) leaves.push_back({});
              else leaves.push_back(leaves_to_tracers(trace, cotangent)[0]);
            };
            (take(each), ...);
          },
          made);
    leaves.resize(operands.size());
    return close(traced, "cotangent", leaves, vector_of(operands, [](const tracer& x) { return x.value(); }));
  }
};

template <class T> inline constexpr bool is_one_array = leaf_count<T> == 1 && passed_extents_rank<T> < 0;

/// The results of a call: a tree of tracers like the one that the rules' `shape` returns.
template <class Rules, class... Arguments>
using ffi_results = decltype(traced_like(std::declval<context&>(), Rules::shape(std::declval<const Arguments&>()...)));

/// The type of `custom_call<rules>`: an operation by the rules' functions.
template <class Rules> struct ffi_operation {
  template <class... Args>
    requires(!any_traced<Args...>())
  constexpr auto operator()(const Args&... args) const {
    return execute(*this, args...);
  }
  template <class... Args>
    requires(any_traced<Args...>() && !(is_one_array<Args> && ...))
  constexpr auto operator()(const Args&... args) const {
    context& owner = trace_of_trees(args...);
    owner.fail(message() << "custom_call: one of its arguments is a tree; give it arrays and numbers, the leaves of a "
                            "tree one by one");
    return build::literal(owner, element_type::float32, 0);
  }
  /// Its result type is known without its body, so that rules may call it.
  template <class... Args>
    requires(any_traced<Args...>() && (is_one_array<Args> && ...))
  constexpr auto operator()(const Args&... args) const -> ffi_results<Rules, traced_t<Args>...> {
    using namespace detail;
    constexpr int count = static_cast<int>(sizeof...(Args));
    context& owner = trace_of_trees(args...);
    growing_vector<tracer> operands = leaves_to_tracers(owner, args...);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      element_type type = operands[k].type();
      if constexpr (has_host_function<Rules>)
        if (operands[k].weak()) type = ffi_entries<Rules, count>::type_of(k);
      operands[k] = build::convert(operands[k], type);
    }
    const auto like = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced_like(owner, Rules::shape(operands[I]...));
    }(std::index_sequence_for<Args...>{});
    if constexpr (has_host_function<Rules>) {
      ffi_trace<Rules, std::remove_cvref_t<decltype(like)>, count> call(owner, operands, like);
      return with_leaves(like, call.emit());
    } else {
      owner.fail(message() << "custom_call: the rules have no static function host, or it is a template; let it take a "
                              "plx::ffi_buffer of each argument, of const elements, and then of each result");
      return like;
    }
  }
};

} // namespace detail

template <class Rules> inline constexpr bool detail::is_transformed<detail::ffi_operation<Rules>> = true;

/// A function of a user's own as an operation: `custom_call<rules>(x, y)`, inside traced functions and at once. `rules`
/// is a type with these static functions:
///
/// - `host(ffi_buffer<const T, Rank>..., ffi_buffer<U, Rank>...)`, no template: reads arguments and fills results;
/// these
///   share no memory. Several threads may call it at a time. It should not throw: an exception ends the call, and
///   leaves `jit` as it is and `pmap` as a `device_error`.
/// - `cuda(cudaStream_t, ...)`, if there is a CUDA backend: enqueues the same on the stream, and does not wait.
/// - `shape(x...)`, constexpr: arrays like the results, one or a tree of them; only shapes and types of these are used.
/// - `jvp(arguments, result, tangents)` and `vjp(arguments, result, cotangents)`, constexpr, if it has derivatives, as
///   for `custom_jvp` and `custom_vjp`; with `jvp` alone, the way back is that transposed.
/// - `batch(is_mapped, x...)`, constexpr: the results of a batch along axis 0, where arguments that are mapped lie
///   along axis 0; `is_mapped` is an array of bool. Without it, a loop calls the function for each element.
///
/// JAX: ffi.ffi_call with custom_jvp, custom_vjp and custom_vmap.
template <class Rules> inline constexpr detail::ffi_operation<Rules> custom_call{};

} // namespace parallax::PARALLAX_INLINE_VERSION
