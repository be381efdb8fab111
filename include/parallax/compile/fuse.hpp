// Fusion: which nodes get a buffer, and which are computed inside the loop of their only consumer.
#pragma once

#include <parallax/compile/row_groups.hpp>

#include <algorithm>

namespace parallax::detail {

/// The decision for one graph. Consumers are visited before producers; a node joins its consumers' loop if they are all
/// in one loop and read it through the same views. Otherwise its elements are kept in memory; connected nodes of which
/// that is true are computed in one loop still, which then has several results.
class fusion {
 public:
  /// Longer kernels, and those that read more arrays, are cut, so that the time to compile them stays in proportion.
  static constexpr int longest_kernel = 64, most_reads = 48;

  context& trace;
  const graph& g;
  std::vector<char> live;
  row_groups rows;                       ///< they are loops too
  std::vector<char> has_buffer;          ///< a contiguous array of its own
  std::vector<int> loop_of;              ///< the loop that computes an elementwise node
  std::vector<std::vector<int>> members; ///< by loop: its fused nodes, consumers first
  std::vector<int> first_piece;          ///< the loop number of an assembly's first operand

  constexpr fusion(context& owner, int id) : trace(owner), g(owner.at(id)), live(g.needed()), rows(owner, g, live) {
    std::size_t n = g.nodes.size();
    has_buffer.assign(n, 0);
    loop_of.assign(n, -1);
    members.resize(n);
    first_piece.assign(n, -1);
    use_loop.assign(n, none_yet);
    use_tag.assign(n, 0);
    read_by.assign(n, none_yet);
    reads.assign(n, 0);
    demanded.assign(n, 0);
    connect();
    open_loop.assign(n, -1);
    for (int output : g.outputs) demanded[at(output)] = 1;
    for (int node_id = g.size() - 1; node_id >= 0; --node_id)
      if (live[at(node_id)]) visit(node_id);
  }

  /// The node whose buffer a chain of affine views reads; -1 if there is none.
  constexpr int base_of(int id) const {
    while (!has_array(id) && is_affine_view(g, id)) id = g.operand(id, 0);
    return has_array(id) ? id : -1;
  }
  /// Whether the node's elements lie in memory, in row-major order.
  constexpr bool has_array(int id) const {
    int operation = g.at(id).operation;
    return operation < 0 || has_buffer[at(id)] || operation == primitives::number_of<primitives::call_result> ||
           is_alias(id);
  }
  /// The group that a loop computes; -1 for any other loop.
  constexpr int row_group(int loop) const { return loop < g.size() ? rows.group_of[at(loop)] : -1; }
  /// A reshape that gives the same memory another shape.
  constexpr bool is_alias(int id) const {
    return g.at(id).operation == primitives::number_of<primitives::reshape> && !has_buffer[at(id)] &&
           has_array_below(id);
  }

 private:
  static constexpr int none_yet = -1, several = -2;
  std::vector<int> use_loop;
  std::vector<int> use_tag;
  std::vector<int> read_by; ///< the last loop that reads the node
  std::vector<int> reads;   ///< by loop: the nodes it uses and does not compute, as far as is known
  std::vector<char> demanded;
  std::vector<int> component; ///< a lower node of the same component; itself for its first one
  std::vector<int> open_loop; ///< by first node of a component: its loop that further results may join

  static constexpr std::size_t at(int id) { return static_cast<std::size_t>(id); }

  constexpr bool has_array_below(int id) const {
    int source = g.operand(id, 0);
    int operation = g.at(source).operation;
    if (operation < 0 || has_buffer[at(source)] || operation == primitives::number_of<primitives::call_result>)
      return true;
    return operation == primitives::number_of<primitives::reshape> && is_alias(source);
  }

