// jacfwd, jacrev and hessian: all derivatives of a function's results, by mapping one direction at a time.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/batch.hpp>
#include <parallax/transforms/passes/forward.hpp>
#include <parallax/transforms/passes/reverse.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

namespace detail {

enum class derivative_mode { forward, reverse };

/// The matrices of derivatives of a traced function, leaf by leaf.
class jacobian_builder {
 public:
  constexpr jacobian_builder(const differentiated_inputs& given, graph_id traced, std::string_view transformation)
      : trace(given.owner), arguments(given), body(traced), name(transformation) {}

  /// For each result, for each leaf of the arguments: an array of the result's shape and then the leaf's. A leaf that
  /// is not chosen stands for itself.
  constexpr growing_vector<growing_vector<tracer>> run(derivative_mode mode, plain_span<const tracer> results) {
    growing_vector<growing_vector<tracer>> derivatives(results.size());
    for_each(derivatives, [&](growing_vector<tracer>& of_result) { of_result = arguments.leaves; });
    if (trace.failed || !check(results)) return derivatives;
    if (mode == derivative_mode::forward) push_each(derivatives);
    else pull_each(derivatives);
    return derivatives;
  }

 private:
  context& trace;
  const differentiated_inputs& arguments;
  graph_id body;
  std::string_view name;

  constexpr bool check(plain_span<const tracer> results) {
    for (const tracer& y : results) {
      if (has_derivatives(y.type())) continue;
      message text;
      text << name << " requires real-valued results (float32 or float64), but the function returns ";
      print_value(text, trace.extents, y.value());
      trace.fail(text << "; convert it with astype<float>, or leave it out");
      return false;
    }
    return true;
  }

  /// The directions along each single element, stacked along a new axis 0.
  constexpr tracer basis(const abstract_value& like, dim count) {
    const dims square{count, count};
    auto numbers = [&](int axis) { return emit<primitives::iota>(trace, {element_type::int32, axis, square}); };
    const tracer identity = build::convert(emit<primitives::equal>({numbers(0), numbers(1)}), like.type);
    dims shape = like.shape;
    shape.insert(0, count);
    return build::reshape(identity, shape);
  }
  /// The outputs of graph `of_one` for each direction.
  constexpr growing_vector<batched> mapped(graph_id of_one, const abstract_value& like, dim count) {
    const axis_id axis = trace.axes.add({.name = "", .size = count, .own_instances = count});
    return batch_graph(trace, of_one, {{basis(like, count), 0}}, count, axis);
  }
  constexpr bool fits(const abstract_value& result, const abstract_value& leaf) {
    return check_rank(trace, name, result.rank() + leaf.rank());
  }
  static constexpr dims joined(dims first, const dims& second) {
    for (const dim extent : second) first.push_back(extent);
    return first;
  }
  /// By operand: the number of its leaf.
  constexpr growing_vector<std::size_t> leaf_numbers() const {
    growing_vector<std::size_t> numbers;
    for (std::size_t k = 0; k < arguments.leaves.size(); ++k)
      if (arguments.leaves[k].owner) numbers.push_back(k);
    return numbers;
  }

  constexpr void push_each(growing_vector<growing_vector<tracer>>& derivatives) {
    const growing_vector<std::size_t> leaf_of = leaf_numbers();
    for (std::size_t i = 0; i < arguments.operands.size() && !trace.failed; ++i) {
      if (arguments.wanted[i] == 0) continue;
      const abstract_value leaf = arguments.operands[i].value();
      const dim count = trace.extents.product(leaf.shape);
      const graph_id push = trace.open_graph();
      growing_vector<tracer> directions(arguments.operands.size());
      directions[i] = new_input(trace, leaf);
      const forward_pass pass(trace, body, arguments.operands, directions);
      for (std::size_t k = 0; k < pass.outputs.size(); ++k)
        add_output(trace, pass.tangents[k].owner ? pass.tangents[k] : build::zeros_like(pass.outputs[k]));
      trace.close_graph();
      if (trace.failed) return;
      const growing_vector<batched> columns = mapped(push, leaf, count);
      for (std::size_t k = 0; k < columns.size() && !trace.failed; ++k) {
        const abstract_value result = pass.outputs[k].value();
        if (!fits(result, leaf)) return;
        derivatives[k][leaf_of[i]] =
            build::reshape(build::mapped_at(columns[k], result.rank(), count), joined(result.shape, leaf.shape));
      }
    }
  }

