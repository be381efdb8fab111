// Loops while nodes are given to them: what each loop computes and reads, and which loops use a node.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/cheap_arithmetic.hpp>
#include <parallax/primitives/rules.hpp>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A loop: that of a node has the node's number, further ones follow.
enum class loop_id : int { none = -1, several = -2 };
constexpr loop_id loop_of_node(node_id id) { return loop_id{static_cast<int>(id)}; }

/// The loops of a graph, as far as it is known what they compute and read.
class loop_uses {
 public:
  /// A kernel with more work than this (a division or function of floats counts as 3) or more inputs is split, so that
  /// the time to compile it stays in proportion.
  static constexpr int longest_kernel = 96, most_reads = 48;

  context& trace;
  const graph& g;
  id_set<node_id> again;                           ///< computed in each loop that reads it
  table<loop_id, growing_vector<node_id>> members; ///< its fused nodes, consumers first

 protected:
  /// The uses of a node, as far as they are known: one loop, and one chain of views, which `tag` tells from other
  /// chains.
  struct use {
    loop_id loop = loop_id::none;
    unsigned tag = 0;
  };
  table<node_id, use> uses;
  table<node_id, loop_id> read_by;             ///< the last loop that reads the node
  table<loop_id, int> reads;                   ///< how many nodes a loop uses and does not compute, as far as is known
  table<loop_id, int> work;                    ///< a loop's operations; a division or function of floats counts as 3
  table<node_id, growing_vector<use>> readers; ///< all uses of each node that is computed again

  constexpr loop_uses(context& owner, const graph& of) : trace(owner), g(of), again(of.size()) {}

  constexpr bool is_kind(node_id id, primitive_kind kind) const {
    return parallax::detail::is_kind(trace, g, id, kind);
  }

  constexpr void join(loop_id loop, node_id id) {
    members[loop].push_back(id);
    const bool is_function =
        is_kind(id, primitive_kind::elementwise) && is_inexact(g.type(id)) && !is_cheap_arithmetic(g, id);
    work[loop] += is_function ? 3 : 1;
  }
  constexpr bool is_full(loop_id loop) const { return work[loop] >= longest_kernel || reads[loop] >= most_reads; }

  constexpr void note_use(node_id id, use by) {
    use& known = uses[id];
    if (known.loop == loop_id::none) known = by;
    else if (known.loop != by.loop || known.tag != by.tag) known.loop = loop_id::several;
    if (again.contains(id)) note_reader(readers[id], by);
  }
  /// Adds a use, unless it is known already.
  static constexpr void note_reader(growing_vector<use>& known, use by) {
    for (const use& each : known)
      if (each.loop == by.loop && each.tag == by.tag) return;
    known.push_back(by);
  }
  static constexpr bool is_one(loop_id loop) { return static_cast<int>(loop) >= 0; }
  constexpr void count_read(node_id id, loop_id loop) {
    if (!is_one(loop) || read_by[id] == loop || is_kind(id, primitive_kind::source) || again.contains(id)) return;
    read_by[id] = loop;
    ++reads[loop];
  }
  /// Takes back a counted read of a node: the loop computes the node itself, or reads the source of the view instead.
  constexpr void discount_read(node_id id, loop_id loop) {
    if (is_one(loop) && read_by[id] == loop) --reads[loop];
  }
  constexpr loop_id new_loop() {
    reads.add(0), work.add(0);
    return members.add({});
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
