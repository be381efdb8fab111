// Fusion: which nodes get a buffer, and which are computed inside the loop of their only consumer.
#pragma once

#include <parallax/compile/fuse/cheap_values.hpp>
#include <parallax/compile/fuse/components.hpp>
#include <parallax/compile/fuse/loop_uses.hpp>
#include <parallax/compile/fuse/product_operands.hpp>
#include <parallax/compile/fuse/row_sweeps.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The decision for one graph. Consumers are visited before producers; a node joins its consumers' loop if they are all
/// in one loop and read it through the same views. Otherwise its elements are kept in memory; connected nodes that are
/// kept are still computed in one loop, which then has several results.
class fusion : public loop_uses {
 public:
  id_set<node_id> live;
  row_sweeps rows;                     ///< they are loops too
  id_set<node_id> has_buffer;          ///< a contiguous array of its own
  table<node_id, loop_id> loop_of;     ///< the loop that computes an elementwise node
  table<node_id, loop_id> first_piece; ///< the loop of an assembly's first operand

  /// The results of `kept` nodes lie in memory.
  constexpr fusion(context& owner, graph_id id, const growing_vector<node_id>& kept = {})
      : loop_uses(owner, owner.at(id)), live(g.needed()), rows(owner, g, live), parts(owner, g, live, rows) {
    decide(kept);
    cheap_values<fusion> cheap(*this);
    for_each(g.ids(), [&](node_id node) {
      if (is_shared(node)) cheap.look_at(node);
    });
    if (!cheap.any) return;
    again = std::move(cheap.found);
    decide(kept);
  }

  /// The node whose buffer a chain of affine views reads; none if there is none.
  constexpr node_id base_of(node_id id) const {
    while (!has_array(id) && is_view(id)) id = g.operand(id, 0);
    return has_array(id) ? id : node_id::none;
  }
  /// Whether the node's elements lie in memory, in row-major order.
  constexpr bool has_array(node_id id) const {
    return comes_from_outside(id) || has_buffer.contains(id) || is_alias(id);
  }
  /// Whether a node is an affine change of its operand's indices.
  constexpr bool is_view(node_id id) const { return is_affine_view(trace, g, id); }
  /// The sweep that a loop computes; none for any other loop.
  constexpr row_sweep_id row_sweep(loop_id loop) const {
    return static_cast<int>(loop) < g.size() ? rows.sweep_of[node_id{static_cast<int>(loop)}] : row_sweep_id::none;
  }
  /// Whether a loop computes an elementwise node.
  constexpr bool computes(loop_id loop, node_id id) const { return loop_of[id] == loop || again.contains(id); }
  /// The member of `loop`'s row sweep that node `id` of this loop reads as `operand`; `none` if there is no such
  /// member.
  constexpr node_id inner_member(loop_id loop, node_id id, node_id operand) const {
    return loop_of[id] == loop ? rows.inner_member(id, operand) : node_id::none;
  }
  /// Whether further loops may read a node that lies in memory. A product only if it is stored anyway: otherwise its
  /// readers may be fused into the library's call.
  constexpr bool may_be_read_again(node_id id) const {
    const loop_id reader = uses[id].loop;
    return !is_kind(id, primitive_kind::product) || demanded.contains(id) ||
           (is_one(reader) && row_sweep(reader) != row_sweep_id::none);
  }
  /// A reshape that gives the same memory another shape.
  constexpr bool is_alias(node_id id) const {
    if (!is<primitives::reshape>(g, id) || has_buffer.contains(id)) return false;
    const node_id source = g.operand(id, 0);
    return comes_from_outside(source) || has_buffer.contains(source) || is_alias(source);
  }

 private:
  id_set<node_id> demanded; ///< nodes that have to lie in memory
  components parts;
  table<node_id, loop_id> open_loop; ///< by first node of a component: its loop that further results may join
  id_set<node_id> read_in_sweep;     ///< members of row sweeps that others of the sweep read

