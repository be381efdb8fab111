// Values that are cheaper to compute again in each loop that reads them than to keep in memory.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/cheap_arithmetic.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Whether a node is a sum, one part of which is a matrix product, perhaps scaled: a library adds the other part if it
/// is in memory.
constexpr bool adds_to_product(const context& trace, const graph& g, node_id id) {
  const auto is_product = [&](node_id part) {
    while (is_kind(trace, g, part, primitive_kind::view)) part = g.operand(part, 0);
    return is_kind(trace, g, part, primitive_kind::product);
  };
  return is_sum(g, id) && plain::any_of(g.operands(id), [&](node_id part) {
           return is_product(part) ||
                  (is<primitives::multiply>(g, part) && plain::any_of(g.operands(part), is_product));
         });
}

/// Finds cheap values once it is known which nodes lie in memory. A cheap value is computed by a few operations from
/// numbers for whole rows, and from arrays in memory with no more bytes for each element than the value itself. So its
/// loops read no more than before, and nothing is written for it. Its bits are the same in all loops: a part of x * s +
/// t, which a compiler may round once in one loop and twice in another, is not computed again.
template <class Fusion> class cheap_values {
 public:
  static constexpr int most_operations = 8;
  id_set<node_id> found; ///< cheap values, and the nodes between them and memory
  bool any = false;

  constexpr explicit cheap_values(const Fusion& of)
      : found(of.g.size()), fused(of), trace(of.trace), g(of.g), added(of.g.size()) {
    for (int i = 0; i < g.size(); ++i)
      if (const node_id id{i}; is_sum(g, id))
        for (const node_id part : g.operands(id)) added.insert(unsigned_source(part));
  }

  /// Looks at a value that has a buffer because several loops read it; its operands have been looked at.
  constexpr void look_at(node_id id) {
    if (g.rank(id) == 0 || (fused.rows.is_member(id) && fused.rows.is_uniform(id))) return;
    recipe made;
    if (!follow(id, made) || made.bytes > size_of(g.type(id))) return;
    for_each(made.computed, [&](node_id each) { found.insert(each); });
    any = true;
  }

 private:
  const Fusion& fused;
  const context& trace;
  const graph& g;
  id_set<node_id> added; ///< parts of sums, without their signs

  /// The node that a value is, read through views and changes of sign.
  constexpr node_id unsigned_source(node_id id) const {
    while (is<primitives::negative>(g, id) || is_affine_view(trace, g, id)) id = g.operand(id, 0);
    return id;
  }
  /// Whether a value is the product or the sum of a multiply-add, which may be rounded once instead of twice.
  constexpr bool may_be_contracted(node_id id) const {
    if (is_multiplied(g, id)) return added.contains(id);
    if (!is_sum(g, id)) return false;
    for (const node_id part : g.operands(id))
      if (!source_of(part).is_row && is_multiplied(g, unsigned_source(part))) return true;
    return false;
  }

  /// How a value is computed: the nodes that are computed for it, the arrays that are read, and the bytes read for each
  /// element.
  struct recipe {
    growing_vector<node_id> computed{}, read{};
    std::size_t bytes = 0;
  };
  /// The node that an operand is a view of. `is_row`: it is a scalar, or the view repeats its elements along the
  /// value's rows.
  struct source {
    node_id id = node_id::none;
    bool is_row = false, is_like = true; ///< is_like: elements are in the value's order, repetition aside
  };
  constexpr source source_of(node_id operand) const {
    source from{.id = operand, .is_row = g.rank(operand) == 0};
    while (!fused.has_buffer.contains(from.id) && is_affine_view(trace, g, from.id)) {
      const bool keeps_order = is<primitives::broadcast_in_dim>(g, from.id) || is<primitives::reshape>(g, from.id);
      const node_id before = g.operand(from.id, 0);
      from.is_like = from.is_like && keeps_order;
      from.is_row = from.is_row || !only_ones_change(g.shape(before), g.shape(from.id));
      from.id = before;
    }
    return from;
  }

  constexpr bool follow(node_id id, recipe& made) const {
    if (plain::contains(made.computed, id)) return true;
    if (count_of(made.computed) == most_operations || !is_cheap(id) || may_be_contracted(id)) return false;
    made.computed.push_back(id);
    for (const node_id operand : g.operands(id)) {
      const source from = source_of(operand);
      if (!from.is_like) return false;
      if (from.is_row || is_kind(trace, g, from.id, primitive_kind::source)) continue;
      if (!found.contains(from.id) && fused.has_array(from.id)) {
        if (!fused.may_be_read_again(from.id)) return false;
        if (plain::contains(made.read, from.id)) continue;
        made.read.push_back(from.id);
        made.bytes += size_of(g.type(from.id));
      } else if (!is_kind(trace, g, from.id, primitive_kind::elementwise) || !follow(from.id, made)) {
        return false;
      }
    }
    return true;
  }

  /// Whether an operation is cheap: arithmetic, or a division by a number of a whole row. An exponential is not: it
  /// takes the host longer than a store and a load.
  constexpr bool is_cheap(node_id id) const {
    if (is<primitives::divide>(g, id)) return source_of(g.operand(id, 1)).is_row;
    return is_cheap_arithmetic(g, id);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
