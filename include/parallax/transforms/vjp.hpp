// vjp, linearize and linear_transpose: a function's derivative as a linear function of its own, which may be called often.
#pragma once

#include <parallax/core/growing_vector.hpp>
#include <parallax/transforms/differentiated_arguments.hpp>
#include <parallax/transforms/joint_program.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax {
namespace detail {

/// A function that has been traced with respect to all floating leaves of its arguments.
template <class Tree> struct linear_point {
  differentiated_inputs arguments;
  graph_id body;
  Tree result;
  growing_vector<tracer> results;
};
template <class Function, class... Args>
constexpr auto trace_point(context& owner, std::string_view name, const Function& function, const Args&... args) {
  differentiated_inputs arguments(owner, name, leaves_to_tracers(owner, args...));
  const graph_id body = owner.open_graph();
  arguments.take_floating();
  auto result =
      call_on(owner, function, arguments.inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
  const growing_vector<tracer> results = tracers_of(result);
  set_outputs(owner, results);
  owner.close_graph();
  return linear_point<decltype(result)>{arguments, body, result, results};
}

/// The cotangents of results, which are given as a tree like these; without an owner for those of other types.
template <class Tree, class Cotangents>
constexpr growing_vector<tracer> result_cotangents(context& owner, std::string_view name, const Tree& results,
                                                   const Cotangents& given) {
  growing_vector<tracer> leaves = leaves_to_tracers(owner, given);
  std::size_t next = 0;
  tree_for_each(
      [&](const tracer& y) {
        tracer& leaf = leaves[next];
        leaf = is_floating(y.type()) ? fitting_direction(owner, name, "result", static_cast<int>(next), "cotangent",
                                                         y.value(), leaf)
                                     : tracer{};
        ++next;
      },
      results);
  return leaves;
}
/// The tangents of a function's arguments, which are given one after another; by operand.
template <class... Args, class... Tangents>
constexpr growing_vector<tracer> argument_tangents(context& owner, std::string_view name,
                                                   const std::tuple<Args...>& args, const Tangents&... tangents) {
  growing_vector<tracer> directions;
  int argument = 0;
  auto take = [&]<class Tangent>(const auto& primal, const Tangent& tangent) {
    const growing_vector<tracer> leaves = leaves_to_tracers(owner, primal);
    growing_vector<tracer> given(leaves.size());
    if constexpr (!std::is_same_v<Tangent, none_t>) given = leaves_to_tracers(owner, tangent);
    for (std::size_t k = 0; k < leaves.size(); ++k)
      if (leaves[k].owner)
        directions.push_back(std::is_same_v<Tangent, none_t>
                                 ? tracer{}
                                 : fitting_direction(owner, name, "argument", argument, "tangent", leaves[k].value(),
                                                     given[k]));
    ++argument;
  };
  std::apply([&](const auto&... primal) { (take(primal, tangents), ...); }, args);
  return directions;
}

/// Trees like the arguments, as a tuple, with other leaves.
template <class... Args>
constexpr auto arguments_with_leaves(const growing_vector<tracer>& leaves, const std::tuple<Args...>& args) {
  std::size_t next = 0;
  return tree_map([&](const auto&) { return leaves[next++]; }, args);
}

template <class Args, class Tangents> struct one_tangent_each : std::false_type {};
template <class... Args, class... Tangents>
  requires(sizeof...(Args) == sizeof...(Tangents))
struct one_tangent_each<std::tuple<Args...>, std::tuple<Tangents...>>
    : std::bool_constant<((std::is_same_v<Tangents, none_t> || same_structure<Args, Tangents>()) && ...)> {};

/// The graph of a pullback, transposed: the tangents of the results that are differentiated, given those of the
/// arguments that are.
constexpr growing_vector<tracer> pushed_through(context& trace, graph_id pullback, growing_vector<tracer> inputs,
                                                const growing_vector<tracer>& cotangents_like,
                                                const growing_vector<tracer>& tangents) {
  growing_vector<char> wanted(inputs.size());
  for_each(cotangents_like, [&](const tracer& x) {
    inputs.push_back(build::zeros_like(x));
    wanted.push_back(1);
  });
  reverse_pass pass(trace, pullback, inputs, wanted);
  const growing_vector<tracer> given = pass.backward(tangents);
  return {given.end() - static_cast<std::ptrdiff_t>(cotangents_like.size()), given.end()};
}

/// Of results, tangents by number of those that are differentiated, and zeros.
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

} // namespace detail

/// The pullback of a function inside another traced one: what `vjp` returns there.
template <class Tree, class Args> class traced_pullback {
 public:
  constexpr traced_pullback(const detail::reverse_pass& forward, const detail::differentiated_inputs& given,
                            const Tree& results, const Args& primals)
      : pass(forward), arguments(given), result(results), args(primals) {}

  template <class Cotangents> constexpr auto operator()(const Cotangents& cotangents) const {
    constexpr bool fits = detail::same_structure<Tree, Cotangents>();
    static_assert(fits, "parallax: vjp: give the pullback a tree of cotangents like the function's result");
    growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      if (!arguments.owner.failed) {
        detail::reverse_pass again = pass;
        leaves = arguments.gradients(
            again.backward(detail::result_cotangents(arguments.owner, "vjp", result, cotangents)));
      }
    }
    return detail::arguments_with_leaves(leaves, args);
  }

