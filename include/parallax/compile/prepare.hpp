// The graph as it is lowered: nested pmaps become one mapped program over a mesh of devices, products have operands
// that a matrix product can read and results that lie as they are read, and what changes nothing is left out.
#pragma once

#include <parallax/compile/trace.hpp>

namespace parallax::detail {

/// A dimension of an operand or a result that is spread over an axis of the mesh.
struct spread_dimension {
  int mesh_axis = 0;
  int dimension = 0; ///< of the logical array
};

/// A top-level pmap with all pmaps inside it, as one program over a mesh: axes from the outermost in.
struct section {
  int body = 0;
  std::vector<dim> mesh;
  std::vector<int> mesh_axis_of;                       ///< by number of mapped axis; -1 elsewhere
  std::vector<std::vector<spread_dimension>> operands; ///< of each operand
  std::vector<std::vector<spread_dimension>> results;  ///< of each result
};

/// Axes of `shape` in this order have one stride between them when the array is contiguous.
constexpr bool adjacent(const small_vector<int, max_rank>& axes, const dims& shape) {
  for (int i = 0; i + 1 < axes.size(); ++i)
    for (int between = axes[i] + 1; between != axes[i + 1]; ++between)
      if (between >= shape.size() || axes[i + 1] < axes[i] || shape[between] != 1) return false;
  return true;
}

/// A product with operands transposed to batch, free, contracted axes where a matrix product could not read them.
constexpr tracer readable_product(tracer left, tracer right, primitives::dot_axes axes) {
  auto arrange = [](tracer& x, small_vector<int, max_rank>& batch, small_vector<int, max_rank>& contract,
                    const small_vector<int, max_rank>& free) {
    if (adjacent(free, x.extents()) && adjacent(contract, x.extents()) &&
        (x.rank() == 0 || !batch.contains(x.rank() - 1)))
      return;
    small_vector<int, max_rank> order = batch;
    for (int axis : free) order.push_back(axis);
    for (int axis : contract) order.push_back(axis);
    x = build::transpose(x, {order.data(), static_cast<std::size_t>(order.size())});
    for (int i = 0; i < batch.size(); ++i) batch[i] = i;
    for (int i = 0; i < contract.size(); ++i) contract[i] = batch.size() + free.size() + i;
  };
  arrange(left, axes.left_batch, axes.left_contract, axes.left_free(left.rank()));
  arrange(right, axes.right_batch, axes.right_contract, axes.right_free(right.rank()));
  return primitives::dot_general::make(left, right, axes);
}

/// Whether a node is the transpose of a product that exchanges its rows and columns: all axes of one operand with all
/// of the other.
constexpr bool exchanges_rows_and_columns(const graph& g, int id) {
  if (g.at(id).operation != primitives::number_of<primitives::transpose>) return false;
  int product = g.operand(id, 0);
  if (g.at(product).operation != primitives::number_of<primitives::dot_general>) return false;
  primitives::dot_axes axes = primitives::dot_axes::read(g.parameters(product));
  int batch = axes.left_batch.size(), rank = g.at(id).rank;
  int rows = g.at(g.operand(product, 0)).rank - batch - axes.left_contract.size(), columns = rank - batch - rows;
  for (int i = 0; i < rank; ++i)
    if (g.parameter(id, i) != (i < batch ? i : i < batch + columns ? i + rows : i - columns)) return false;
  return true;
}

/// The needed nodes that are read through such transposes alone: products whose operands are better exchanged.
constexpr std::vector<char> find_exchanged(const graph& g, const std::vector<char>& needed) {
  std::vector<char> result = needed;
  for (int output : g.outputs) result[static_cast<std::size_t>(output)] = 0;
  for (int id = 0; id < g.size(); ++id)
    if (needed[static_cast<std::size_t>(id)] && !exchanges_rows_and_columns(g, id))
      for (int operand : g.operands(id)) result[static_cast<std::size_t>(operand)] = 0;
  return result;
}

/// Whether a node is its operand once more: all derivatives have been taken, and nothing asks for weak types any more.
constexpr bool is_its_operand(const graph& g, int id) {
  int operation = g.at(id).operation;
  return operation == primitives::number_of<primitives::stop_gradient> ||
         (operation == primitives::number_of<primitives::convert> && g.at(g.operand(id, 0)).type == g.at(id).type);
}

/// Replays the needed nodes of graph `source` as they are to be lowered; `call(id)` replays a pmap.
template <class Call>
constexpr void replay_prepared(context& trace, int source, replacements<tracer>& values, const Call& call) {
  std::vector<char> needed = trace.at(source).needed(), exchanged = find_exchanged(trace.at(source), needed);
  auto is_exchanged = [&](int id) { return exchanged[static_cast<std::size_t>(id)] != 0; };
  for (int id = 0; id < trace.at(source).size() && !trace.failed; ++id) {
    if (!needed[static_cast<std::size_t>(id)] || values.has(id)) continue;
    const graph& g = trace.at(source);
    int operation = g.at(id).operation;
    if (operation == primitives::number_of<primitives::pmap_call>) call(id);
    else if (is_its_operand(g, id)) values.set(id, values[g.operand(id, 0)]);
    else if (operation == primitives::number_of<primitives::transpose> && is_exchanged(g.operand(id, 0)))
      values.set(id, values[g.operand(id, 0)]);
    else if (operation == primitives::number_of<primitives::dot_general>) {
      tracer left = values[g.operand(id, 0)], right = values[g.operand(id, 1)];
      primitives::dot_axes axes = primitives::dot_axes::read(g.parameters(id));
      values.set(id, is_exchanged(id) ? readable_product(right, left, axes.exchanged())
                                      : readable_product(left, right, axes));
    } else replay(trace, source, id, values);
  }
}

/// A new dimension that gathers a value of all instances along one axis.
struct stacked_dimension {
  int axis = -1;
  int dimension = -1; ///< none where a node is no such gathering

