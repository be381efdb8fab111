// The graph of one function: nodes in the order of their creation. Equal nodes are one, which is found again by
// hashing.
#pragma once

#include <parallax/core/support/flags.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/trace/dims.hpp>
#include <parallax/core/types/axis_bits.hpp>
#include <parallax/core/types/element_type.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A node of a graph.
enum class node_id : int { none = -1 };
/// A graph of a trace.
enum class graph_id : int { none = -1, outermost = 0 };
/// A primitive's place in the catalogue, or the kind of a node that is no operation.
enum class primitive_id : int { input = -1, call_result = -2 };

/// A value inside a program: its element type and shape, and whether it is weakly typed (a C++ number, or made of such
/// numbers only), so that it takes on the type of the arrays it meets.
struct abstract_value {
  element_type type = element_type::float32;
  bool weak = false;
  dims shape;
  axis_bits varies{}; ///< the axes of meshes along which it may differ

  constexpr int rank() const { return shape.size(); }
};

/// A primitive's parameters as a graph keeps them, encoded by `primitives/building/parameters.hpp`.
using parameter_words = plain_span<const std::int64_t>;

/// A value of the enclosing graph that a nested function closes over, and the input that stands for it inside.
struct capture {
  node_id outer = node_id::none;
  node_id inner = node_id::none;
};

/// A part of a pool.
struct pool_range {
  int first = 0, count = 0;
};

/// Lists in one vector, one after another. Each is found by its range.
template <class T> struct list_pool {
  growing_vector<T> items;

  constexpr plain_span<const T> operator[](pool_range r) const { return {items.data() + r.first, index_of(r.count)}; }
  constexpr plain_span<T> operator[](pool_range r) { return {items.data() + r.first, index_of(r.count)}; }
  constexpr const T& at(pool_range r, int i) const { return items[index_of(r.first + i)]; }

  template <class List> constexpr pool_range add(const List& list) {
    const pool_range r{count_of(items), count_of(list)};
    for (const T& item : list) items.push_back(item);
    return r;
  }
  template <class List> constexpr bool equal(pool_range r, const List& list) const {
    if (r.count != count_of(list)) return false;
    const T* own = items.data() + r.first;
    for (const T& item : list)
      if (!(*own++ == item)) return false;
    return true;
  }
};

class graph {
 public:
  growing_vector<node_id> inputs;
  growing_vector<node_id> outputs;
  growing_vector<capture> captures;
  graph_id parent = graph_id::none;
  axis_bits runs_along{}; ///< of a branch's graph: the mesh axes along which only some instances may run it

  constexpr int size() const { return nodes.size(); }
  constexpr id_range<node_id> ids() const { return nodes.ids(); }

  constexpr primitive_id primitive(node_id id) const { return nodes.first[static_cast<std::size_t>(id)].primitive; }
  constexpr bool is_input(node_id id) const {
    return nodes.first[static_cast<std::size_t>(id)].primitive == primitive_id::input;
  }
  constexpr bool is_result(node_id id) const {
    return nodes.first[static_cast<std::size_t>(id)].primitive == primitive_id::call_result;
  }
  /// Whether a primitive computes it.
  constexpr bool is_operation(node_id id) const {
    return static_cast<int>(nodes.first[static_cast<std::size_t>(id)].primitive) >= 0;
  }

  constexpr element_type type(node_id id) const { return nodes.first[static_cast<std::size_t>(id)].type; }
  constexpr bool weak(node_id id) const { return nodes.first[static_cast<std::size_t>(id)].weak; }
  constexpr int rank(node_id id) const { return nodes.first[static_cast<std::size_t>(id)].extents.count; }
  constexpr dim extent(node_id id, int axis) const {
    return extent_pool.at(nodes.first[static_cast<std::size_t>(id)].extents, axis);
  }
  constexpr dims shape(node_id id) const {
    dims result;
    for (dim extent : extent_pool[nodes.first[static_cast<std::size_t>(id)].extents]) result.push_back(extent);
    return result;
  }
  /// The axes of meshes along which a value may differ between instances.
  constexpr axis_bits varies(node_id id) const { return nodes.first[static_cast<std::size_t>(id)].varies; }
  constexpr abstract_value value(node_id id) const { return {type(id), weak(id), shape(id), varies(id)}; }

  constexpr plain_span<const node_id> operands(node_id id) const {
    return operand_pool[nodes.first[static_cast<std::size_t>(id)].operands];
  }
  constexpr node_id operand(node_id id, int i) const {
    return operand_pool.at(nodes.first[static_cast<std::size_t>(id)].operands, i);
  }
  constexpr parameter_words parameters(node_id id) const {
    return parameter_pool[nodes.first[static_cast<std::size_t>(id)].parameters];
  }

  /// The nodes that are a call's results, in order.
  constexpr id_range<node_id> results_of(node_id call) const {
    return {node_id{static_cast<int>(call) + 1}, nodes[call].results};
  }
  /// The number of a node among its call's results.
  constexpr int result_number(node_id result) const {
    return static_cast<int>(result) - static_cast<int>(operand(result, 0)) - 1;
  }

