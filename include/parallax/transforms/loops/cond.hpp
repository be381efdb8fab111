// cond and switch_: branches of a program.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/cond_call.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// The name of a branch in errors: for `cond`, the name of its parameter.
constexpr message name_of_branch(std::string_view operation, int number) {
  if (operation == "cond") return message() << (number == 0 ? "on_false" : "on_true");
  return message() << "branch " << number;
}

/// Reports branches that return different values.
constexpr bool check_branches_agree(context& trace, std::string_view operation, const growing_vector<tracer>& first,
                                    growing_vector<tracer>& other, int number) {
  for (std::size_t k = 0; k < first.size(); ++k) {
    const abstract_value wanted = first[k].value();
    tracer& made = other[k];
    if (made.weak() && made.rank() == wanted.rank()) made = build::convert(made, wanted.type);
    bool agree = made.type() == wanted.type && made.rank() == wanted.rank();
    for (int axis = 0; agree && axis < wanted.rank(); ++axis) {
      const dim left = wanted.shape[axis], right = made.dimension(axis);
      if (left == right) continue;
      agree = !is_static(left) || !is_static(right);
      if (agree) require(trace, guard_kind::equal_extents, operation, left, right, wanted, made.value());
    }
    if (agree) continue;
    message text;
    text << operation << ": result " << static_cast<int>(k) << " is ";
    print_value(text, trace.extents, wanted);
    text << " of " << name_of_branch(operation, 0).view() << ", and ";
    print_value(text, trace.extents, made.value());
    trace.fail(text << " of " << name_of_branch(operation, number).view()
                    << "; let branches return values of the same types and shapes");
    return false;
  }
  return true;
}

