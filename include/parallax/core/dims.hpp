// Symbolic extents: polynomials in the extents of a program's arguments, kept in canonical form so that two provably
// equal extents are the same number.
#pragma once

#include <parallax/core/extents.hpp>
#include <parallax/core/hash_index.hpp>
#include <parallax/core/small_vector.hpp>

#include <cstdint>
#include <vector>

namespace parallax {

/// An extent inside a program: the extent itself where it is >= 0, otherwise entry -(dim + 1) of the program's table.
using dim = std::int64_t;

constexpr bool is_static(dim extent) { return extent >= 0; }

/// The shape of a value inside a program. It has room for the one dimension too many that an error tells of.
using dims = small_vector<dim, max_rank + 1>;

/// What a polynomial is made of: an extent of an argument, or a quotient that does not divide evenly by inspection.
struct dim_atom {
  bool quotient = false;
  std::int64_t first = 0;  ///< the argument's leaf number, or the dividend
  std::int64_t second = 0; ///< the argument's axis, or the divisor
  friend constexpr bool operator==(const dim_atom&, const dim_atom&) = default;
};

/// coefficient * product of atoms (numbers of atoms in ascending order).
struct dim_term {
  static constexpr int max_atoms = 2 * max_rank;

  std::int64_t coefficient = 0;
  small_vector<int, max_atoms> atoms; ///< in place: nvcc 13.0 loses vectors in vectors
  friend constexpr bool operator==(const dim_term&, const dim_term&) = default;
};

/// The symbolic extents of one program. Equal polynomials have equal numbers.
class dim_table {
 public:
  using polynomial = std::vector<dim_term>;

  std::vector<dim_atom> atoms;
  std::vector<polynomial> entries;
  bool too_long = false; ///< a product had more than `max_atoms` factors, and was given fewer

  constexpr dim symbol(int leaf, int axis) { return of_atom({false, leaf, axis}); }
  constexpr dim symbol_of(int atom) { return intern({dim_term{1, {atom}}}); }

  constexpr dim add(dim a, dim b) {
    if (is_static(a) && is_static(b)) return a + b;
    if (a == 0 || b == 0) return a == 0 ? b : a;
    return intern(sum(terms(a), terms(b), 1));
  }
  /// a - b; the caller has made sure that a static result is not negative.
  constexpr dim subtract(dim a, dim b) {
    if (is_static(a) && is_static(b)) return a - b;
    return intern(sum(terms(a), terms(b), -1));
  }
  constexpr dim multiply(dim a, dim b) {
    if (is_static(a) && is_static(b)) return a * b;
    if (a == 0 || b == 0) return 0;
    if (a == 1 || b == 1) return a == 1 ? b : a;
    polynomial product;
    for (const dim_term& x : terms(a))
      for (const dim_term& y : terms(b)) product = sum(product, {multiply(x, y)}, 1);
    return intern(product);
  }
  /// The quotient rounded towards zero: exact, and without a new atom, where the divisor divides every term.
  constexpr dim divide(dim a, dim b) {
    if (is_static(a) && is_static(b)) return b == 0 ? 0 : a / b;
    if (a == b) return 1;
    if (b == 1) return a;
    polynomial divisor = terms(b), result;
    bool exact = divisor.size() == 1;
    for (const dim_term& x : terms(a)) {
      dim_term q;
      exact = exact && divide(x, divisor[0], q);
      if (!exact) break;
      result.push_back(q);
    }
    return exact ? intern(result) : of_atom({true, a, b});
  }
  constexpr dim product(const dims& shape) {
    dim result = 1;
    for (dim d : shape) result = multiply(result, d);
    return result;
  }

 private:
  hash_index atom_index, entry_index;

  constexpr dim_term multiply(const dim_term& a, const dim_term& b) {
    dim_term result{a.coefficient * b.coefficient, a.atoms};
    if (a.atoms.size() + b.atoms.size() > dim_term::max_atoms) {
      too_long = true;
      return result;
    }
    for (int atom : b.atoms) {
      int at = result.atoms.size();
      while (at > 0 && result.atoms[at - 1] > atom) --at;
      result.atoms.insert(at, atom);
    }
    return result;
  }
  static constexpr bool divide(const dim_term& a, const dim_term& b, dim_term& quotient) {
    if (a.coefficient % b.coefficient != 0) return false;
    quotient = {a.coefficient / b.coefficient, a.atoms};
    for (int atom : b.atoms) {
      int at = 0;
      while (at < quotient.atoms.size() && quotient.atoms[at] != atom) ++at;
      if (at == quotient.atoms.size()) return false;
      quotient.atoms.erase(at);
    }
    return true;
  }
  static constexpr bool before(const dim_term& a, const dim_term& b) {
    if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size();
    for (int i = 0; i < a.atoms.size(); ++i)
      if (a.atoms[i] != b.atoms[i]) return a.atoms[i] < b.atoms[i];
    return false;
  }
  static constexpr polynomial sum(const polynomial& a, const polynomial& b, std::int64_t sign) {
    polynomial result;
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      if (j == b.size() || (i < a.size() && before(a[i], b[j]))) {
        result.push_back(a[i++]);
      } else if (i == a.size() || before(b[j], a[i])) {
        result.push_back({sign * b[j].coefficient, b[j].atoms});
        ++j;
      } else {
        dim_term merged{a[i].coefficient + sign * b[j].coefficient, a[i].atoms};
        if (merged.coefficient != 0) result.push_back(merged);
        ++i, ++j;
      }
    }
    return result;
  }
  constexpr polynomial terms(dim d) const {
    if (!is_static(d)) return entries[static_cast<std::size_t>(-d - 1)];
    if (d == 0) return {};
    return {dim_term{d, {}}};
  }
  constexpr dim intern(const polynomial& p) {
    if (p.empty()) return 0;
    if (p.size() == 1 && p[0].atoms.empty() && p[0].coefficient > 0) return p[0].coefficient;
    std::uint64_t content = p.size();
    for (const dim_term& term : p) {
      content = mix(content, static_cast<std::uint64_t>(term.coefficient));
      content = mix(content, term.atoms.data(), static_cast<std::size_t>(term.atoms.size()));
    }
    int number = entry_index.find(content, [&](int i) { return entries[static_cast<std::size_t>(i)] == p; });
    if (number < 0) {
      number = static_cast<int>(entries.size());
      entries.push_back(p);
      entry_index.add(content, number);
    }
    return -static_cast<dim>(number) - 1;
  }
  constexpr dim of_atom(const dim_atom& atom) {
    std::uint64_t content = mix(static_cast<std::uint64_t>(atom.first), static_cast<std::uint64_t>(atom.second));
    int number = atom_index.find(content, [&](int i) { return atoms[static_cast<std::size_t>(i)] == atom; });
    if (number < 0) {
      number = static_cast<int>(atoms.size());
      atoms.push_back(atom);
      atom_index.add(content, number);
    }
    return symbol_of(number);
  }
};

} // namespace parallax