  /// Decides about all nodes, once it is known which are computed again.
  constexpr void decide(const growing_vector<node_id>& kept) {
    const int size = g.size();
    has_buffer = demanded = read_in_sweep = id_set<node_id>(size);
    loop_of = first_piece = read_by = open_loop = table<node_id, loop_id>(size, loop_id::none);
    members = table<loop_id, growing_vector<node_id>>(size);
    uses = table<node_id, use>(size);
    reads = work = table<loop_id, int>(size, 0);
    readers = table<node_id, growing_vector<use>>(size);
    demanded.insert(g.outputs);
    demanded.insert(kept);
    for_each(g.ids().reversed(), [&](node_id node) {
      if (live.contains(node)) visit(node);
    });
  }
  /// Whether a node is in memory for several loops, and for nothing else.
  constexpr bool is_shared(node_id id) const {
    return has_buffer.contains(id) && !demanded.contains(id) && is_kind(id, primitive_kind::elementwise);
  }

  constexpr bool comes_from_outside(node_id id) const { return g.is_input(id) || g.is_result(id); }

  /// Whether an operand is an array that a gather takes elements of.
  constexpr bool is_indexed(node_id id, node_id operand) const {
    return is_kind(id, primitive_kind::gather) && g.operand(id, 0) == operand;
  }
  /// Whether all loops that read a node can compute it again, each loop for one chain of views. If not, the node is
  /// kept in memory, and leaves `again`.
  constexpr bool stays_again(node_id id) {
    if (!again.contains(id)) return false;
    const growing_vector<use>& all = readers[id];
    bool can = !demanded.contains(id);
    for (std::size_t k = 0; k < all.size(); ++k) {
      can = can && is_one(all[k].loop) && !is_full(all[k].loop);
      for (std::size_t other = 0; other < k; ++other) can = can && all[other].loop != all[k].loop;
    }
    if (can) return true;
    again.erase(id);
    for_each(all, [&](use by) { count_read(id, by.loop); });
    return false;
  }
  /// Lets all loops that read a node compute it; they read its operands instead.
  constexpr void compute_again(node_id id) {
    for_each(readers[id], [&](use by) {
      join(by.loop, id);
      note_operands(id, by);
    });
  }
  /// Whether a node is a broadcast that repeats elements. Its operand is computed once, outside of the loop that
  /// repeats it.
  constexpr bool expands(node_id id) const {
    return is<primitives::broadcast_in_dim>(g, id) && !only_ones_change(g.shape(g.operand(id, 0)), g.shape(id));
  }

  constexpr void visit(node_id id) {
    if (!g.is_operation(id)) return;
    if (rows.is_member(id)) return visit_row_member(id);
    switch (rules_of(trace, g, id).kind) {
    case primitive_kind::source:
      if (demanded.contains(id)) has_buffer.insert(id); // as an output or an operand that must lie in memory
      break;
    case primitive_kind::gather: demanded.insert(g.operand(id, 0)); [[fallthrough]];
    case primitive_kind::elementwise: visit_elementwise(id); break;
    case primitive_kind::view: visit_view(id); break;
    case primitive_kind::reduction:
      has_buffer.insert(id);
      note_use(g.operand(id, 0), {loop_of_node(id), 0});
      break;
    case primitive_kind::cumulative:
      has_buffer.insert(id);
      if (is<primitives::linear_recurrence>(g, id)) demanded.insert(g.operands(id));
      else note_use(g.operand(id, 0), {loop_of_node(id), 0});
      break;
    case primitive_kind::sorting:
      has_buffer.insert(id);
      demanded.insert(g.operands(id));
      break;
    case primitive_kind::product:
      has_buffer.insert(id);
      for (node_id operand : g.operands(id)) demand_readable(id, operand);
      break;
    case primitive_kind::assembly:
      has_buffer.insert(id);
      for (node_id operand : g.operands(id)) {
        const loop_id piece = new_loop();
        if (first_piece[id] == loop_id::none) first_piece[id] = piece;
        note_use(operand, {piece, 0});
      }
      break;
    case primitive_kind::scatter: visit_scatter(id); break;
    case primitive_kind::collective:
      has_buffer.insert(id);
      demanded.insert(g.operand(id, 0));
      break;
    case primitive_kind::call: demanded.insert(g.operands(id)); break;
    }
  }