  static constexpr stacked_dimension of(const graph& g, int id) {
    if (g.at(id).operation != primitives::number_of<primitives::all_gather>) return {};
    std::span<const std::int64_t> p = g.parameters(id), rest = primitives::collective::rest(p);
    if (p[0] != 1 || primitives::collective::has_groups(p) || rest[1] != 0) return {};
    return {static_cast<int>(p[1]), static_cast<int>(rest[0])};
  }
};

class flattening {
 public:
  context& trace;
  section result;

  constexpr explicit flattening(context& owner) : trace(owner) { result.mesh_axis_of.assign(owner.axes.size(), -1); }

  constexpr void run(const call_parameters& call) {
    enter_axis(call.axis, 0);
    result.body = trace.open_graph();
    std::vector<tracer> inputs;
    for (std::size_t k = 0; k < trace.at(call.body).inputs.size(); ++k)
      inputs.push_back(new_input(trace, trace.at(call.body).value(trace.at(call.body).inputs[k])));
    std::vector<tracer> outputs = inline_body(call.body, inputs, 1);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      result.results.push_back({});
      int id = keep_spread(trace.import(outputs[k].graph_id, outputs[k].id), call.out_axes[k], result.results.back());
      trace.current().outputs.push_back(id);
    }
    std::vector<int> users = only_users();
    for (std::size_t k = 0; k < call.in_axes.size(); ++k)
      result.operands.push_back(take_spread(k, call.in_axes[k], users));
    trace.close_graph();
  }

 private:
  constexpr void enter_axis(int axis, int depth) {
    dim size = trace.axis_size(axis);
    if (depth == static_cast<int>(result.mesh.size())) result.mesh.push_back(size);
    else if (result.mesh[static_cast<std::size_t>(depth)] != size) {
      message text;
      text << "pmap: pmaps inside one pmap have different sizes, ";
      print_extent(text, trace.extents, result.mesh[static_cast<std::size_t>(depth)]);
      text << " and ";
      print_extent(text, trace.extents, size);
      trace.fail(text << "; give pmaps at the same depth axes of the same extent");
    }
    result.mesh_axis_of[static_cast<std::size_t>(axis)] = depth;
  }

