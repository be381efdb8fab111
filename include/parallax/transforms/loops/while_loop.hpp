// while_loop: a loop whose values decide the number of rounds.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/while_call.hpp>
#include <parallax/transforms/loops/carries.hpp>
#include <parallax/transforms/passes/callable.hpp>
#include <parallax/transforms/passes/mesh_variation.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION {
namespace detail {

/// A traced function of a loop's carries, in a graph of its own.
template <class Result> struct traced_function {
  graph_id body;
  Result result;
  growing_vector<tracer> leaves;
};
template <class Function, class Init>
constexpr auto trace_carried(context& trace, const Function& function, const growing_vector<abstract_value>& carries,
                             std::type_identity<Init> init) {
  const graph_id body = trace.open_graph();
  growing_vector<tracer> inputs;
  for_each(carries, [&](const abstract_value& value) { inputs.push_back(new_input(trace, value)); });
  auto result = call_on(trace, function, inputs, std::index_sequence<0>{}, init);
  return traced_function<decltype(result)>{body, result, tracers_of(result)};
}

/// What errors say of a loop: the user's name for it, and how many carries in front of the user's are its own.
struct named_while_loop {
  static constexpr std::string_view name = "while_loop";
  static constexpr int own_carries = 0;
};

template <class Predicate, class Body, class Said = named_while_loop> struct looped_while {
  [[no_unique_address]] Predicate predicate;
  [[no_unique_address]] Body body;

  template <class Init> constexpr auto operator()(const Init& init) const {
    if constexpr (!any_traced<Init>()) return execute(*this, init);
    else if constexpr (!is_callable<Predicate, traced_t<Init>>())
      return refuse_call<Predicate, Init>(trace_of_trees(init), "while_loop: predicate");
    else if constexpr (!is_callable<Body, traced_t<Init>>())
      return refuse_call<Body, Init>(trace_of_trees(init), Said::name);
    else return trace(trace_of_trees(init), init);
  }

 private:
  template <class Init> constexpr auto trace(context& owner, const Init& init) const {
    growing_vector<tracer> operands = initial_carries(owner, Said::name, init);
    growing_vector<abstract_value> carries = vector_of(operands, [](const tracer& x) { return x.value(); });
    auto round = [&] { return trace_carried(owner, body, carries, std::type_identity<Init>{}); };
    auto traced = round();
    if (!returns_carry<Init>(owner, Said::name, traced.result)) return traced.result;
    auto changed = [&] {
      const bool becomes = become_strong(carries, traced.leaves);
      return vary_as_made(carries, traced.leaves) || becomes;
    };
    while (!owner.failed && changed()) {
      owner.close_graph();
      traced = round();
    }
    for (std::size_t c = 0; c < carries.size(); ++c)
      traced.leaves[c] =
          vary_along(as_carry(owner, Said::name, static_cast<int>(c) - Said::own_carries, carries[c], traced.leaves[c]),
                     carries[c].varies);
    set_outputs(owner, traced.leaves);
    owner.close_graph();
    primitives::while_call::parameters call{.body = traced.body};
    call.predicate = trace_predicate<Init>(owner, carries);
    for (std::size_t c = 0; c < carries.size(); ++c)
      operands[c] = vary_along(build::convert(operands[c], carries[c].type), carries[c].varies);
    call.roles.resize(carries.size(), scan_role::carry);
    primitives::while_call::add_captures(owner, call, operands);
    if (owner.failed) return traced.result;
    return with_leaves(traced.result, emit_call<primitives::while_call>(owner, operands, call));
  }
  template <class Init>
  constexpr graph_id trace_predicate(context& owner, const growing_vector<abstract_value>& carries) const {
    const auto traced = trace_carried(owner, predicate, carries, std::type_identity<Init>{});
    const abstract_value value = traced.leaves.empty() ? abstract_value{} : traced.leaves[0].value();
    if (traced.leaves.size() != 1 || value.rank() != 0 || value.type != element_type::boolean) {
      message text;
      text << "while_loop: the predicate returns ";
      if (traced.leaves.size() == 1) print_value(text, owner.extents, value);
      else text << count_of(traced.leaves) << " arrays";
      owner.fail(text << "; return one boolean number, such as x < 1");
    }
    for (std::size_t c = 0; c < carries.size(); ++c)
      if (!carries[c].varies.contains(value.varies))
        owner.fail(message() << Said::name
                             << ": the number of rounds differs between instances along an axis of a mesh, and carry "
                             << static_cast<int>(c) - Said::own_carries
                             << " begins alike on all; begin with pvary of it");
    set_outputs(owner, traced.leaves);
    owner.close_graph();
    return traced.body;
  }
};
template <class Predicate, class Body, class Said>
inline constexpr bool is_transformed<looped_while<Predicate, Body, Said>> = true;

} // namespace detail

/// Calls `body(carry)` as long as `predicate(carry)`, one boolean number, holds; returns the last carry, or `init` if
/// it does not hold at the beginning. The carry is an array, or a tree of them, that keeps its types and shapes. Under
/// vmap, rounds go on until no predicate holds; elements that are done keep their carry. There is no reverse mode.
/// Errors: a carry that changes its tree, type or shape, or that holds what is no array; reverse mode. JAX:
/// lax.while_loop
template <class Predicate, class Body, class Init>
constexpr auto while_loop(Predicate predicate, Body body, const Init& init) {
  return detail::looped_while<Predicate, Body>{predicate, body}(init);
}

} // namespace parallax::PARALLAX_INLINE_VERSION
