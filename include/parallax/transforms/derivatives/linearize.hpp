// linearize: a function's value and its derivative as a linear function of tangents, which may be called often.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/linear_point.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// Applies a pullback's transpose: from tangents of the differentiated arguments to tangents of the differentiated
/// results.
constexpr growing_vector<tracer> pushed_through(context& trace, graph_id pullback, const growing_vector<tracer>& first,
                                                const growing_vector<tracer>& cotangents_like,
                                                const growing_vector<tracer>& tangents) {
  growing_vector<tracer> inputs = first;
  operand_flags wanted(inputs.size());
  for_each(cotangents_like, [&](const tracer& x) {
    inputs.push_back(varying_zeros_like(x));
    wanted.push_back(1);
  });
  reverse_pass pass(trace, pullback, inputs, wanted);
  const growing_vector<tracer> given = pass.backward(tangents);
  growing_vector<tracer> pushed;
  for (std::size_t k = first.size(); k < given.size(); ++k) pushed.push_back(given[k]);
  return pushed;
}

/// The tangents of all results: `given`, in the order of the differentiated ones, and zeros for the others.
constexpr growing_vector<tracer> result_tangents(const growing_vector<tracer>& results,
                                                 const growing_vector<int>& differentiated,
                                                 const growing_vector<tracer>& given) {
  growing_vector<tracer> tangents = vector_of(results, [](const tracer& y) { return build::zeros_like(y); });
  for (std::size_t i = 0; i < differentiated.size(); ++i) {
    tracer& tangent = tangents[index_of(differentiated[i])];
    if (given[i].owner) tangent = build::broadcast_to(given[i], tangent.extents());
  }
  return tangents;
}

/// The program of the derivative along tangents: the pullback transposed. It takes the arguments, the residuals and the
/// tangents.
template <class Function> struct moved_from_residuals {
  template <class Args, class Residuals, class... Tangents>
  constexpr auto operator()(const Args& args, const Residuals& residuals, const Tangents&... tangents) const {
    context& owner = trace_of_trees(args, residuals, tangents...);
    const auto point = trace_point_at(owner, "linearize", Function{}, args);
    const differentiated_inputs& arguments = point.arguments;
    const auto& result = point.result;
    growing_vector<tracer> moving = point.results;
    const growing_vector<tracer> directions = argument_tangents(owner, "linearize", args, tangents...);
    auto same = [](std::size_t, tracer x) { return x; };
    if (!owner.failed) {
      joint_program joint(owner, point.body, arguments.wanted, same, same);
      growing_vector<tracer> inputs = arguments.operands;
      for_each(leaves_to_tracers(owner, residuals), [&](const tracer& x) { inputs.push_back(x); });
      const graph_id pullback = joint.backward_half();
      growing_vector<tracer> like, given;
      // the results' shapes in this graph, for their zeros
      const growing_vector<tracer> shapes =
          vector_of(point.results, [&](const tracer& y) { return build::zeros(owner, y.value()); });
      for_each(joint.differentiated_results, [&](int k) { like.push_back(shapes[index_of(k)]); });
      for_each(joint.differentiated_inputs, [&](int k) { given.push_back(directions[index_of(k)]); });
      const growing_vector<tracer> pushed = pushed_through(owner, pullback, inputs, like, given);
      moving = result_tangents(shapes, joint.differentiated_results, pushed);
    }
    return with_leaves(result, moving);
  }
};

} // namespace detail

/// A function's derivative at a point, as a linear function of tangents: `linearize` returns it.
template <class Function, class Args, class Residuals> struct linearized {
  Args args;
  Residuals residuals;

  /// The results' tangents, given the arguments' tangents one after another; `none` stands for zeros.
  template <class... Tangents> auto operator()(const Tangents&... tangents) const {
    constexpr bool fits = detail::one_tree_each<Args, std::tuple<Tangents...>>;
    static_assert(fits, "parallax: linearize: give a tangent for each argument, a tree like it, or none");
    if constexpr (fits) return execute(detail::moved_from_residuals<Function>{}, args, residuals, tangents...);
    else return detail::no_result<Function>{};
  }
};

/// A function's derivative at a point inside another traced function.
template <class Function, class Tree, class Args> class traced_linearized {
 public:
  constexpr traced_linearized(detail::reverse_pass forward, detail::differentiated_inputs given, const Tree& results,
                              const Args& primals)
      : pass(std::move(forward)), arguments(std::move(given)), result(results), args(primals) {}

  template <class... Tangents> constexpr auto operator()(const Tangents&... tangents) const {
    using namespace detail;
    constexpr bool fits = one_tree_each<Args, std::tuple<Tangents...>>;
    static_assert(fits, "parallax: linearize: give a tangent for each argument, a tree like it, or none");
    detail::context& owner = arguments.owner;
    detail::growing_vector<tracer> moving = tracers_of(result);
    if constexpr (fits) {
      const detail::growing_vector<tracer> directions = argument_tangents(owner, "linearize", args, tangents...);
      if (!owner.failed) moving = moved_along(directions);
    }
    return with_leaves(result, moving);
  }

 private:
  detail::reverse_pass pass;
  detail::differentiated_inputs arguments;
  Tree result;
  Args args;

  constexpr detail::growing_vector<tracer> moved_along(const detail::growing_vector<tracer>& directions) const {
    using namespace detail;
    detail::context& owner = arguments.owner;
    const detail::growing_vector<tracer>& results = pass.outputs;
    reverse_pass again = pass;
    const detail::graph_id pull = owner.open_graph();
    detail::growing_vector<int> differentiated;
    detail::growing_vector<tracer> cotangents(results.size()), like, given;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!detail::has_derivatives(results[k].type())) continue;
      differentiated.push_back(static_cast<int>(k));
      like.push_back(results[k]);
      cotangents[k] = new_input(owner, results[k].value());
    }
    const detail::growing_vector<tracer> gradients = again.backward(cotangents);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (arguments.wanted[i] == 0 || !gradients[i].owner || !directions[i].owner) continue;
      add_output(owner, gradients[i]);
      given.push_back(directions[i]);
    }
    owner.close_graph();
    if (owner.failed) return results;
    const detail::growing_vector<tracer> nothing, pushed = pushed_through(owner, pull, nothing, like, given);
    return result_tangents(results, differentiated, pushed);
  }
};

/// The pair of `function(args...)` and its derivative there, a linear function of the arguments' tangents, which may be
/// called often. A `while_loop` has none, as nothing says how many rounds to keep: use `jvp`. Errors: tangents that are
/// no trees like the arguments, nor `none`. JAX: linearize
template <class Function, class... Args> constexpr auto linearize(const Function& function, const Args&... args) {
  if constexpr (!detail::any_traced<Args...>()) {
    return detail::execute_half<linearized>(function, args...);
  } else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>()) {
    return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "linearize");
  } else {
    detail::context& owner = detail::trace_of_trees(args...);
    const auto [arguments, body, result, results] = detail::trace_point(owner, "linearize", function, args...);
    const detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
    const auto values = detail::with_leaves(result, owner.failed ? results : pass.outputs);
    using moved = traced_linearized<Function, std::remove_cvref_t<decltype(result)>, std::tuple<Args...>>;
    return std::pair{values, moved(pass, arguments, values, {args...})};
  }
}

} // namespace parallax::PARALLAX_INLINE_VERSION
