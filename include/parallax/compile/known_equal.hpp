// Extents that are equal in every call that passes the guards have one name in the graphs that are lowered.
#pragma once

#include <parallax/compile/index_map.hpp>

#include <vector>

namespace parallax::detail {

/// Extents as the guards make them equal: where `dot(x, w)` demands that x's columns are w's rows, both are the same
/// dim, so that arrays of their sizes are seen to be alike.
class known_equal {
 public:
  constexpr explicit known_equal(context& trace) : extents(trace.extents) {
    for (const guard& g : trace.guards)
      if (g.asks_for_equality()) equate((*this)(g.left), (*this)(g.right));
  }

  /// The dim that stands for all that are equal to `extent`.
  constexpr dim operator()(dim extent) {
    if (is_static(extent) || replaced.empty()) return extent;
    // adding may move the table's entries
    const dim_table::polynomial terms = extents.entries[static_cast<std::size_t>(-extent - 1)];
    dim result = 0;
    for (const dim_term& term : terms) {
      if (term.coefficient < 0) return extent;
      dim product = term.coefficient;
      for (int atom : term.atoms) product = extents.multiply(product, meaning_of(atom));
      result = extents.add(result, product);
    }
    return result;
  }
  /// Renames the extents of all values of a graph. Parameters keep theirs, which are as large. Broadcasts that turn out
  /// to change nothing, as gradients have them, are left out.
  constexpr void rename(graph& g) {
    if (replaced.empty()) return;
    for (dim& extent : g.extent_pool) extent = remembered(extent);
    std::vector<int> same(g.nodes.size(), 0); // clang++ wants to be told the value
    for (int id = 0; id < g.size(); ++id) {
      bool changes = g.at(id).operation != primitives::number_of<primitives::broadcast_in_dim> ||
                     !(g.shape(g.operand(id, 0)) == g.shape(id));
      same[static_cast<std::size_t>(id)] = changes ? id : same[static_cast<std::size_t>(g.operand(id, 0))];
    }
    for (int& operand : g.operand_pool) operand = same[static_cast<std::size_t>(operand)];
    for (int& output : g.outputs) output = same[static_cast<std::size_t>(output)];
  }

 private:
  struct replacement {
    int atom;
    dim by;
  };
  dim_table& extents;
  std::vector<replacement> replaced;
  std::vector<dim> names; ///< by entry of the table: what has been found

  /// What a graph has thousands of is found once.
  constexpr dim remembered(dim extent) {
    constexpr dim unknown = 0; // at worst it is found again
    if (is_static(extent)) return extent;
    const auto entry = static_cast<std::size_t>(-extent - 1);
    if (entry >= names.size()) names.resize(entry + 1, unknown);
    if (names[entry] == unknown) names[entry] = (*this)(extent);
    return names[entry];
  }
  constexpr dim meaning_of(int atom) {
    for (const replacement& r : replaced)
      if (r.atom == atom) return r.by;
    return extents.symbol_of(atom);
  }
  /// The number of the argument's extent that a dim is; -1 if it is something else.
  constexpr int atom_of(dim extent) const {
    if (is_static(extent)) return -1;
    const dim_table::polynomial& terms = extents.entries[static_cast<std::size_t>(-extent - 1)];
    bool alone = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1;
    return alone && !extents.atoms[static_cast<std::size_t>(terms[0].atoms[0])].quotient ? terms[0].atoms[0] : -1;
  }
  /// Both have been renamed. A symbol gives way to a number or an earlier symbol; polynomials stay what they are.
  constexpr void equate(dim left, dim right) {
    int first = atom_of(left), second = atom_of(right);
    bool simple = (is_static(left) || first >= 0) && (is_static(right) || second >= 0);
    if (left == right || !simple || (is_static(left) && is_static(right))) return;
    replaced.push_back(first > second ? replacement{first, right} : replacement{second, left});
    for (replacement& r : replaced) r.by = (*this)(r.by);
  }
};

} // namespace parallax::detail
