// grad and value_and_grad: reverse-mode derivatives of functions with a scalar result.
#pragma once

#include <parallax/transforms/call.hpp>
#include <parallax/transforms/reverse.hpp>

namespace parallax {

/// The arguments to differentiate with respect to: `grad(f, argnums<0, 2>)`; the first one by default.
template <int... Numbers> struct argnums_t {};
template <int... Numbers> inline constexpr argnums_t<Numbers...> argnums{};

namespace detail {
template <class Argnums> struct chosen_arguments;
template <int... Numbers> struct chosen_arguments<argnums_t<Numbers...>> {
  static constexpr bool contains(int number) { return ((number == Numbers) || ...); }
  static constexpr int largest() {
    int result = 0;
    ((result = Numbers > result ? Numbers : result), ...);
    return result;
  }
  /// Of trees of all arguments, those chosen: one by itself, several as a tuple.
  template <class Trees> static constexpr auto pick(const Trees& trees) {
    if constexpr (sizeof...(Numbers) == 1) return std::get<Numbers...>(trees);
    else return std::tuple{std::get<Numbers>(trees)...};
  }
};
} // namespace detail

/// A function that computes a gradient, or the value and the gradient.
template <class Function, class Argnums, bool WithValue> struct differentiated {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    static_assert(detail::chosen_arguments<Argnums>::largest() < static_cast<int>(sizeof...(Args)),
                  "parallax: grad: argnums names an argument that is not there; count arguments from 0");
    if constexpr (detail::chosen_arguments<Argnums>::largest() >= static_cast<int>(sizeof...(Args)))
      return detail::no_result<Function>{};
    else if constexpr (detail::any_traced<Args...>()) return trace(args...);
    else return execute(*this, args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    context& owner = detail::trace_of_trees(args...);
    std::vector<tracer> leaves = detail::leaves_to_tracers(owner, args...);
    std::vector<tracer> inputs, operands;
    std::vector<char> wanted;
    int body = owner.open_graph();
    int argument = 0;
    std::size_t next = 0;
    auto take = [&]<class A>(std::type_identity<A>) {
      for (int i = 0; i < leaf_count<A>; ++i, ++next) {
        tracer leaf = leaves[next];
        bool chosen = detail::chosen_arguments<Argnums>::contains(argument);
        if (!leaf.owner) {
          inputs.push_back({});
          continue;
        }
        if (chosen && !is_floating(leaf.type())) {
          message text;
          text << "grad requires real-valued inputs (float32 or float64), but argument " << argument << " has type ";
          print_value(text, owner.extents, leaf.value());
          owner.fail(text << "; convert it with astype<float>, or leave it out of argnums");
        }
        inputs.push_back(detail::new_input(owner, leaf.value()));
        operands.push_back(leaf);
        wanted.push_back(chosen);
      }
      ++argument;
    };
    (take(std::type_identity<Args>{}), ...);
    auto result = detail::call_on(owner, function, inputs, std::type_identity<Args>{}...);
    std::vector<tracer> results = detail::tracers_of(result);
    detail::set_outputs(owner, results);
    owner.close_graph();

    auto zeros = [&] {
      std::vector<tracer> all = leaves;
      return gradients_like<Args...>(owner, all, args...);
    };
    tracer value = results[0];
    if (!owner.failed) {
      if (results.size() != 1 || value.rank() != 0 || !is_floating(value.type())) {
        message text;
        text << "grad requires a function with one real scalar result (float32[] or float64[]), but it returns ";
        if (results.size() != 1) text << static_cast<int>(results.size()) << " arrays";
        else print_value(text, owner.extents, value.value());
        owner.fail(text << "; reduce it with sum or mean, or return the loss alone");
      }
    }
    if (owner.failed) return finish(value, zeros());
    detail::reverse_pass pass(owner, body, operands, wanted);
    if (owner.failed) return finish(value, zeros());
    value = pass.outputs[0];
    std::vector<tracer> given = pass.backward({build::literal(owner, value.type(), 1)});
    std::vector<tracer> gradients = leaves;
    std::size_t at = 0;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      if (!leaves[k].owner) continue;
      gradients[k] = given[at].owner                 ? build::broadcast_to(given[at], leaves[k].extents())
                     : is_floating(leaves[k].type()) ? build::zeros_like(leaves[k])
                                                     : leaves[k];
      ++at;
    }
    return finish(value, gradients_like<Args...>(owner, gradients, args...));
  }

  template <class... Args>
  static constexpr auto gradients_like(context& owner, const std::vector<tracer>& leaves, const Args&... args) {
    std::size_t next = 0;
    auto leaf = [&]<class L>(const L&) {
      static_cast<void>(owner);
      return leaves[next++];
    };
    return detail::chosen_arguments<Argnums>::pick(std::tuple{tree_map(leaf, args)...});
  }
  template <class Gradients> static constexpr auto finish(tracer value, const Gradients& gradients) {
    if constexpr (WithValue) return std::pair{value, gradients};
    else return gradients;
  }
};

/// The gradient of `function`, whose result is a scalar, with respect to its first argument or those in `argnums<...>`;
/// a tree like the argument. JAX: grad
template <class Function, class Argnums = argnums_t<0>> constexpr auto grad(Function function, Argnums = {}) {
  return differentiated<Function, Argnums, false>{function};
}
/// The pair of the function's value and its gradient. JAX: value_and_grad
template <class Function, class Argnums = argnums_t<0>> constexpr auto value_and_grad(Function function, Argnums = {}) {
  return differentiated<Function, Argnums, true>{function};
}

} // namespace parallax
