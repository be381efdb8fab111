// Symbolic extents at a call.
#pragma once

#include <parallax/arrays/errors.hpp>
#include <parallax/arrays/scratch_array.hpp>
#include <parallax/core/checked_arithmetic.hpp>
#include <parallax/core/ids.hpp>
#include <parallax/core/plain_span.hpp>
#include <parallax/program/plan.hpp>

#include <algorithm>
#include <string>

namespace parallax::runtime {

/// Names the argument axes that an extent is the product of; nothing where it is something else.
inline std::string describe_extent(const plan_view& plan, dim extent) {
  if (is_static(extent)) return "";
  const plain_span<const term_record> terms = plan[plan.at<entry_record>(extent.entry()).terms];
  if (terms.size() != 1 || terms[0].coefficient != 1) return "";
  std::string factors;
  for (int number : plan[terms[0].atoms]) {
    const dim_atom& atom = plan.at<atom_record>(number).atom;
    if (atom.kind != dim_atom_kind::argument && atom.kind != dim_atom_kind::given) return "";
    factors += (factors.empty() ? " (axis " : " times axis ") + std::to_string(atom.axis) + " of argument " +
               std::to_string(atom.leaf);
  }
  return factors + ")";
}

/// The values of a program's symbolic extents.
class resolved_extents {
 public:
  /// `shape_of` gives the extents of an argument by the number of its leaf. Throws `shape_error` for what is beyond 64
  /// bits.
  template <class F> resolved_extents(const plan_view& plan, F shape_of) : entries(plan.all<entry_record>().size()) {
    std::size_t number = 0;
    for (const entry_record& entry : plan.all<entry_record>()) {
      std::int64_t sum = 0;
      bool counted = true;
      for (const term_record& term : plan[entry.terms]) {
        std::int64_t product = term.coefficient;
        for (int atom : plan[term.atoms])
          counted = checked_multiply(product, value_of(plan.at<atom_record>(atom).atom, shape_of)) && counted;
        counted = checked_add(sum, product) && counted;
      }
      if (!counted) throw_too_large(plan, static_cast<int>(number));
      entries[number++] = sum;
    }
  }
  std::int64_t operator[](dim extent) const {
    return is_static(extent) ? extent.number() : entries[index_of(extent.entry())];
  }
  /// All of them.
  plain_span<const std::int64_t> values() const { return {entries.data(), entries.size()}; }

 private:
  scratch_array<std::int64_t, 32> entries;

  template <class F> std::int64_t value_of(const dim_atom& atom, const F& shape_of) const {
    switch (atom.kind) {
    case dim_atom_kind::argument:
    case dim_atom_kind::given: return shape_of(index_of(atom.leaf))[atom.axis];
    case dim_atom_kind::quotient: return (*this)[atom.right] == 0 ? 0 : (*this)[atom.left] / (*this)[atom.right];
    case dim_atom_kind::minimum: return std::min((*this)[atom.left], (*this)[atom.right]);
    }
    return 0;
  }
  [[noreturn]] static void throw_too_large(const plan_view& plan, int entry) {
    throw shape_error("an extent or a number of elements" + describe_extent(plan, dim::symbol(entry)) +
                      " is beyond 64 bits");
  }
};

} // namespace parallax::runtime