 private:
  detail::reverse_pass pass;
  detail::differentiated_inputs arguments;
  Tree result;
  Args args;
};

namespace detail {

/// The program of a function's result and residuals, so many of them.
template <class Function, int Residuals> struct forward_half {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!is_callable<Function, traced_t<Args>...>()) {
      return refuse_call<Function, Args...>(trace_of_trees(args...), "vjp");
    } else {
      context& owner = trace_of_trees(args...);
      const auto [arguments, body, result, results] = trace_point(owner, "vjp", function, args...);
      growing_vector<tracer> values = results;
      if (!owner.failed) {
        auto same = [](std::size_t, tracer x) { return x; };
        joint_program joint(owner, body, arguments.wanted, same, same);
        if (!owner.failed) values = replay_graph(owner, joint.forward_half(), arguments.operands);
      }
      values.resize(results.size() + index_of(Residuals), values[0]);
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::pair{with_leaves(result, values), std::tuple<decltype(tracer((void(I), values[0])))...>{
                                                          values[results.size() + I]...}};
      }(std::make_index_sequence<std::size_t{Residuals}>{});
    }
  }

  /// How many residuals there are; -1 where the function cannot be differentiated.
  template <class... Args> static constexpr int count(const Args&... args) {
    context& owner = trace_of_trees(args...);
    const auto point = trace_point(owner, "vjp", Function{}, args...);
    if (owner.failed) return -1;
    auto same = [](std::size_t, tracer x) { return x; };
    const joint_program joint(owner, point.body, point.arguments.wanted, same, same);
    return owner.failed ? -1 : joint.residual_count();
  }
};

/// The program of a pullback: the arguments' cotangents, given arguments, residuals and the results' cotangents.
template <class Function> struct backward_half {
  template <class Args, class Residuals, class Cotangents>
  constexpr auto operator()(const Args& args, const Residuals& residuals, const Cotangents& cotangents) const {
    context& owner = trace_of_trees(args, residuals, cotangents);
    const auto [arguments, body, result, results] =
        std::apply([&](const auto&... each) { return trace_point(owner, "vjp", Function{}, each...); }, args);
    constexpr bool fits = same_structure<std::remove_cvref_t<decltype(result)>, Cotangents>();
    static_assert(fits, "parallax: vjp: give the pullback a tree of cotangents like the function's result");
    growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      const growing_vector<tracer> given = result_cotangents(owner, "vjp", result, cotangents);
      auto same = [](std::size_t, tracer x) { return x; };
      if (!owner.failed) {
        joint_program joint(owner, body, arguments.wanted, same, same);
        growing_vector<tracer> inputs = arguments.operands;
        for_each(leaves_to_tracers(owner, residuals), [&](const tracer& x) { inputs.push_back(x); });
        for_each(joint.differentiated_results, [&](int k) { inputs.push_back(given[index_of(k)]); });
        const growing_vector<tracer> gradients = replay_graph(owner, joint.backward_half(), inputs);
        growing_vector<tracer> by_operand(arguments.operands.size());
        for (std::size_t i = 0; i < gradients.size(); ++i)
          by_operand[index_of(joint.differentiated_inputs[i])] = gradients[i];
        leaves = arguments.gradients(by_operand);
      }
    }
    return arguments_with_leaves(leaves, args);
  }
};

/// The program of the derivative along tangents, given arguments, residuals and these: the pullback transposed.
template <class Function> struct moved_from_residuals {
  template <class Args, class Residuals, class... Tangents>
  constexpr auto operator()(const Args& args, const Residuals& residuals, const Tangents&... tangents) const {
    context& owner = trace_of_trees(args, residuals, tangents...);
    const auto [arguments, body, result, results] =
        std::apply([&](const auto&... each) { return trace_point(owner, "linearize", Function{}, each...); }, args);
    growing_vector<tracer> moving = results;
    const growing_vector<tracer> directions = argument_tangents(owner, "linearize", args, tangents...);
    auto same = [](std::size_t, tracer x) { return x; };
    if (!owner.failed) {
      joint_program joint(owner, body, arguments.wanted, same, same);
      growing_vector<tracer> inputs = arguments.operands;
      for_each(leaves_to_tracers(owner, residuals), [&](const tracer& x) { inputs.push_back(x); });
      const graph_id half = joint.backward_half();
      growing_vector<tracer> like, given;
      // the results' shapes in this graph: what their zeros are made of
      const growing_vector<tracer> shapes = vector_of(
          results, [&](const tracer& y) { return build::zeros(owner, y.value()); });
      for_each(joint.differentiated_results, [&](int k) { like.push_back(shapes[index_of(k)]); });
      for_each(joint.differentiated_inputs, [&](int k) { given.push_back(directions[index_of(k)]); });
      moving = result_tangents(shapes, joint.differentiated_results, pushed_through(owner, half, inputs, like, given));
    }
    return with_leaves(result, moving);
  }
};