/// Functions of the same arguments, one of which is chosen by a number: for `cond`, or for `switch_`.
template <bool IsSwitch, class... Branches> struct chosen_branch {
  static constexpr std::string_view name = IsSwitch ? "switch_" : "cond";
  [[no_unique_address]] std::tuple<Branches...> branches;

  template <class Index, class... Args> constexpr auto operator()(const Index& index, const Args&... args) const {
    if constexpr (!any_traced<Index, Args...>()) return execute(*this, index, args...);
    else if constexpr (!(is_callable<Branches, traced_t<Args>...>() && ...))
      return refuse<Index, Args...>(trace_of_trees(index, args...));
    else return trace(trace_of_trees(index, args...), index, args...);
  }

 private:
  template <class Index, class... Args> static constexpr auto refuse(context& owner) {
    using first_wrong = std::tuple_element_t<first_refused<Args...>(), std::tuple<Branches...>>;
    return refuse_call<first_wrong, Args...>(owner, IsSwitch ? "switch_: a branch" : "cond: a branch");
  }
  template <class... Args> static constexpr std::size_t first_refused() {
    const bool callable[] = {is_callable<Branches, traced_t<Args>...>()...};
    std::size_t k = 0;
    while (callable[k]) ++k;
    return k;
  }
  template <class Index, class... Args>
  constexpr auto trace(context& owner, const Index& index, const Args&... args) const {
    growing_vector<tracer> operands = leaves_to_tracers(owner, args...);
    const tracer number = branch_number(owner, leaf_to_tracer(owner, index));
    cond_parameters call;
    auto traced = [&](const auto& branch) {
      call.branches.push_back(owner.open_graph());
      owner.current().runs_along = number.varies();
      growing_vector<tracer> inputs;
      for_each(operands, [&](const tracer& x) { inputs.push_back(x.owner ? input_of_branch(owner, x.value()) : x); });
      auto tree = call_on(owner, branch, inputs, std::index_sequence_for<Args...>{}, std::type_identity<Args>{}...);
      owner.close_graph();
      return tree;
    };
    auto trees = std::apply([&](const auto&... branch) { return std::tuple{traced(branch)...}; }, branches);
    auto& result = std::get<0>(trees);
    growing_vector<growing_vector<tracer>> results;
    std::apply([&](const auto&... tree) { (add_results(owner, result, results, tree), ...); }, trees);
    if (owner.failed) return result;
    for (std::size_t b = 1; b < results.size(); ++b) {
      reopen(owner, call.branches[b]);
      if (!check_branches_agree(owner, name, results[0], results[b], static_cast<int>(b))) return result;
      owner.close_graph();
    }
    const growing_vector<axis_bits> vary = variation_of_all(results, number.varies());
    for (std::size_t b = 0; b < results.size(); ++b) {
      reopen(owner, call.branches[b]);
      for (std::size_t k = 0; k < vary.size(); ++k) results[b][k] = vary_along(results[b][k], vary[k]);
      set_outputs(owner, results[b]);
      owner.close_graph();
    }
    growing_vector<tracer> all{number};
    for_each(operands, [&](const tracer& x) {
      if (x.owner) all.push_back(build::convert(x, x.type()));
    });
    primitives::cond_call::add_captures(owner, call, all);
    if (owner.failed) return result;
    return with_leaves(result, emit_call<primitives::cond_call>(owner, all, call));
  }
  /// An input for an operand of a branch that not all instances may take.
  static constexpr tracer input_of_branch(context& owner, abstract_value value) {
    value.varies = value.varies | owner.current().runs_along;
    return new_input(owner, strong(value));
  }
  /// By result: the axes of meshes along which the result of any branch, or the choice of the branch, may differ.
  static constexpr growing_vector<axis_bits> variation_of_all(const growing_vector<growing_vector<tracer>>& results,
                                                              axis_bits chosen_along) {
    growing_vector<axis_bits> all(results[0].size(), chosen_along);
    for (const growing_vector<tracer>& of_branch : results)
      for (std::size_t k = 0; k < all.size(); ++k) all[k] = all[k] | of_branch[k].varies();
    return all;
  }
  static constexpr void reopen(context& owner, graph_id graph) { owner.active.push_back(graph); }
  template <class First, class Tree>
  static constexpr void add_results(context& owner, const First&, growing_vector<growing_vector<tracer>>& results,
                                    const Tree& tree) {
    if constexpr (!same_structure<First, Tree>())
      owner.fail(message() << name << ": " << name_of_branch(name, static_cast<int>(results.size())).view()
                           << " returns another tree than " << name_of_branch(name, 0).view()
                           << "; let all branches return the same one");
    results.push_back(tracers_of(tree));
  }
  /// The number of a branch, from 0 on: 1 for a boolean true. Numbers beyond the branches are clamped, as in JAX.
  static constexpr tracer branch_number(context& owner, tracer index) {
    if (index.rank() != 0 || is_inexact(index.type())) {
      message text;
      text << name << ": what chooses a branch is ";
      print_value(text, owner.extents, index.value());
      owner.fail(text << "; give one boolean number or one integer");
      return build::integer_literal(owner, element_type::int32, 0);
    }
    // clamped in a type that can hold all numbers of the index' type
    const tracer number = build::convert(index, size_of(index.type()) < 4 ? element_type::int32 : index.type());
    const tracer last = build::like(number, static_cast<double>(sizeof...(Branches)) - 1);
    return build::convert(
        emit<primitives::minimum>({emit<primitives::maximum>({number, build::like(number, 0)}), last}),
        element_type::int32);
  }
};
template <bool IsSwitch, class... Branches>
inline constexpr bool is_transformed<chosen_branch<IsSwitch, Branches...>> = true;

} // namespace detail

/// `on_true(args...)` if `predicate`, one boolean number, holds, otherwise `on_false(args...)`; only one of them runs.
/// Both return the same tree of arrays of the same types and shapes. Under vmap with a mapped predicate both run, and
/// elements are selected. Errors: a predicate that is no number or is floating; branches whose results differ in tree,
/// type or shape. JAX: lax.cond
template <class Predicate, class OnTrue, class OnFalse, class... Args>
constexpr auto cond(const Predicate& predicate, OnTrue on_true, OnFalse on_false, const Args&... args) {
  return detail::chosen_branch<false, OnFalse, OnTrue>{{on_false, on_true}}(predicate, args...);
}

/// Calls branch number `index` of a std::tuple of functions with `args...`. Numbers below 0 and beyond the last branch
/// are clamped. Errors: an index that is no whole number; branches whose results differ in tree, type or shape. JAX:
/// lax.switch
template <class Index, class... Branches, class... Args>
// NOLINTNEXTLINE(readability-identifier-naming): a keyword, without the underscore
constexpr auto switch_(const Index& index, std::tuple<Branches...> branches, const Args&... args) {
  return detail::chosen_branch<true, Branches...>{branches}(index, args...);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
