// Values that the way back computes again because this is cheaper than to keep them.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_algorithms.hpp>
#include <parallax/core/version.hpp>
#include <parallax/primitives/cheap_arithmetic.hpp>
#include <parallax/primitives/rules.hpp>

#include <cstddef>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// How the way back gets an input of the body.
enum class input_place {
  at_hand,   ///< in memory that is kept in any case
  kept,      ///< in memory that is kept if it is read, as for a residual
  elsewhere, ///< it has to be brought if it is read
};

/// Finds cheap residuals in a graph of both ways: the way back begins at `cut` and reads the values `read`. A residual
/// is computed again if few operations make it of values that are kept anyway, or of others of no greater size.
class cheap_residuals {
 public:
  static constexpr int most_operations = 8;
  id_set<node_id> again;

  /// `places`: by input, how the way back gets it.
  constexpr cheap_residuals(const context& owner, const graph& both_ways, node_id cut, const id_set<node_id>& read,
                            const table<node_id, input_place>& places)
      : again(both_ways.size()),
        trace(owner),
        g(both_ways),
        there(g.size()),
        may_be_kept(g.size()),
        compared(find_compared()) {
    for_each(g.ids(), [&](node_id id) {
      if (!(id < cut)) return;
      if (g.is_input(id)) {
        if (places[id] == input_place::at_hand || read.contains(id)) there.insert(id);
        else if (places[id] == input_place::kept) may_be_kept.insert(id);
      } else if (is_kind(trace, g, id, primitive_kind::source)) {
        there.insert(id);
      } else if (read.contains(id) && (!g.is_operation(id) || !try_again(id))) {
        there.insert(id);
      }
    });
  }

 private:
  const context& trace;
  const graph& g;
  id_set<node_id> there;       ///< values that the way back has
  id_set<node_id> may_be_kept; ///< inputs that it does not read yet, but could keep
  id_set<node_id> compared;    ///< values that comparisons, orders and whole numbers are made of

  /// How a value is computed from values that the way back has, and from others that would be kept for it.
  struct recipe {
    growing_vector<node_id> computed{}, kept{};
    std::size_t kept_bytes = 0; ///< for an element
    int operations = 0;
  };

  constexpr bool try_again(node_id id) {
    recipe made;
    if (!follow(id, id, made) || made.kept_bytes > size_of(g.type(id))) return false;
    for_each(made.computed, [&](node_id each) { again.insert(each), there.insert(each); });
    for_each(made.kept, [&](node_id each) { there.insert(each); });
    return true;
  }

  constexpr bool follow(node_id value, node_id id, recipe& made) const {
    if (there.contains(id) || plain::contains(made.computed, id) || plain::contains(made.kept, id)) return true;
    if (may_be_kept.contains(id)) {
      if (!(g.shape(id) == g.shape(value))) return false;
      made.kept.push_back(id);
      made.kept_bytes += size_of(g.type(id));
      return true;
    }
    const bool is_view =
        is<primitives::broadcast_in_dim>(g, id) || is<primitives::reshape>(g, id) || is<primitives::slice>(g, id);
    if (!is_view && (!is_cheap(id) || ++made.operations > most_operations)) return false;
    made.computed.push_back(id);
    for (const node_id operand : g.operands(id))
      if (!follow(value, operand, made)) return false;
    return true;
  }

  /// Whether a node may be computed again. A value that is compared, sorted or converted to a whole number must keep
  /// the bits of the way forward: the way back goes to the elements that were chosen there.
  constexpr bool is_cheap(node_id id) const {
    return g.is_operation(id) && is_cheap_arithmetic(g, id) && !(compared.contains(id) && may_round_otherwise(id));
  }
  constexpr bool may_round_otherwise(node_id id) const {
    return is_sum(g, id) && plain::any_of(g.operands(id), [&](node_id part) {
             while (is<primitives::negative>(g, part) || is_kind(trace, g, part, primitive_kind::view))
               part = g.operand(part, 0);
             return is_multiplied(g, part);
           });
  }
  constexpr id_set<node_id> find_compared() const {
    id_set<node_id> found(g.size());
    for_each(g.ids().reversed(), [&](node_id id) {
      if (!g.is_operation(id)) return;
      const bool hands_on =
          found.contains(id) && (is_cheap_arithmetic(g, id) || is_kind(trace, g, id, primitive_kind::view));
      if (hands_on || chooses(id)) found.insert(g.operands(id));
    });
    return found;
  }
  constexpr bool chooses(node_id id) const {
    const bool is_rounded =
        is<primitives::convert>(g, id) && !is_inexact(g.type(id)) && is_inexact(g.type(g.operand(id, 0)));
    return is_comparison(g, id) || is_rounded || is_kind(trace, g, id, primitive_kind::sorting);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