/// The program of a transposed function.
template <class Function> struct transposed_program {
  template <class Args, class Cotangents>
  constexpr auto operator()(const Args& args, const Cotangents& cotangents) const {
    context& owner = trace_of_trees(args, cotangents);
    const auto [arguments, body, result, results] =
        std::apply([&](const auto&... each) { return trace_point(owner, "linear_transpose", Function{}, each...); },
                   args);
    constexpr bool fits = same_structure<std::remove_cvref_t<decltype(result)>, Cotangents>();
    static_assert(fits, "parallax: linear_transpose: give the transposed function a tree like the function's result");
    growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      const growing_vector<tracer> given = result_cotangents(owner, "linear_transpose", result, cotangents);
      if (!owner.failed) leaves = arguments.gradients(transposed(arguments, body, given));
    }
    return arguments_with_leaves(leaves, args);
  }

 private:
  /// In a graph of its own, so that it can be seen whether it asks for the arguments' values.
  static constexpr growing_vector<tracer> transposed(const differentiated_inputs& arguments, graph_id body,
                                                     const growing_vector<tracer>& given) {
    context& owner = arguments.owner;
    const graph_id own = owner.open_graph();
    auto enter = [&](const tracer& x) { return x.owner ? new_input(owner, x.value()) : x; };
    const growing_vector<tracer> values = vector_of(arguments.operands, enter);
    growing_vector<tracer> operands = arguments.operands;
    const growing_vector<tracer> cotangents = vector_of(given, enter);
    for_each(given, [&](const tracer& x) {
      if (x.owner) operands.push_back(x);
    });
    reverse_pass pass(owner, body, values, arguments.wanted);
    const growing_vector<tracer> gradients = pass.backward(cotangents);
    growing_vector<int> there;
    for (std::size_t i = 0; i < gradients.size() && !owner.failed; ++i)
      if (arguments.wanted[i] != 0 && gradients[i].owner) {
        add_output(owner, gradients[i]);
        there.push_back(static_cast<int>(i));
      }
    owner.close_graph();
    growing_vector<tracer> by_operand(arguments.operands.size());
    if (owner.failed) return by_operand;
    const id_set<node_id> needed = owner.at(own).needed();
    for_each(values, [&](const tracer& x) {
      if (needed.contains(x.id))
        owner.fail(message() << "linear_transpose: the function is not linear in its arguments, as its derivative "
                                "depends on where they are; use vjp, which is given them");
    });
    const growing_vector<tracer> made = replay_graph(owner, own, operands);
    for (std::size_t i = 0; i < made.size(); ++i) by_operand[index_of(there[i])] = made[i];
    return by_operand;
  }
};

} // namespace detail

namespace detail {
// Defined where programs are called.
template <template <class, class, class> class Half, class Function, class... Args>
auto execute_half(const Function& function, const Args&... args);
} // namespace detail

/// A function's pullback at a point: `vjp` returns it.
template <class Function, class Args, class Residuals> struct pullback {
  Args args;
  Residuals residuals;

  /// The cotangents of the arguments, as a tuple, given those of the results, a tree like these.
  template <class Cotangents> auto operator()(const Cotangents& cotangents) const {
    return execute(detail::backward_half<Function>{}, args, residuals, cotangents);
  }
};

/// A function's derivative at a point, as a linear function of tangents: `linearize` returns it.
template <class Function, class Args, class Residuals> struct linearized {
  Args args;
  Residuals residuals;

  /// The results' tangents, given those of the arguments, one after another; `none` stands for zeros.
  template <class... Tangents> auto operator()(const Tangents&... tangents) const {
    constexpr bool fits = detail::one_tangent_each<Args, std::tuple<Tangents...>>::value;
    static_assert(fits, "parallax: linearize: give a tangent for each argument, a tree like it, or none");
    if constexpr (fits) return execute(detail::moved_from_residuals<Function>{}, args, residuals, tangents...);
    else return detail::no_result<Function>{};
  }
};

