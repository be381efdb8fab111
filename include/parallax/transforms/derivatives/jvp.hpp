// jvp: the derivative of a function along a direction, by forward mode.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/expressions/axes.hpp>
#include <parallax/transforms/derivatives/linear_point.hpp>
#include <parallax/transforms/passes/forward.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// The program of a `jvp`: a function of the arguments and of their tangents.
template <class Function> struct moved {
  [[no_unique_address]] Function function;

  template <class... Primals, class... Tangents>
  constexpr auto operator()(const std::tuple<Primals...>& primals, const std::tuple<Tangents...>& tangents) const {
    constexpr bool fits = detail::one_tree_each<std::tuple<Primals...>, std::tuple<Tangents...>>;
    static_assert(fits, "parallax: jvp: give a tangent for each argument, a tree like it, or none");
    if constexpr (!fits) return detail::no_result<Function>{};
    else if constexpr (!detail::any_traced<Primals..., Tangents...>()) return execute(*this, primals, tangents);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Primals>...>())
      return detail::refuse_call<Function, Primals...>(detail::trace_of_trees(primals, tangents), "jvp");
    else return trace(primals, tangents);
  }

 private:
  template <class Primals, class Tangents>
  constexpr auto trace(const Primals& primals, const Tangents& tangents) const {
    using namespace detail;
    detail::context& owner = trace_of_trees(primals, tangents);
    const detail::growing_vector<tracer> directions =
        std::apply([&](const auto&... each) { return argument_tangents(owner, "jvp", primals, each...); }, tangents);
    const auto point = trace_point_at(owner, "jvp", function, primals);
    detail::growing_vector<tracer> values = point.results, moving = values;
    if (!owner.failed) {
      const forward_pass pass(owner, point.body, point.arguments.operands, directions);
      values = pass.outputs;
      for (std::size_t k = 0; k < values.size(); ++k)
        moving[k] = pass.tangents[k].owner ? pass.tangents[k] : build::zeros_like(values[k]);
    }
    return std::pair{with_leaves(point.result, values), with_leaves(point.result, moving)};
  }
};

template <class Function> inline constexpr bool detail::is_transformed<moved<Function>> = true;

/// The pair of `function(primals...)` and its derivative along `tangents`, by forward mode: both in one pass, which
/// keeps nothing. Tangents are like the arguments; `none` stands for zeros, and is the tangent of an integer argument.
/// Integer results have zeros. Errors: tangents that are no trees like the arguments, nor `none`; an argument with a
/// tangent that is not floating; an operation without a derivative. JAX: jvp
template <class Function, class... Primals, class... Tangents>
constexpr auto jvp(Function function, const std::tuple<Primals...>& primals, const std::tuple<Tangents...>& tangents) {
  // `moved` checks this too, one step further from the user's line
  constexpr bool fits = detail::one_tree_each<std::tuple<Primals...>, std::tuple<Tangents...>>;
  if constexpr (fits && !detail::any_traced<Primals..., Tangents...>())
    return execute(moved<Function>{function}, primals, tangents);
  else return moved<Function>{function}(primals, tangents);
}
/// Arguments that are no tuples are an error.
template <class Function, class Primals, class Tangents> constexpr auto jvp(Function, const Primals&, const Tangents&) {
  static_assert(sizeof(Function) == 0,
                "parallax: jvp: arguments and tangents are each given as a tuple, but one of them "
                "is not; call plx::jvp(f, std::tuple{x}, std::tuple{v})");
  return detail::no_result<Function>{};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
