// Extents that are equal in every call that passes the guards have one name.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/context.hpp>
#include <parallax/core/version.hpp>

#include <algorithm>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Renames extents that guards make equal: if `dot(x, w)` demands that x's columns are as many as w's rows, both become
/// one dim, and arrays of these sizes are seen to have equal shapes.
class known_equal {
 public:
  constexpr explicit known_equal(context& trace) : extents(trace.extents) {
    for_each(trace.guards, [&](const guard& g) {
      if (g.asks_for_equality()) equate(name_of(g.left), name_of(g.right));
    });
  }

  /// Whether no extent gets another name.
  constexpr bool empty() const { return replaced.empty(); }
  /// The dim that stands for all extents equal to `extent`. The result for an entry is kept, as a graph has some
  /// entries thousands of times.
  constexpr dim operator()(dim extent) {
    constexpr dim unknown; // at worst it is found again
    if (is_static(extent)) return extent;
    const auto entry = index_of(extent.entry());
    if (entry >= names.size()) names.resize(entry + 1, unknown);
    if (names[entry] == unknown) names[entry] = name_of(extent);
    return names[entry];
  }

 private:
  /// The dim that replaces a symbol: a number or an earlier symbol, which may be replaced too.
  struct replacement {
    bool given = false;
    dim by;
  };
  dim_table& extents;
  growing_vector<replacement> replaced; ///< by atom; empty if no symbol is replaced
  growing_vector<dim> names;            ///< by entry of the table: the result of `operator()`

  constexpr dim name_of(dim extent) {
    if (is_static(extent) || replaced.empty()) return extent;
    if (const int atom = atom_of(extent); atom >= 0) return meaning_of(atom);
    // adding may move the table's entries
    const dim_table::polynomial terms = extents.polynomial_of(extent);
    dim result;
    for (const dim_term& term : terms) {
      if (term.coefficient < 0) return extent;
      dim product{term.coefficient};
      for (int atom : term.atoms) product = extents.multiply(product, meaning_of(atom));
      result = extents.add(result, product);
    }
    return result;
  }
  /// The dim at the end of a symbol's chain of replacements. It becomes the symbol's replacement, so that a long chain
  /// is walked once.
  constexpr dim meaning_of(int atom) {
    if (index_of(atom) >= replaced.size() || !replaced[index_of(atom)].given) return extents.symbol_of(atom);
    const dim last = name_of(replaced[index_of(atom)].by);
    replaced[index_of(atom)].by = last;
    return last;
  }
  /// The atom of a dim that is one argument's extent; -1 for other dims.
  constexpr int atom_of(dim extent) const {
    if (is_static(extent)) return -1;
    const dim_table::polynomial& terms = extents.polynomial_of(extent);
    if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return -1;
    const int atom = terms[0].atoms[0];
    const dim_atom_kind kind = extents.atoms[index_of(atom)].kind;
    return kind == dim_atom_kind::argument || kind == dim_atom_kind::given ? atom : -1;
  }
  /// Makes two dims, both renamed already, equal: a symbol is replaced by a number or an earlier symbol. Polynomials
  /// stay as they are.
  constexpr void equate(dim left, dim right) {
    int first = atom_of(left), second = atom_of(right);
    bool simple = (is_static(left) || first >= 0) && (is_static(right) || second >= 0);
    if (left == right || !simple || (is_static(left) && is_static(right))) return;
    if (replaced.empty()) replaced.resize(extents.atoms.size());
    replaced[index_of(std::max(first, second))] = {true, first > second ? right : left};
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