  /// The node with exactly this content; a new one if there is none yet.
  constexpr node_id add(primitive_id primitive, plain_span<const node_id> operands, const abstract_value& value,
                        parameter_words parameters) {
    std::uint64_t content = hash(primitive, operands, value, parameters);
    int known = known_nodes.find(
        content, [&](int number) { return same(node_id{number}, primitive, operands, value, parameters); });
    if (known >= 0) return node_id{known};
    node_id added = append(primitive, operands, value, parameters);
    known_nodes.add(content, static_cast<int>(added));
    return added;
  }
  /// A new value that comes from outside. The caller adds it to `inputs` or to `captures`.
  constexpr node_id add_input(const abstract_value& value) { return append(primitive_id::input, {}, value, {}); }
  /// A new call, and its results right behind it. Two calls are never one node.
  constexpr node_id add_call(primitive_id primitive, plain_span<const node_id> operands, parameter_words parameters,
                             plain_span<const abstract_value> results) {
    node_id call = append(primitive, operands, {}, parameters);
    nodes[call].results = count_of(results);
    for_each(results, [&](const abstract_value& value) {
      append(primitive_id::call_result, plain_span<const node_id>(&call, 1), value, {});
    });
    return call;
  }

  /// The node becomes an input: its operation is dropped, and its value comes from outside. No node may be added
  /// afterwards.
  constexpr void become_input(node_id id) {
    node& n = nodes[id];
    n.primitive = primitive_id::input;
    n.operands.count = n.parameters.count = 0;
  }
  /// Every use of a node becomes a use of `instead[node]`. No node may be added afterwards.
  constexpr void replace_uses(const table<node_id, node_id>& instead) {
    for (node_id& operand : operand_pool.items) operand = instead[operand];
    for (node_id& output : outputs) output = instead[output];
  }
  /// Every extent becomes `renamed(extent)`. No node may be added afterwards.
  template <class Rename> constexpr void rename_extents(Rename& renamed) {
    for_each(extent_pool.items, [&](dim& extent) { extent = renamed(extent); });
  }
  /// The parameters of a node, to be changed in place. No node may be added afterwards.
  constexpr plain_span<std::int64_t> mutable_parameters(node_id id) { return parameter_pool[nodes[id].parameters]; }

  /// The nodes that an output depends on.
  constexpr id_set<node_id> needed() const {
    id_set<node_id> live(size());
    live.insert(outputs);
    return with_operands(live);
  }
  /// The given nodes, and all nodes that these depend on.
  constexpr id_set<node_id> with_operands(id_set<node_id> nodes_to_compute) const {
    for_each(ids().reversed(), [&](node_id id) {
      if (nodes_to_compute.contains(id)) nodes_to_compute.insert(operands(id));
    });
    return nodes_to_compute;
  }
  /// Which operands of a node are in a set.
  constexpr operand_flags operands_in(const id_set<node_id>& set, node_id id) const {
    operand_flags flags;
    flags.reserve(operands(id).size());
    for (node_id operand : operands(id)) flags.push_back(set.contains(operand));
    return flags;
  }
  /// Which outputs are in a set.
  constexpr result_flags outputs_in(const id_set<node_id>& set) const {
    result_flags flags;
    flags.reserve(outputs.size());
    for (node_id output : outputs) flags.push_back(set.contains(output));
    return flags;
  }

 private:
  struct node {
    primitive_id primitive = primitive_id::input;
    element_type type = element_type::float32;
    bool weak = false;
    axis_bits varies{};
    pool_range operands, extents, parameters;
    int results = 0; ///< of a call
  };

  table<node_id, node> nodes;
  list_pool<node_id> operand_pool;
  list_pool<dim> extent_pool;
  list_pool<std::int64_t> parameter_pool;
  hash_index known_nodes; ///< the nodes that `add` may find again

  constexpr node_id append(primitive_id primitive, plain_span<const node_id> operands, const abstract_value& value,
                           parameter_words parameters) {
    return nodes.add({.primitive = primitive,
                      .type = value.type,
                      .weak = value.weak,
                      .varies = value.varies,
                      .operands = operand_pool.add(operands),
                      .extents = extent_pool.add(value.shape),
                      .parameters = parameter_pool.add(parameters)});
  }

  static constexpr std::uint64_t hash(primitive_id primitive, plain_span<const node_id> operands,
                                      const abstract_value& value, parameter_words parameters) {
    std::uint64_t result = mix(static_cast<std::uint64_t>(primitive), static_cast<std::uint64_t>(value.type));
    result = mix(result, operands.data(), operands.size());
    for (dim extent : value.shape) result = mix(result, static_cast<std::uint64_t>(extent.word()));
    return mix(result, parameters.data(), parameters.size());
  }
  constexpr bool same(node_id id, primitive_id primitive, plain_span<const node_id> operands,
                      const abstract_value& value, parameter_words parameters) const {
    const node& n = nodes[id];
    return n.primitive == primitive && n.type == value.type && n.weak == value.weak &&
           operand_pool.equal(n.operands, operands) && extent_pool.equal(n.extents, value.shape) &&
           parameter_pool.equal(n.parameters, parameters);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
