// How a pmap is prepared: one that stands outside becomes a section over a mesh of devices, those inside it become part
// of the section's program, with an axis of the mesh for each depth. A loop that stands outside and has pmaps inside
// becomes a section too: all devices of these pmaps run it.
#pragma once

#include <parallax/compile/prepare/prepare.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/calls/pmap_call.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A new dimension that gathers a value of all instances along one axis.
struct stacked_dimension {
  axis_id axis = axis_id::none;
  int dimension = -1; ///< -1 if a node gathers nothing so

  static constexpr stacked_dimension of(const graph& g, node_id id) {
    if (is<primitives::axis_stack>(g, id)) {
      const auto p = parameters_of<primitives::axis_stack>(g, id);
      return {p.over.axes[0], p.dimension};
    }
    if (!is<primitives::all_gather>(g, id)) return {};
    const auto p = parameters_of<primitives::all_gather>(g, id);
    if (p.over.axes.size() != 1 || p.over.has_groups() || p.tiled) return {};
    return {p.over.axes[0], p.dimension};
  }
};

class section_builder {
 public:
  mapped_section result;

  constexpr section_builder(preparation& whole) : all(whole), trace(whole.trace) {
    result.mesh_axis_of = table<axis_id, mesh_axis>(trace.axes.size(), mesh_axis::none);
  }

  /// Builds the section of the outermost pmap, or, without an axis, of a loop or branch around pmaps, which all their
  /// devices run. Slices of an array that was just gathered, gathered results, and operands that are read only in
  /// slices stay spread, so that nothing moves.
  constexpr void run(const primitives::pmap_call::parameters& call) {
    const bool has_axis = call.axis != axis_id::none;
    if (has_axis) enter_axis(call.axis);
    result.is_whole_mesh = call.is_of_whole_mesh;
    result.body = trace.open_graph();
    growing_vector<tracer> inputs;
    for (std::size_t k = 0; k < call.in_axes.size(); ++k) {
      const graph& body = trace.at(call.body);
      inputs.push_back(new_input(trace, body.value(body.inputs[k])));
    }
    depth += has_axis;
    const growing_vector<tracer> outputs = all.replay_graph(call.body, inputs);
    depth -= has_axis;
    for (std::size_t k = 0; k < outputs.size() && !trace.failed; ++k) {
      result.results.push_back({});
      const node_id id = trace.import(outputs[k].scope, outputs[k].id);
      trace.current().outputs.push_back(keep_spread(id, call.out_axes[k], result.results.back()));
    }
    if (!trace.failed) {
      const table<node_id, node_id> users = only_users();
      for (std::size_t k = 0; k < call.in_axes.size(); ++k)
        result.operands.push_back(take_spread(k, call.in_axes[k], users));
    }
    trace.close_graph();
  }

  /// An inner pmap: every device takes its own slice of the mapped operands; results are gathered along the inner axis.
  constexpr void run_inner(node_id id, const primitives::pmap_call::parameters& call) {
    enter_axis(call.axis);
    result.is_whole_mesh = result.is_whole_mesh && call.is_of_whole_mesh;
    growing_vector<tracer> inputs = all.operands(id);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (call.in_axes[k] != unmapped) inputs[k] = own_slice(inputs[k], call.axis, call.in_axes[k]);
    ++depth;
    growing_vector<tracer> outputs = all.replay_graph(call.body, inputs);
    --depth;
    if (trace.failed) return;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (call.out_axes[k] != unmapped)
        outputs[k] = emit<primitives::axis_stack>({outputs[k]}, {{{call.axis}, {}}, call.out_axes[k]});
    all.set_results(id, outputs);
  }

 private:
  preparation& all;
  context& trace;
  int depth = 0; ///< of the pmap that is entered next

  constexpr void enter_axis(axis_id axis) {
    const mapped_axis& mapped = trace.axes[axis];
    const dim size = mapped.own_instances;
    const mesh_axis here{depth};
    if (depth == 0 && mapped.is_counted) result.axis_size = mapped.size;
    if (depth == result.mesh.size()) {
      result.mesh.add(size);
    } else if (!(result.mesh[here] == size)) {
      message text;
      text << "pmap: pmaps inside one pmap have different sizes, ";
      print_extent(text, trace.extents, result.mesh[here]);
      text << " and ";
      print_extent(text, trace.extents, size);
      trace.fail(text << "; give pmaps at the same depth axes of the same extent");
    }
    result.mesh_axis_of[axis] = here;
  }

  /// The device's own slice of `x`. If `x` was gathered along the same mesh axis and dimension, that is the gathered
  /// value itself.
  constexpr tracer own_slice(tracer x, axis_id axis, int dimension) {
    const stacked_dimension made = stacked_dimension::of(x.home(), x.id);
    if (made.dimension == dimension && result.mesh_axis_of[made.axis] == result.mesh_axis_of[axis])
      return {&trace, x.scope, x.home().operand(x.id, 0)};
    return emit<primitives::axis_slice>({x}, {{{axis}, {}}, dimension});
  }

  /// Where the dimensions of one instance's value stand in the logical array.
  static constexpr growing_vector<int> places_of(int rank, int mapped) {
    growing_vector<int> places;
    for (int i = 0; i < rank; ++i) places.push_back(mapped != unmapped && i >= mapped ? i + 1 : i);
    return places;
  }
  static constexpr bool is_spread_over(const spread_dimensions& spread, mesh_axis over) {
    for (const spread_dimension& s : spread)
      if (s.over == over) return true;
    return false;
  }
  /// Marks dimension number `dimension`, among those that are left, as spread over a mesh axis.
  static constexpr void add_spread(spread_dimensions& spread, growing_vector<int>& places, mesh_axis over,
                                   int dimension) {
    spread.push_back({over, places[index_of(dimension)]});
    places.erase(places.begin() + dimension);
  }

