// vmap: a function of single elements becomes one of whole batches.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/maps/mapping.hpp>
#include <parallax/transforms/passes/batch.hpp>

namespace parallax::PARALLAX_INLINE_VERSION {

/// A function mapped by vmap. Call it with arrays, or with tracers inside another traced function.
template <class Function, detail::fixed_string Name, class InAxes, class OutAxes> struct vmapped {
  [[no_unique_address]] Function function;

  template <class... Args> constexpr auto operator()(const Args&... args) const {
    if constexpr (!detail::any_traced<Args...>()) return execute(*this, args...);
    else if constexpr (!detail::is_callable<Function, detail::traced_t<Args>...>())
      return detail::refuse_call<Function, Args...>(detail::trace_of_trees(args...), "vmap");
    else return trace(args...);
  }

 private:
  template <class... Args> constexpr auto trace(const Args&... args) const {
    detail::context& owner = detail::trace_of_trees(args...);
    auto [arguments, body, axis, result, results] = detail::trace_instance<Name, InAxes>(
        owner, "vmap", function,
        [](std::string_view name, const detail::mapped_arguments& mapped) {
          return detail::mapped_axis{.name = name, .size = mapped.size, .own_instances = mapped.size};
        },
        args...);
    if (owner.failed) return result;

    detail::growing_vector<detail::batched> batch;
    for (std::size_t k = 0; k < arguments.leaves.size(); ++k)
      if (arguments.leaves[k].owner) batch.push_back({arguments.leaves[k], arguments.axes[k]});
    detail::growing_vector<detail::batched> outputs = detail::batch_graph(owner, body, batch, arguments.size, axis);
    detail::leaf_axes out = detail::result_axes<OutAxes>::template read<decltype(result)>();
    if (owner.failed || !detail::check_fit(owner, "vmap", "out_axes", out)) return result;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const detail::batched& y = outputs[k];
      const int rank = y.instance_rank();
      if (!detail::check_out_axis(owner, "vmap", out.values[k], rank)) return result;
      if (out.values[k] == detail::unmapped) {
        if (y.is_mapped()) detail::varying_output(owner, "vmap", Name.view(), static_cast<int>(k));
        results[k] = y.value;
      } else {
        if (!detail::check_rank(owner, "vmap", rank + 1)) return result;
        results[k] = build::mapped_at(y, out.values[k], arguments.size);
      }
    }
    return detail::with_leaves(result, results);
  }
};

template <class Function, detail::fixed_string Name, class InAxes, class OutAxes>
inline constexpr bool detail::is_transformed<vmapped<Function, Name, InAxes, OutAxes>> = true;

namespace detail {
template <template <auto...> class Template, class Default, class... Options> struct option {
  using type = Default;
};
template <template <auto...> class Template, class Default, auto... Values, class... Rest>
struct option<Template, Default, Template<Values...>, Rest...> {
  using type = Template<Values...>;
};
template <template <auto...> class Template, class Default, class First, class... Rest>
struct option<Template, Default, First, Rest...> : option<Template, Default, Rest...> {};
} // namespace detail

/// Maps `function` over an axis of its arguments: `vmap(f)`, `vmap<"name">(f, in_axes<0, none>, out_axes<1>)`. The
/// operations of `function` become operations on whole batches; a matrix-vector product becomes a matrix product.
/// Collectives over the named axis become reductions. Errors: no argument that is mapped; an axis that an argument or a
/// result does not have; mapped extents that differ. JAX: vmap
template <detail::fixed_string Name = "", class Function, class... Options>
constexpr auto vmap(Function function, Options...) {
  using in = typename detail::option<in_axes_t, in_axes_t<0>, Options...>::type;
  using out = typename detail::option<out_axes_t, out_axes_t<0>, Options...>::type;
  return vmapped<Function, Name, in, out>{function};
}

} // namespace parallax::PARALLAX_INLINE_VERSION