  constexpr int first_of(int id) {
    int* lower = component.data();
    while (lower[id] != id) id = lower[id] = lower[lower[id]];
    return id;
  }
  /// Elementwise nodes that one loop can compute: linked directly and at the same depth, which counts the steps of any
  /// other kind below a node. So no node of a component needs another one by way of other loops. A row group is at one
  /// depth as a whole.
  constexpr void connect() {
    constexpr int nothing_computed = -1;
    std::vector<int> depth(g.nodes.size(), nothing_computed);
    std::vector<int> group_depth(rows.groups.size(), 0);
    for (bool rises = true; rises;) {
      rises = false;
      for (int id = 0; id < g.size(); ++id) {
        if (!live[at(id)] || g.at(id).operation < 0) continue;
        primitive_kind kind = rules_of(g.at(id).operation).kind;
        int own = kind == primitive_kind::source || kind == primitive_kind::view ? nothing_computed : 0;
        for (int operand : g.operands(id))
          if (int below = depth[at(operand)]; below >= 0 && rows.inner_member(id, operand) < 0)
            own = std::max(own, is_linked(id, operand) ? below : below + 1);
        if (int group = rows.group_of[at(id)]; group >= 0) {
          rises = rises || own > group_depth[at(group)];
          own = group_depth[at(group)] = std::max(own, group_depth[at(group)]);
        }
        depth[at(id)] = own;
      }
    }
    component.assign(g.nodes.size(), -1);
    for (int id = 0; id < g.size(); ++id) {
      component[at(id)] = id;
      if (!live[at(id)] || g.at(id).operation < 0) continue;
      for (int operand : g.operands(id))
        if (depth[at(operand)] == depth[at(id)] && is_linked(id, operand)) {
          int a = first_of(operand), b = first_of(id);
          component[at(std::max(a, b))] = std::min(a, b);
        }
    }
  }
  /// Operands of an elementwise node are of its shape, or scalars.
  constexpr bool is_linked(int id, int operand) const {
    return is_elementwise(id) && is_elementwise(operand) && g.at(operand).rank == g.at(id).rank &&
           rows.group_of[at(id)] < 0 && rows.group_of[at(operand)] < 0;
  }
  constexpr bool is_elementwise(int id) const {
    return g.at(id).operation >= 0 && rules_of(g.at(id).operation).kind == primitive_kind::elementwise;
  }
  constexpr bool is_full(int loop) const {
    return static_cast<int>(members[at(loop)].size()) >= longest_kernel || reads[at(loop)] >= most_reads;
  }

  constexpr void use(int id, int loop, int tag) {
    int& known = use_loop[at(id)];
    if (known == none_yet) {
      known = loop;
      use_tag[at(id)] = tag;
    } else if (known != loop || use_tag[at(id)] != tag) {
      known = several;
    }
  }
  constexpr void count_read(int id, int loop) {
    if (loop < 0 || read_by[at(id)] == loop || is_source(id)) return;
    read_by[at(id)] = loop;
    ++reads[at(loop)];
  }
  /// The loop computes the node, or reads what it is a view of.
  constexpr void discount_read(int id, int loop) {
    if (loop >= 0 && read_by[at(id)] == loop) --reads[at(loop)];
  }
  constexpr int new_loop() {
    members.push_back({});
    reads.push_back(0);
    return static_cast<int>(members.size()) - 1;
  }
  constexpr bool is_source(int id) const {
    return g.at(id).operation >= 0 && rules_of(g.at(id).operation).kind == primitive_kind::source;
  }
  /// Whether a broadcast repeats its operand, which is then computed once instead.
  constexpr bool expands(int id) const {
    if (g.at(id).operation != primitives::number_of<primitives::broadcast_in_dim>) return false;
    return !only_ones_change(g.shape(g.operand(id, 0)), g.shape(id));
  }

  constexpr void visit(int id) {
    int operation = g.at(id).operation;
    if (operation < 0) return;
    if (rows.group_of[at(id)] >= 0) return visit_row_member(id);
    switch (rules_of(operation).kind) {
    case primitive_kind::source:
      has_buffer[at(id)] = demanded[at(id)]; // as an output or an operand that must lie in memory
      break;
    case primitive_kind::elementwise: visit_elementwise(id); break;
    case primitive_kind::view: visit_view(id); break;
    case primitive_kind::reduction:
      has_buffer[at(id)] = 1;
      use(g.operand(id, 0), id, 0);
      break;
    case primitive_kind::product:
      has_buffer[at(id)] = 1;
      for (int operand : g.operands(id)) demand_readable(id, operand);
      break;
    case primitive_kind::assembly:
      has_buffer[at(id)] = 1;
      for (int k = 0; k < g.at(id).operand_count; ++k) {
        int loop = new_loop();
        if (k == 0) first_piece[at(id)] = loop;
        use(g.operand(id, k), loop, 0);
      }
      break;
    case primitive_kind::collective:
      has_buffer[at(id)] = 1;
      demanded[at(g.operand(id, 0))] = 1;
      break;
    case primitive_kind::nested:
      for (int operand : g.operands(id)) demanded[at(operand)] = 1;
      break;
    case primitive_kind::projection: break;
    }
  }