  constexpr void pull_each(growing_vector<growing_vector<tracer>>& derivatives) {
    const growing_vector<std::size_t> leaf_of = leaf_numbers();
    reverse_pass pass(trace, body, arguments.operands, arguments.wanted);
    for (std::size_t k = 0; k < derivatives.size() && !trace.failed; ++k) {
      const abstract_value result = pass.outputs[k].value();
      const dim count = trace.extents.product(result.shape);
      const graph_id pull = trace.open_graph();
      growing_vector<tracer> cotangents(derivatives.size());
      cotangents[k] = new_input(trace, result);
      const growing_vector<tracer> given = pass.backward(cotangents);
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (arguments.wanted[i] == 0) continue;
        const tracer operand = arguments.operands[i];
        add_output(trace, given[i].owner ? build::broadcast_to(given[i], operand.extents())
                                         : build::zeros(trace, operand.value()));
      }
      trace.close_graph();
      if (trace.failed) return;
      const growing_vector<batched> rows = mapped(pull, result, count);
      std::size_t row = 0;
      for (std::size_t i = 0; i < arguments.operands.size() && !trace.failed; ++i) {
        if (arguments.wanted[i] == 0) continue;
        const abstract_value leaf = arguments.operands[i].value();
        if (!fits(result, leaf)) return;
        derivatives[k][leaf_of[i]] =
            build::reshape(build::mapped_at(rows[row++], 0, count), joined(result.shape, leaf.shape));
      }
    }
  }
};

} // namespace detail

/// A function that computes a Jacobian.
template <class Function, class Argnums, detail::derivative_mode Mode> struct jacobian {
  [[no_unique_address]] Function function;
  static constexpr std::string_view name = Mode == detail::derivative_mode::forward ? "jacfwd" : "jacrev";

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    static_assert(detail::chosen_arguments<Argnums>::largest() < static_cast<int>(sizeof...(Args)),
                  "parallax: jacfwd, jacrev: argnums names an argument that is not there; count arguments from 0, or "
                  "from -1 at the end");
    if constexpr (detail::chosen_arguments<Argnums>::largest() >= static_cast<int>(sizeof...(Args)))
      return detail::no_result<Function>{};
    else if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), name);
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    detail::context& owner = detail::trace_of_trees(args...);
    detail::differentiated_inputs arguments(owner, name, detail::leaves_to_tracers(owner, args...));
    const auto [body, result, results] = detail::trace_body<Argnums>(arguments, function, args...);
    const auto derivatives = detail::jacobian_builder(arguments, body, name).run(Mode, results);
    std::size_t next = 0;
    return tree_map([&](const tracer&) { return detail::chosen_with_leaves<Argnums>(derivatives[next++], args...); },
                    result);
  }
};

template <class Function, class Argnums, detail::derivative_mode Mode>
inline constexpr bool detail::is_transformed<jacobian<Function, Argnums, Mode>> = true;

/// The Jacobian of `function` by forward mode, one direction for each element of the argument: a tree like the result,
/// of trees like the argument, of arrays whose shapes are the result's and then the argument's. The better choice if
/// arguments have few elements. Shapes: those of a result's leaf, and behind them those of an argument's. Errors: an
/// argument that is differentiated and not floating; a number in `argnums` of no argument. JAX: jacfwd
template <class Function, class Argnums = argnums_t<0>> constexpr auto jacfwd(Function function, Argnums = {}) {
  detail::check_argnums<Argnums>();
  return jacobian<Function, Argnums, detail::derivative_mode::forward>{function};
}
/// The Jacobian of `function` by reverse mode, one pass back for each element of the result, as a tree like that of
/// `jacfwd`. The better choice if results have few elements. Shapes: those of a result's leaf, and behind them those of
/// an argument's. Errors: an argument that is differentiated and not floating; a number in `argnums` of no argument.
/// JAX: jacrev
template <class Function, class Argnums = argnums_t<0>> constexpr auto jacrev(Function function, Argnums = {}) {
  detail::check_argnums<Argnums>();
  return jacobian<Function, Argnums, detail::derivative_mode::reverse>{function};
}
/// The second derivatives of `function`: a tree like the result, of trees like the argument, whose leaves are again
/// trees like the argument. Errors: as of `jacfwd`. JAX: hessian
template <class Function, class Argnums = argnums_t<0>> constexpr auto hessian(Function function, Argnums = {}) {
  detail::check_argnums<Argnums>();
  return jacfwd(jacrev(function, Argnums{}), Argnums{});
}

} // namespace parallax::PARALLAX_INLINE_VERSION
