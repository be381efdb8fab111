// grad and value_and_grad: reverse-mode derivatives of functions with a scalar result.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/derivatives/differentiated_arguments.hpp>
#include <parallax/transforms/passes/reverse.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {

/// Says that a differentiated function returns a pair: the loss, and a tree that is passed on unchanged. JAX:
/// has_aux=True
struct has_aux_t {};
inline constexpr has_aux_t has_aux{};

namespace detail {

/// Fails unless a function has one result, a floating number.
constexpr void check_scalar_result(context& trace, const growing_vector<tracer>& results) {
  if (trace.failed || (results.size() == 1 && results[0].rank() == 0 && has_derivatives(results[0].type()))) return;
  message text;
  text << "grad requires a function with one real scalar result (float32[] or float64[]), but it returns ";
  if (results.size() != 1) text << count_of(results) << " arrays";
  else print_value(text, trace.extents, results[0].value());
  trace.fail(text << "; reduce it with sum or mean, or return the loss alone");
}

template <class T> inline constexpr bool is_argnums = false;
template <int... Numbers> inline constexpr bool is_argnums<argnums_t<Numbers...>> = true;

/// The arguments behind the function in calls of `grad`.
template <class... Options> struct gradient_options {
  static constexpr bool with_aux = (std::is_same_v<Options, has_aux_t> || ...);
  static constexpr bool known = ((is_argnums<Options> || std::is_same_v<Options, has_aux_t>) && ...);

  template <class Found, class...> struct find {
    using type = Found;
  };
  template <class Found, class First, class... Rest>
  struct find<Found, First, Rest...> : find<std::conditional_t<is_argnums<First>, First, Found>, Rest...> {};
  using argnums = typename find<argnums_t<0>, Options...>::type;

  static constexpr void check() {
    static_assert(known, "grad returns a function: call it with the arguments, plx::grad(f)(x); those to differentiate "
                         "with respect to are named by plx::argnums<0, 1>");
  }
};

/// Whether a function returns a pair of the loss and another tree.
template <class T> inline constexpr bool is_loss_with_aux = false;
template <class Loss, class Aux> inline constexpr bool is_loss_with_aux<std::pair<Loss, Aux>> = true;
template <class Loss, class Aux> inline constexpr bool is_loss_with_aux<std::tuple<Loss, Aux>> = true;

} // namespace detail

/// A function that computes a gradient, or the value and the gradient.
template <class Function, class Argnums, bool WithValue, bool WithAux> struct differentiated {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    static_assert(
        detail::chosen_arguments<Argnums>::largest() < static_cast<int>(sizeof...(Args)),
        "parallax: grad: argnums names an argument that is not there; count arguments from 0, or from -1 at the end");
    if constexpr (detail::chosen_arguments<Argnums>::largest() >= static_cast<int>(sizeof...(Args)))
      return detail::no_result<Function>{};
    else if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "grad");
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    detail::context& owner = detail::trace_of_trees(args...);
    detail::differentiated_inputs arguments(owner, "grad", detail::leaves_to_tracers(owner, args...));
    const auto [body, result, results] = detail::trace_body<Argnums>(arguments, function, args...);
    using tree = std::remove_cvref_t<decltype(result)>;
    if constexpr (WithAux && !detail::is_loss_with_aux<tree>) {
      owner.fail(
          detail::message() << "grad: with has_aux the function returns a pair: the loss, and what is handed on beside "
                               "it; return std::pair{loss, aux}, or leave has_aux out");
      const auto gradients = detail::chosen_with_leaves<Argnums>(arguments.leaves, args...);
      if constexpr (WithValue) return std::pair{std::pair{results[0], results[0]}, gradients};
      else return std::pair{gradients, results[0]};
    } else {
      detail::growing_vector<tracer> values = results;
      const detail::growing_vector<tracer> loss = detail::tracers_of(loss_of(result));
      detail::check_scalar_result(owner, loss);
      detail::growing_vector<tracer> gradients = arguments.leaves;
      if (!owner.failed) {
        detail::reverse_pass pass(owner, body, arguments.operands, arguments.wanted);
        if (!owner.failed) {
          values = pass.outputs;
          detail::growing_vector<tracer> seeds(values.size());
          seeds[0] = build::literal(owner, values[0].type(), 1);
          gradients = arguments.gradients(pass.backward(seeds));
        }
      }
      return finish(result, values, detail::chosen_with_leaves<Argnums>(gradients, args...));
    }
  }

  template <class Result> static constexpr const auto& loss_of(const Result& result) {
    if constexpr (WithAux) return std::get<0>(result);
    else return result;
  }
  /// The gradients, with the value and the auxiliary tree if they are asked for. `values` are the leaves of the
  /// function's results.
  template <class Result, class Gradients>
  static constexpr auto finish(const Result& result, const detail::growing_vector<tracer>& values,
                               const Gradients& gradients) {
    const tracer value = values[0];
    if constexpr (WithAux) {
      const auto aux = std::get<1>(detail::with_leaves(result, values));
      if constexpr (WithValue) return std::pair{std::pair{value, aux}, gradients};
      else return std::pair{gradients, aux};
    } else {
      static_cast<void>(result);
      if constexpr (WithValue) return std::pair{value, gradients};
      else return gradients;
    }
  }
};

template <class Function, class Argnums, bool WithValue, bool WithAux>
inline constexpr bool detail::is_transformed<differentiated<Function, Argnums, WithValue, WithAux>> = true;

/// The gradient of `function`, whose result is a scalar, with respect to its first argument or those in `argnums<...>`;
/// a tree like the argument. With `has_aux`, the function returns a pair of the scalar and a tree; the result is then
/// the pair of the gradient and that tree. Errors: a result that is not one floating number; an argument that is
/// differentiated and not floating; a number in `argnums` of no argument; an operation without a derivative. JAX: grad
template <class Function, class... Options> constexpr auto grad(Function function, Options...) {
  using options = detail::gradient_options<Options...>;
  options::check();
  return differentiated<Function, typename options::argnums, false, options::with_aux>{function};
}
/// The pair of the function's value and its gradient; with `has_aux`, the value is a pair with the tree beside it.
/// Errors: as of `grad`. JAX: value_and_grad
template <class Function, class... Options> constexpr auto value_and_grad(Function function, Options...) {
  using options = detail::gradient_options<Options...>;
  options::check();
  return differentiated<Function, typename options::argnums, true, options::with_aux>{function};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
