// Symbolic extents: polynomials in the extents of a program's arguments, kept in canonical form so that two provably
// equal extents are the same number.
#pragma once

#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/support/hash_index.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/small_vector.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Stops constant evaluation: a rule has asked for an extent below 0.
inline void an_extent_is_never_negative() {}

/// An extent inside a program: a number from 0 on, or a symbol, whose polynomial is an entry of the program's
/// `dim_table`. Only that table does arithmetic on it.
class dim {
 public:
  constexpr dim() = default; ///< 0
  constexpr explicit dim(std::int64_t number) : code(number) {
    if (number < 0) an_extent_is_never_negative();
  }
  static constexpr dim symbol(int entry) { return dim(from_word, -std::int64_t{entry} - 1); }

  constexpr bool is_static() const { return code >= 0; }
  constexpr std::int64_t number() const { return code; }              ///< if it is static
  constexpr int entry() const { return static_cast<int>(-code - 1); } ///< if it is a symbol

  /// The word that encodes a dim, and the dim of a word.
  constexpr std::int64_t word() const { return code; }
  static constexpr dim of_word(std::int64_t word) { return dim(from_word, word); }

  friend constexpr bool operator==(dim, dim) = default;
  friend constexpr bool operator==(dim a, std::int64_t number) { return number >= 0 && a.code == number; }

 private:
  enum word_tag { from_word };
  constexpr dim(word_tag, std::int64_t word) : code(word) {}

  std::int64_t code = 0;
};

constexpr bool is_static(dim extent) { return extent.is_static(); }

/// The shape of a value inside a program. It has room for one dimension more than is allowed, so that the error can
/// print the shape.
using dims = small_vector<dim, max_rank + 1>;

/// The atoms: the factors of a polynomial's terms.
enum class dim_atom_kind {
  argument, ///< the extent of an argument's axis
  given,    ///< a number in an argument that is a list of extents; guards have to check that it is not below 0
  quotient, ///< left / right rounded towards zero, if no exact quotient is seen; 0 if right is 0
  minimum,  ///< the smaller one of left and right
  processes ///< the sum of left over all processes
};
struct dim_atom {
  dim_atom_kind kind = dim_atom_kind::argument;
  int leaf = 0, axis = 0; ///< the argument's, or the number's place in the list
  dim left{}, right{};
  friend constexpr bool operator==(const dim_atom&, const dim_atom&) = default;
};

/// coefficient * product of atoms (their numbers of atoms in ascending order).
struct dim_term {
  static constexpr int max_atoms = 2 * max_rank;

  std::int64_t coefficient = 0;
  small_vector<int, max_atoms> atoms; ///< in place: nvcc 13.0 loses vectors in vectors
  friend constexpr bool operator==(const dim_term&, const dim_term&) = default;
};

/// Why arithmetic on extents had no result. Tracing goes on with 0 or another placeholder, so that the error is
/// reported.
enum class dim_failure {
  none,
  too_many_factors, ///< a product of more than `dim_term::max_atoms` symbols
  too_large,        ///< a number beyond 64 bits
  negative          ///< a number below 0
};

/// The symbolic extents of one program. Equal polynomials have equal numbers.
class dim_table {
 public:
  using polynomial = growing_vector<dim_term>;

  growing_vector<dim_atom> atoms;
  growing_vector<polynomial> entries;
  dim_failure failure = dim_failure::none; ///< the first one

  constexpr dim symbol(int leaf, int axis) { return of_atom({.leaf = leaf, .axis = axis}); }
  constexpr dim given(int leaf, int number) {
    return of_atom({.kind = dim_atom_kind::given, .leaf = leaf, .axis = number});
  }
  constexpr dim symbol_of(int atom) { return intern({dim_term{1, {atom}}}); }
  constexpr const polynomial& polynomial_of(dim symbol) const { return entries[index_of(symbol.entry())]; }