  /// Spreads an operand over further axes of the mesh, if every device reads only its own slices along them.
  constexpr spread_dimensions take_spread(std::size_t operand, int in_axis, const table<node_id, node_id>& users) {
    graph& g = trace.current();
    spread_dimensions spread;
    if (in_axis != unmapped) spread.push_back({mesh_axis::outermost, in_axis});
    growing_vector<int> places = places_of(g.rank(g.inputs[operand]), in_axis);
    while (true) {
      const node_id user = users[g.inputs[operand]];
      if (user == node_id::none || !is<primitives::axis_slice>(g, user)) return spread;
      const auto slice = parameters_of<primitives::axis_slice>(g, user);
      const mesh_axis over = result.mesh_axis_of[slice.over.axes[0]];
      if (is_spread_over(spread, over)) return spread;
      add_spread(spread, places, over, slice.dimension);
      g.become_input(user);
      g.inputs[operand] = user;
    }
  }
  /// For each node the one node that needs it; none if there are several or none, or if it is a result.
  constexpr table<node_id, node_id> only_users() const {
    const graph& g = trace.at(trace.innermost());
    table<node_id, node_id> users(g.size(), node_id::none);
    id_set<node_id> used(g.size());
    const id_set<node_id> needed = g.needed();
    for_each(g.ids(), [&](node_id id) {
      if (!needed.contains(id)) return;
      for (node_id operand : g.operands(id)) {
        users[operand] = used.contains(operand) ? node_id::none : id;
        used.insert(operand);
      }
    });
    for (node_id output : g.outputs) users[output] = node_id::none;
    return users;
  }

  /// A result gathered along inner axes stays spread over them: returns the value before the gathering, and fills in
  /// the spread dimensions.
  constexpr node_id keep_spread(node_id id, int out_axis, spread_dimensions& spread) {
    const graph& g = trace.current();
    if (out_axis != unmapped) spread.push_back({mesh_axis::outermost, out_axis});
    growing_vector<int> places = places_of(g.rank(id), out_axis);
    while (true) {
      const stacked_dimension made = stacked_dimension::of(g, id);
      if (made.dimension < 0) return id;
      const mesh_axis over = result.mesh_axis_of[made.axis];
      if (over == mesh_axis::outermost || is_spread_over(spread, over)) return id;
      add_spread(spread, places, over, made.dimension);
      id = g.operand(id, 0);
    }
  }
};

/// A top-level pmap becomes a section, and a call of it. The results' shapes are those of the original call, whatever
/// stays spread.
constexpr void make_section(preparation& all, node_id id, primitives::pmap_call::parameters call) {
  section_builder builder(all);
  all.inside = &builder;
  builder.run(call);
  all.inside = nullptr;
  context& trace = all.trace;
  if (trace.failed) return;
  call.body = builder.result.body;
  all.replace_call<primitives::pmap_call>(id, call);
  all.result.sections.push_back(builder.result);
}

/// The outermost pmaps that a list of graphs runs, in loops and branches too.
class pmaps_inside {
 public:
  bool any = false;
  growing_vector<int> devices; ///< those that the user named

  constexpr pmaps_inside(context& owner, plain_span<const graph_id> graphs) : trace(owner) { look_into(graphs); }

 private:
  context& trace;

  constexpr void look_into(plain_span<const graph_id> graphs) {
    for (const graph_id number : graphs) {
      const graph& g = trace.at(number);
      const id_set<node_id> needed = g.needed();
      for_each(g.ids(), [&](node_id id) {
        if (!needed.contains(id) || !is_kind(trace, g, id, primitive_kind::call)) return;
        if (is<primitives::pmap_call>(g, id)) add(parameters_of<primitives::pmap_call>(g, id));
        else look_into(rules_of(trace, g, id).call.bodies(g.parameters(id)));
      });
    }
  }
  constexpr void add(const primitives::pmap_call::parameters& call) {
    if (any && !plain::equal(devices, call.devices))
      return trace.fail(message() << "pmap: pmaps inside one loop name different devices; give them the same ones");
    any = true;
    devices = call.devices;
  }
};

/// Makes a section of a loop or branch that has pmaps inside, but none around it; false for other calls. All devices of
/// the pmaps inside run the section alike.
template <class Call> constexpr bool made_section(preparation& all, node_id call, const typename Call::parameters& p) {
  if (all.inside) return false;
  context& trace = all.trace;
  const growing_vector<std::int64_t> words = encode(p);
  const pmaps_inside pmaps(trace, call_functions<Call>::bodies(words));
  if (!pmaps.any) return false;
  const growing_vector<tracer> operands = all.operands(call);
  const growing_vector<abstract_value> results = all.result_values(call);
  primitives::pmap_call::parameters around;
  around.in_axes.assign(operands.size(), unmapped);
  around.out_axes.assign(results.size(), unmapped);
  around.devices = pmaps.devices;
  around.body = trace.open_graph();
  const growing_vector<node_id> inputs =
      vector_of(operands, [&](const tracer& x) { return new_input(trace, x.value()).id; });
  const node_id made = trace.current().add_call(primitives::id_of<Call>, inputs, words, results);
  for_each(trace.current().results_of(made), [&](node_id y) { trace.current().outputs.push_back(y); });
  trace.close_graph();
  make_section(all, call, around);
  return true;
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail

namespace parallax::PARALLAX_INLINE_VERSION::primitives {
constexpr void pmap_call::prepare(parallax::detail::preparation& all, node_id call, const parameters& p) {
  if (all.inside) all.inside->run_inner(call, p);
  else parallax::detail::make_section(all, call, p);
}
} // namespace parallax::PARALLAX_INLINE_VERSION::primitives
