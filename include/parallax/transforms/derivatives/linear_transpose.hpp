// linear_transpose: the transpose of a linear function.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/linear_point.hpp>
#include <parallax/transforms/passes/varying.hpp>

#include <tuple>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// The program of a transposed function.
template <class Function> struct transposed_program {
  [[no_unique_address]] Function function;

  template <class Args, class Cotangents>
  constexpr auto operator()(const Args& args, const Cotangents& cotangents) const {
    context& owner = trace_of_trees(args, cotangents);
    const auto point = trace_point_at(owner, "linear_transpose", function, args);
    const differentiated_inputs& arguments = point.arguments;
    const auto& result = point.result;
    constexpr bool fits = same_structure<std::remove_cvref_t<decltype(result)>, Cotangents>();
    static_assert(fits, "parallax: linear_transpose: give the transposed function a tree like the function's result");
    growing_vector<tracer> leaves = arguments.leaves;
    if constexpr (fits) {
      const growing_vector<tracer> given = result_cotangents(owner, "linear_transpose", result, cotangents);
      if (!owner.failed) leaves = arguments.gradients(transposed(arguments, point.body, given));
    }
    return arguments_with_leaves(leaves, args);
  }

 private:
  /// Transposes in a graph of its own, which shows whether the result depends on the arguments' values.
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
    // also through calls, whose bodies may leave operands unread
    operand_flags is_value(owner.at(own).inputs.size());
    for (std::size_t i = 0, input = 0; i < values.size(); ++i)
      if (values[i].owner) is_value[input++] = 1;
    if (varies_along({owner, axis_id::none}, own, is_value).any())
      owner.fail(message() << "linear_transpose: the function is not linear in its arguments, as its derivative "
                              "depends on where they are; use vjp, which is given them");
    const growing_vector<tracer> made = replay_graph(owner, own, operands);
    for (std::size_t i = 0; i < made.size(); ++i) by_operand[index_of(there[i])] = made[i];
    return by_operand;
  }
};

} // namespace detail

/// A function transposed: `linear_transpose` returns it.
template <class Function, class Args> struct transposed_function {
  [[no_unique_address]] Function function;
  Args args;

  /// The cotangents of the arguments, as a tuple, given a tree like the function's result.
  template <class Cotangents> constexpr auto operator()(const Cotangents& cotangents) const {
    if constexpr (!detail::any_traced<Args, Cotangents>())
      return execute(detail::transposed_program<Function>{function}, args, cotangents);
    else return detail::transposed_program<Function>{function}(args, cotangents);
  }
};

/// The transpose of a function that is linear in its arguments: it takes a tree like the result, and returns a tuple of
/// trees like the arguments. Only the types and shapes of `args` matter. Errors: a function that is not linear; a tree
/// that is not like its result. JAX: linear_transpose
template <class Function, class... Args>
constexpr auto linear_transpose(const Function& function, const Args&... args) {
  return transposed_function<Function, std::tuple<Args...>>{function, {args...}};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