  constexpr void visit_elementwise(int id) {
    int loop = use_loop[at(id)], tag = use_tag[at(id)];
    if (demanded[at(id)] || loop < 0 || is_full(loop)) {
      has_buffer[at(id)] = 1;
      int& open = open_loop[at(first_of(id))];
      if (open < 0 || is_full(open)) open = id;
      loop = open;
      tag = 0;
    }
    loop_of[at(id)] = loop;
    discount_read(id, loop);
    members[at(loop)].push_back(id);
    for (int operand : g.operands(id)) {
      // a scalar beside arrays is computed once
      bool once = g.at(operand).rank == 0 && g.at(id).rank > 0;
      use(operand, once ? several : loop, tag);
      count_read(operand, loop);
    }
  }

  /// What is used outside its group is kept.
  constexpr void visit_row_member(int id) {
    int loop = rows.groups[at(rows.group_of[at(id)])].last;
    has_buffer[at(id)] = demanded[at(id)] || use_loop[at(id)] != none_yet;
    loop_of[at(id)] = loop;
    members[at(loop)].push_back(id);
    for (int operand : g.operands(id)) {
      if (rows.inner_member(id, operand) >= 0) continue;
      bool once = g.at(operand).rank == 0;
      use(operand, once ? several : loop, rows.reads_rows(id) ? 0 : 1);
      count_read(operand, loop);
    }
  }

  constexpr void visit_view(int id) {
    int operand = g.operand(id, 0);
    if (!is_affine_view(g, id)) {
      demanded[at(operand)] = 1;
      return;
    }
    if (demanded[at(id)]) {
      has_buffer[at(id)] = 1;
      use(operand, expands(id) ? several : id, id + 1);
      return;
    }
    int loop = use_loop[at(id)];
    if (loop == none_yet) return; // read as an operand's view
    discount_read(id, loop);
    count_read(operand, loop);
    use(operand, loop == several || expands(id) ? several : loop, (use_tag[at(id)] * 31 + id + 1) & 0x3fffffff);
  }

  /// A product reads its operand in place if the views of it keep rows and columns regular.
  constexpr void demand_readable(int product, int operand) {
    int base = operand;
    while (is_affine_view(g, base)) base = g.operand(base, 0);
    bool in_place = base == operand;
    if (!in_place) {
      index_map map;
      for (int k = 0; k < g.at(operand).rank; ++k) map.push_back({k, 1, 0});
      for (int view = operand; view != base; view = g.operand(view, 0)) map = through_view(trace.extents, g, view, map);
      access layout = locate(trace.extents, g.shape(base), map, g.at(operand).rank, 0);
      in_place = readable(product, operand, layout.strides);
    }
    demanded[at(in_place ? base : operand)] = 1;
  }

 public:
  /// Axes in this order act as one axis of one stride.
  constexpr bool regular(const small_vector<int, max_rank>& axes, const dims& shape, const dims& strides) const {
    int last = -1;
    for (int i = axes.size(); i-- > 0;) {
      if (shape[axes[i]] == 1) continue;
      if (last >= 0 && strides[axes[i]] != trace.extents.multiply(strides[last], shape[last])) return false;
      last = axes[i];
    }
    return true;
  }
  /// The stride of such a group; 0 if it has one element only.
  static constexpr dim group_stride(const small_vector<int, max_rank>& axes, const dims& shape, const dims& strides) {
    for (int i = axes.size(); i-- > 0;)
      if (shape[axes[i]] != 1) return strides[axes[i]];
    return 0;
  }

 private:
  constexpr bool readable(int product, int operand, const dims& strides) const {
    primitives::dot_axes axes = primitives::dot_axes::read(g.parameters(product));
    bool is_left = g.operand(product, 0) == operand;
    bool is_right = g.operand(product, 1) == operand;
    dims shape = g.shape(operand);
    auto side = [&](const small_vector<int, max_rank>& free, const small_vector<int, max_rank>& contract) {
      if (!regular(free, shape, strides) || !regular(contract, shape, strides)) return false;
      dim row = group_stride(free, shape, strides), depth = group_stride(contract, shape, strides);
      // a broadcast row has stride 0, which no matrix product reads
      for (int axis : free)
        if (shape[axis] != 1 && strides[axis] == 0) return false;
      for (int axis : contract)
        if (shape[axis] != 1 && strides[axis] == 0) return false;
      return row == 1 || depth == 1 || (row == 0 && depth == 0);
    };
    return (!is_left || side(axes.left_free(shape.size()), axes.left_contract)) &&
           (!is_right || side(axes.right_free(shape.size()), axes.right_contract));
  }
};

} // namespace parallax::detail