  constexpr std::vector<tracer> inline_body(int body, const std::vector<tracer>& inputs, int depth) {
    replacements<tracer> values(trace.at(body));
    for (std::size_t k = 0; k < inputs.size(); ++k) values.set(trace.at(body).inputs[k], inputs[k]);
    replay_prepared(trace, body, values, [&](int id) { inline_call(body, id, values, depth); });
    std::vector<tracer> outputs;
    for (int output : trace.at(body).outputs) outputs.push_back(values[output]);
    return outputs;
  }

  /// An inner pmap: every device takes its own slice of the mapped operands; results are gathered along the inner axis.
  constexpr void inline_call(int body, int id, replacements<tracer>& values, int depth) {
    call_parameters call = call_parameters::read(trace.at(body).parameters(id));
    enter_axis(call.axis, depth);
    std::vector<tracer> inputs;
    for (std::size_t k = 0; k < call.in_axes.size(); ++k) {
      tracer x = values[trace.at(body).operand(id, static_cast<int>(k))];
      inputs.push_back(call.in_axes[k] < 0 ? x : own_slice(x, call.axis, call.in_axes[k]));
    }
    std::vector<tracer> outputs = inline_body(call.body, inputs, depth + 1);
    if (trace.failed) return;
    for (int user = id + 1; user < trace.at(body).size(); ++user) {
      if (trace.at(body).at(user).operation != primitives::number_of<primitives::call_result> ||
          trace.at(body).operand(user, 0) != id)
        continue;
      std::size_t k = static_cast<std::size_t>(trace.at(body).parameter(user, 0));
      tracer y = outputs[k];
      if (call.out_axes[k] >= 0) y = emit<primitives::all_gather>(trace, {y}, {1, call.axis, 0, call.out_axes[k], 0});
      values.set(user, y);
    }
  }

  /// What was gathered along the same mesh axis and dimension is still in place.
  constexpr tracer own_slice(tracer x, int axis, int dimension) {
    const graph& g = trace.at(x.graph_id);
    stacked_dimension made = stacked_dimension::of(g, x.id);
    if (made.dimension == dimension && mesh_axis(made.axis) == mesh_axis(axis))
      return {&trace, x.graph_id, g.operand(x.id, 0)};
    return emit<primitives::axis_slice>(trace, {x}, {1, axis, 0, dimension});
  }
  constexpr int mesh_axis(std::int64_t axis) const { return result.mesh_axis_of[static_cast<std::size_t>(axis)]; }

  /// An operand of which every device reads only its own slices is spread over their axes too.
  constexpr std::vector<spread_dimension> take_spread(std::size_t operand, int in_axis, const std::vector<int>& users) {
    graph& g = trace.current();
    std::vector<spread_dimension> spread;
    if (in_axis >= 0) spread.push_back({0, in_axis});
    std::vector<int> places;
    for (int i = 0; i < g.at(g.inputs[operand]).rank; ++i) places.push_back(in_axis >= 0 && i >= in_axis ? i + 1 : i);
    while (true) {
      int user = users[static_cast<std::size_t>(g.inputs[operand])];
      if (user < 0 || g.at(user).operation != primitives::number_of<primitives::axis_slice>) return spread;
      int over = mesh_axis(g.parameter(user, 1)), dimension = static_cast<int>(g.parameter(user, 3));
      for (const spread_dimension& s : spread)
        if (s.mesh_axis == over) return spread;
      spread.push_back({over, places[static_cast<std::size_t>(dimension)]});
      places.erase(places.begin() + dimension);
      node& slice = g.nodes[static_cast<std::size_t>(user)];
      slice.operation = context::input_operation;
      slice.operand_count = slice.parameter_count = 0;
      g.inputs[operand] = user;
    }
  }
  /// For each node the one node that needs it; negative if there are several or none, or if it is a result.
  constexpr std::vector<int> only_users() {
    constexpr int nobody = -1, several = -2;
    const graph& g = trace.current();
    std::vector<int> users(g.nodes.size(), nobody);
    std::vector<char> needed = g.needed();
    for (int id = 0; id < g.size(); ++id) {
      if (!needed[static_cast<std::size_t>(id)]) continue;
      for (int operand : g.operands(id)) {
        int& user = users[static_cast<std::size_t>(operand)];
        user = user == nobody ? id : several;
      }
    }
    for (int output : g.outputs) users[static_cast<std::size_t>(output)] = several;
    return users;
  }