  constexpr dim add(dim a, dim b) {
    if (is_static(a) && is_static(b)) return dim{add(a.number(), b.number())};
    if (a == 0 || b == 0) return a == 0 ? b : a;
    return intern(sum(terms(a), terms(b), 1));
  }
  /// a - b. A number below 0 is a failure; for a symbol that may be below 0, guards have to check it.
  constexpr dim subtract(dim a, dim b) {
    if (a == b) return dim{};
    if (is_static(a) && is_static(b)) return dim{not_negative(a.number() - b.number())};
    return intern(sum(terms(a), terms(b), -1));
  }
  constexpr dim multiply(dim a, dim b) {
    if (is_static(a) && is_static(b)) return dim{multiply(a.number(), b.number())};
    if (a == 0 || b == 0) return dim{};
    if (a == 1 || b == 1) return a == 1 ? b : a;
    polynomial product;
    for (const dim_term& x : terms(a))
      for (const dim_term& y : terms(b)) product = sum(product, {multiply(x, y)}, 1);
    return intern(product);
  }
  /// a / b rounded towards zero: exact, and without a new atom, if b divides every term.
  constexpr dim divide(dim a, dim b) {
    if (is_static(a) && is_static(b)) return b == 0 ? dim{} : dim{a.number() / b.number()};
    if (a == b) return dim{1};
    if (b == 1) return a;
    polynomial divisor = terms(b), quotients;
    bool exact = divisor.size() == 1;
    for (const dim_term& x : terms(a)) {
      dim_term q;
      exact = exact && divide(x, divisor[0], q);
      if (!exact) break;
      quotients.push_back(q);
    }
    return exact ? intern(quotients) : of_atom({.kind = dim_atom_kind::quotient, .left = a, .right = b});
  }
  constexpr dim smaller(dim a, dim b) {
    if (is_static(a) && is_static(b)) return a.number() < b.number() ? a : b;
    if (a == b || a == 0 || b == 0) return a == b ? a : dim{};
    return of_atom({.kind = dim_atom_kind::minimum, .left = a, .right = b});
  }
  /// An extent that is 0 exactly if a or b is 0; neither is negative.
  constexpr dim zero_with(dim a, dim b) {
    if (a == 0 || b == 0) return dim{};
    if (is_static(a) || is_static(b)) return is_static(a) ? b : a;
    return smaller(a, b);
  }
  /// The number of rows that all processes have together, if this one has `rows`.
  constexpr dim over_processes(dim rows) { return of_atom({.kind = dim_atom_kind::processes, .left = rows}); }
  /// Whether the extent may be negative in a call.
  constexpr bool may_be_negative(dim extent) const {
    if (is_static(extent)) return false;
    for (const dim_term& term : polynomial_of(extent)) {
      if (term.coefficient < 0) return true;
      for (int number : term.atoms) {
        const dim_atom& atom = atoms[index_of(number)];
        if (atom.kind == dim_atom_kind::given || may_be_negative(atom.left) || may_be_negative(atom.right)) return true;
      }
    }
    return false;
  }
  constexpr dim product(const dims& shape) {
    dim product{1};
    for (dim d : shape) product = multiply(product, d);
    return product;
  }

 private:
  hash_index atom_index, entry_index;

  constexpr std::int64_t fail(dim_failure why) {
    if (failure == dim_failure::none) failure = why;
    return 0;
  }
  constexpr std::int64_t not_negative(std::int64_t number) { return number < 0 ? fail(dim_failure::negative) : number; }
  constexpr std::int64_t add(std::int64_t a, std::int64_t b) {
    return checked_add(a, b) ? a : fail(dim_failure::too_large);
  }
  constexpr std::int64_t multiply(std::int64_t a, std::int64_t b) {
    return checked_multiply(a, b) ? a : fail(dim_failure::too_large);
  }

  constexpr dim_term multiply(const dim_term& a, const dim_term& b) {
    dim_term result{multiply(a.coefficient, b.coefficient), a.atoms};
    if (a.atoms.size() + b.atoms.size() > dim_term::max_atoms) {
      fail(dim_failure::too_many_factors);
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
  constexpr polynomial sum(const polynomial& a, const polynomial& b, std::int64_t sign) {
    polynomial result;
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      if (j == b.size() || (i < a.size() && before(a[i], b[j]))) {
        result.push_back(a[i++]);
      } else if (i == a.size() || before(b[j], a[i])) {
        result.push_back({sign * b[j].coefficient, b[j].atoms});
        ++j;
      } else {
        dim_term merged{add(a[i].coefficient, sign * b[j].coefficient), a[i].atoms};
        if (merged.coefficient != 0) result.push_back(merged);
        ++i, ++j;
      }
    }
    return result;
  }
  constexpr polynomial terms(dim d) const {
    if (!is_static(d)) return polynomial_of(d);
    if (d == 0) return {};
    return {dim_term{d.number(), {}}};
  }
  constexpr dim intern(const polynomial& p) {
    if (p.empty()) return dim{};
    if (p.size() == 1 && p[0].atoms.empty()) return dim{not_negative(p[0].coefficient)};
    std::uint64_t content = p.size();
    for (const dim_term& term : p) {
      content = mix(content, static_cast<std::uint64_t>(term.coefficient));
      content = mix(content, term.atoms.data(), index_of(term.atoms.size()));
    }
    int number = entry_index.find(content, [&](int i) { return entries[index_of(i)] == p; });
    if (number < 0) {
      number = count_of(entries);
      entries.push_back(p);
      entry_index.add(content, number);
    }
    return dim::symbol(number);
  }
  constexpr dim of_atom(const dim_atom& atom) {
    std::uint64_t content = mix(mix(static_cast<std::uint64_t>(atom.kind), index_of(atom.leaf)), index_of(atom.axis));
    content =
        mix(mix(content, static_cast<std::uint64_t>(atom.left.word())), static_cast<std::uint64_t>(atom.right.word()));
    int number = atom_index.find(content, [&](int i) { return atoms[index_of(i)] == atom; });
    if (number < 0) {
      number = count_of(atoms);
      atoms.push_back(atom);
      atom_index.add(content, number);
    }
    return symbol_of(number);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