  constexpr void visit_elementwise(node_id id) {
    use by = uses[id];
    if (is_one(by.loop)) again.erase(id);
    if (stays_again(id)) {
      loop_of[id] = loop_id::several;
      return compute_again(id);
    }
    const bool in_rows = is_one(by.loop) && row_sweep(by.loop) != row_sweep_id::none;
    const bool fits = is_one(by.loop) && !is_full(by.loop) && !(in_rows && is_kind(id, primitive_kind::gather));
    if (demanded.contains(id) || !fits) {
      has_buffer.insert(id);
      loop_id& open = open_loop[parts.first_of(id)];
      if (open == loop_id::none || is_full(open)) open = loop_of_node(id);
      by = {open, 0};
    }
    loop_of[id] = by.loop;
    discount_read(id, by.loop);
    join(by.loop, id);
    note_operands(id, by);
  }
  constexpr void note_operands(node_id id, use by) {
    for (node_id operand : g.operands(id)) {
      count_read(operand, by.loop);
      if (is_indexed(id, operand)) continue;
      // a scalar beside arrays is computed once; the part of a sum that a library may add to a product lies in memory
      const bool once =
          (g.rank(operand) == 0 && g.rank(id) > 0) || (again.contains(operand) && adds_to_product(trace, g, id));
      note_use(operand, {once ? loop_id::several : by.loop, by.tag});
    }
  }

  /// Two loops: one makes the array, the other changes elements of it.
  constexpr void visit_scatter(node_id id) {
    has_buffer.insert(id);
    first_piece[id] = new_loop();
    const loop_id changes = new_loop();
    const node_id offsets = g.operand(id, 1), updates = g.operand(id, 2);
    note_use(g.operand(id, 0), {first_piece[id], 0});
    note_use(updates, {changes, 0});
    note_use(offsets, {g.rank(offsets) == 0 && g.rank(updates) > 0 ? loop_id::several : changes, 0});
  }

  /// A member that is used outside of its sweep is kept in memory.
  constexpr void visit_row_member(node_id id) {
    const loop_id loop = loop_of_node(rows.sweeps[rows.sweep_of[id]].last);
    loop_of[id] = loop;
    if (stays_again(id)) {
      compute_again(id);
      if (!read_in_sweep.contains(id)) return;
    } else if (demanded.contains(id) || uses[id].loop != loop_id::none) {
      has_buffer.insert(id);
    }
    join(loop, id);
    for (node_id operand : g.operands(id)) {
      if (const node_id inner = rows.inner_member(id, operand); inner != node_id::none) {
        read_in_sweep.insert(inner);
        continue;
      }
      const bool once = g.rank(operand) == 0;
      note_use(operand, {once ? loop_id::several : loop, rows.reads_rows(id) ? 0U : 1U});
      count_read(operand, loop);
    }
  }

  constexpr void visit_view(node_id id) {
    const node_id operand = g.operand(id, 0);
    if (is<primitives::as_strided>(g, id)) { // its readers take elements from the operand's memory
      if (demanded.contains(id)) has_buffer.insert(id);
      return;
    }
    if (!is_view(id)) {
      demanded.insert(operand);
      return;
    }
    const unsigned own_tag = static_cast<unsigned>(id) + 1;
    if (demanded.contains(id)) {
      has_buffer.insert(id);
      note_use(operand, {expands(id) ? loop_id::several : loop_of_node(id), own_tag});
      return;
    }
    const use by = uses[id];
    if (by.loop == loop_id::none) return; // read as an operand's view
    discount_read(id, by.loop);
    count_read(operand, by.loop);
    const bool apart = by.loop == loop_id::several || expands(id);
    note_use(operand, {apart ? loop_id::several : by.loop, by.tag * 31 + own_tag});
  }

  constexpr void demand_readable(node_id product, node_id operand) {
    const product_operands::viewed_operand read = product_operands(trace, g).read(product, operand);
    if (!is<primitives::as_strided>(g, read.base) || !read.in_place) demanded.insert(read.base);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