  /// A result gathered along inner axes stays spread over them. Fills in where its dimensions lie.
  constexpr int keep_spread(int id, int out_axis, std::vector<spread_dimension>& spread) {
    const graph& g = trace.current();
    std::vector<int> places; // where the dimensions of what remains stand in the logical result
    for (int i = 0; i < g.at(id).rank; ++i) places.push_back(out_axis >= 0 && i >= out_axis ? i + 1 : i);
    if (out_axis >= 0) spread.push_back({0, out_axis});
    for (stacked_dimension made; (made = stacked_dimension::of(g, id)).dimension >= 0;) {
      int over = mesh_axis(made.axis), dimension = made.dimension;
      bool used = over == 0;
      for (const spread_dimension& s : spread) used = used || s.mesh_axis == over;
      if (used) break;
      spread.push_back({over, places[static_cast<std::size_t>(dimension)]});
      places.erase(places.begin() + dimension);
      id = g.operand(id, 0);
    }
    return id;
  }
};

/// The program's graph ready to be lowered, and its sections.
struct prepared_program {
  int root = 0;
  std::vector<section> sections; ///< found by their body
};

/// A top-level pmap becomes a section, and a call of it.
constexpr void replay_section(context& trace, int id, replacements<tracer>& values, prepared_program& program) {
  // the results' shapes are those of the original call, whatever stays spread
  std::vector<std::int64_t> parameters(trace.at(0).parameters(id).begin(), trace.at(0).parameters(id).end());
  flattening flat(trace);
  flat.run(call_parameters::read(parameters));
  if (trace.failed) return;
  parameters[1] = static_cast<std::int64_t>(program.sections.size());
  program.sections.push_back(flat.result);
  std::vector<int> operands;
  for (int operand : trace.at(0).operands(id)) operands.push_back(values[operand].id);
  int node = trace.current().add(primitives::number_of<primitives::pmap_call>, operands, {}, parameters, true);
  for (int user = id + 1; user < trace.at(0).size(); ++user)
    if (trace.at(0).at(user).operation == primitives::number_of<primitives::call_result> &&
        trace.at(0).operand(user, 0) == id) {
      std::int64_t number = trace.at(0).parameter(user, 0);
      int copy = trace.current().add(primitives::number_of<primitives::call_result>, std::span<const int>(&node, 1),
                                     trace.at(0).value(user), std::span<const std::int64_t>(&number, 1));
      values.set(user, {&trace, program.root, copy});
    }
}

constexpr prepared_program prepare(context& trace) {
  prepared_program program;
  program.root = trace.open_graph();
  replacements<tracer> values(trace.at(0));
  for (int input : trace.at(0).inputs) values.set(input, new_input(trace, trace.at(0).value(input)));
  replay_prepared(trace, 0, values, [&](int id) { replay_section(trace, id, values, program); });
  if (!trace.failed)
    for (int output : trace.at(0).outputs) trace.current().outputs.push_back(values[output].id);
  trace.close_graph();
  return program;
}

} // namespace parallax::detail
