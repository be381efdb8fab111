// Which carries of a loop stay in one buffer: a round changes some of their elements in place.
#pragma once

#include <parallax/compile/fuse/index_map.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/arrays/indexing.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Looks for carries that stay, in the body of one loop.
class staying_carry {
 public:
  /// Nodes that read the carry before it is changed, and therefore have to lie in memory.
  growing_vector<node_id> readers;

  constexpr staying_carry(const context& owner, const graph& of) : trace(owner), body(of), live(of.needed()) {}

  /// Whether an output is an input with elements changed by scatters, and everything else that reads the input is
  /// computed before the first of them.
  constexpr bool find(node_id input, std::size_t output) {
    readers = {};
    node_id last = body.outputs[output], first = last;
    for (std::size_t k = 0; k < body.outputs.size(); ++k)
      if (body.outputs[k] == input || (k < output && body.outputs[k] == last)) return false;
    while (is_scatter(first) && body.operand(first, 0) != input) {
      if (is_scatter(body.operand(first, 0)) && !is_read_once(body.operand(first, 0))) return false;
      first = body.operand(first, 0);
    }
    if (!is_scatter(first) || count_uses(first, input) != 1) return false;
    const id_set<node_id> before = ancestors(first);
    bool all_before = true;
    for_each(body.ids(), [&](node_id id) {
      if (id == first || !live.contains(id) || !body.is_operation(id) || count_uses(id, input) == 0) return;
      all_before = all_before && before.contains(id) && is_kept(id);
      readers.push_back(id);
    });
    return all_before;
  }

 private:
  const context& trace;
  const graph& body;
  id_set<node_id> live;

  constexpr bool is_scatter(node_id id) const { return is_kind(trace, body, id, primitive_kind::scatter); }
  constexpr int count_uses(node_id reader, node_id operand) const {
    int times = 0;
    for (node_id each : body.operands(reader)) times += each == operand ? 1 : 0;
    return times;
  }
  constexpr bool is_read_once(node_id id) const {
    int times = plain::contains(body.outputs, id) ? 2 : 0;
    for_each(body.ids(), [&](node_id reader) {
      if (live.contains(reader) && body.is_operation(reader)) times += count_uses(reader, id);
    });
    return times == 1;
  }
  constexpr id_set<node_id> ancestors(node_id of) const {
    id_set<node_id> found(body.size());
    found.insert(of);
    for_each(body.ids().reversed(), [&](node_id id) {
      if (!found.contains(id) || body.is_input(id)) return;
      for (node_id operand : body.operands(id)) found.insert(operand);
    });
    return found;
  }
  /// Whether a reader's result can lie in memory of its own, once it is computed.
  constexpr bool is_kept(node_id id) const {
    switch (rules_of(trace, body, id).kind) {
    case primitive_kind::elementwise:
    case primitive_kind::gather:
    case primitive_kind::reduction:
    case primitive_kind::cumulative:
    case primitive_kind::sorting:
    case primitive_kind::product:
    case primitive_kind::assembly: return true;
    case primitive_kind::view: return !is<primitives::reshape>(body, id) && is_affine_view(trace, body, id);
    case primitive_kind::scatter:
    case primitive_kind::source:
    case primitive_kind::collective:
    case primitive_kind::call: return false;
    }
    return false;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