/// The same inside another traced function.
template <class Function, class Tree, class Args> class traced_linearized {
 public:
  constexpr traced_linearized(const detail::reverse_pass& forward, const detail::differentiated_inputs& given,
                              const Tree& results, const Args& primals)
      : pass(forward), arguments(given), result(results), args(primals) {}

  template <class... Tangents> constexpr auto operator()(const Tangents&... tangents) const {
    using namespace detail;
    constexpr bool fits = one_tangent_each<Args, std::tuple<Tangents...>>::value;
    static_assert(fits, "parallax: linearize: give a tangent for each argument, a tree like it, or none");
    context& owner = arguments.owner;
    growing_vector<tracer> moving = tracers_of(result);
    if constexpr (fits) {
      const growing_vector<tracer> directions = argument_tangents(owner, "linearize", args, tangents...);
      if (!owner.failed) moving = moved_along(directions);
    }
    return with_leaves(result, moving);
  }

 private:
  detail::reverse_pass pass;
  detail::differentiated_inputs arguments;
  Tree result;
  Args args;

  constexpr growing_vector<tracer> moved_along(const growing_vector<tracer>& directions) const {
    using namespace detail;
    context& owner = arguments.owner;
    const growing_vector<tracer>& results = pass.outputs;
    detail::reverse_pass again = pass;
    const graph_id pull = owner.open_graph();
    growing_vector<int> differentiated;
    growing_vector<tracer> cotangents(results.size()), like, given;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!is_floating(results[k].type())) continue;
      differentiated.push_back(static_cast<int>(k));
      like.push_back(results[k]);
      cotangents[k] = new_input(owner, results[k].value());
    }
    const growing_vector<tracer> gradients = again.backward(cotangents);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (arguments.wanted[i] == 0 || !gradients[i].owner || !directions[i].owner) continue;
      add_output(owner, gradients[i]);
      given.push_back(directions[i]);
    }
    owner.close_graph();
    if (owner.failed) return results;
    return result_tangents(results, differentiated, pushed_through(owner, pull, {}, like, given));
  }
};

/// A function transposed: `linear_transpose` returns it.
template <class Function, class Args> struct transposed_function {
  Args args;

  /// The cotangents of the arguments, as a tuple, given a tree like the function's result.
  template <class Cotangents> constexpr auto operator()(const Cotangents& cotangents) const {
    if constexpr (!detail::any_traced<Args, Cotangents>())
      return execute(detail::transposed_program<Function>{}, args, cotangents);
    else return detail::transposed_program<Function>{}(args, cotangents);
  }
};

/// The pair of `function(args...)` and its pullback, which takes cotangents of the result and returns the tuple of those
/// of the arguments. The pullback may be called often: what it needs of the function has been kept. Cotangents of
/// integers are zeros. JAX: vjp
template <class Function, class... Args> constexpr auto vjp(const Function& function, const Args&... args) {
  if constexpr (!detail::any_traced<Args...>()) {
    return detail::execute_half<pullback>(function, args...);
  } else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>()) {
    return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "vjp");
  } else {
    context& owner = detail::trace_of_trees(args...);
    const auto [arguments, body, result, results] = detail::trace_point(owner, "vjp", function, args...);
    const detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
    const auto values = detail::with_leaves(result, owner.failed ? results : pass.outputs);
    using pulled = traced_pullback<std::remove_cvref_t<decltype(result)>, std::tuple<Args...>>;
    return std::pair{values, pulled(pass, arguments, values, {args...})};
  }
}

/// The pair of `function(args...)` and its derivative there, a linear function of the arguments' tangents, which may be
/// called often. A `while_loop` has none, as nothing says how many rounds to keep: use `jvp`. JAX: linearize
template <class Function, class... Args> constexpr auto linearize(const Function& function, const Args&... args) {
  if constexpr (!detail::any_traced<Args...>()) {
    return detail::execute_half<linearized>(function, args...);
  } else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>()) {
    return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "linearize");
  } else {
    context& owner = detail::trace_of_trees(args...);
    const auto [arguments, body, result, results] = detail::trace_point(owner, "linearize", function, args...);
    const detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
    const auto values = detail::with_leaves(result, owner.failed ? results : pass.outputs);
    using moved = traced_linearized<Function, std::remove_cvref_t<decltype(result)>, std::tuple<Args...>>;
    return std::pair{values, moved(pass, arguments, values, {args...})};
  }
}

/// The transpose of a function that is linear in its arguments: it takes a tree like the result, and returns the tuple
/// of trees like the arguments, of which `args` only say the types and shapes. JAX: linear_transpose
template <class Function, class... Args> constexpr auto linear_transpose(const Function&, const Args&... args) {
  return transposed_function<Function, std::tuple<Args...>>{{args...}};
}

} // namespace parallax
