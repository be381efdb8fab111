// Symbolic extents at a call.
#pragma once

#include <parallax/arrays/memory/errors.hpp>
#include <parallax/arrays/memory/scratch_array.hpp>
#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/support/plain_span.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/plan.hpp>

#include <algorithm>
#include <string>

namespace parallax::PARALLAX_INLINE_VERSION::runtime {

/// Names the argument axes whose product an extent is; empty for any other extent.
inline std::string describe_extent(const plan_view& plan, dim extent) {
  if (is_static(extent)) return "";
  const plain_span<const term_record> terms = plan[plan.at<entry_record>(extent.entry()).terms];
  if (terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.count == 1) {
    const dim_atom& atom = plan.at<atom_record>(plan[terms[0].atoms][0]).atom;
    if (atom.kind == dim_atom_kind::processes) return describe_extent(plan, atom.left);
  }
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
  /// The extents of a process that is alone. `shape_of` gives the extents of an argument by the number of its leaf.
  /// Throws `shape_error` for an extent beyond 64 bits.
  template <class F>
  resolved_extents(const plan_view& plan, F shape_of)
      : resolved_extents(plan, shape_of, [this](dim rows) { return (*this)[rows]; }) {}
  /// `over_processes` gives the sum of all processes' values of an extent, whose own value is resolved already.
  template <class F, class OverProcesses>
  resolved_extents(const plan_view& plan, F shape_of, OverProcesses over_processes)
      : entries(plan.all<entry_record>().size()) {
    for (std::size_t number = 0; number < entries.size(); ++number) resolve(plan, number, shape_of, over_processes);
  }
  /// Extents with known values.
  explicit resolved_extents(plain_span<const std::int64_t> known) : entries(known.size()) {
    std::copy(known.begin(), known.end(), entries.begin());
  }
  /// Extents that are yet to be resolved.
  explicit resolved_extents(const plan_view& plan) : entries(plan.all<entry_record>().size()) {}

  /// Resolves entry `number` after those before it.
  template <class F, class OverProcesses>
  void resolve(const plan_view& plan, std::size_t number, const F& shape_of, const OverProcesses& over_processes) {
    std::int64_t sum = 0;
    bool counted = true;
    for (const term_record& term : plan[plan.at<entry_record>(static_cast<int>(number)).terms]) {
      std::int64_t product = term.coefficient;
      for (int atom : plan[term.atoms])
        counted =
            checked_multiply(product, value_of(plan.at<atom_record>(atom).atom, shape_of, over_processes)) && counted;
      counted = checked_add(sum, product) && counted;
    }
    if (!counted) throw_too_large(plan, static_cast<int>(number));
    entries[number] = sum;
  }
  std::int64_t operator[](dim extent) const {
    return is_static(extent) ? extent.number() : entries[index_of(extent.entry())];
  }
  plain_span<const std::int64_t> values() const { return {entries.data(), entries.size()}; }

 private:
  scratch_array<std::int64_t, 32> entries;

  template <class F, class OverProcesses>
  std::int64_t value_of(const dim_atom& atom, const F& shape_of, const OverProcesses& over_processes) const {
    switch (atom.kind) {
    case dim_atom_kind::argument:
    case dim_atom_kind::given: return shape_of(index_of(atom.leaf))[atom.axis];
    case dim_atom_kind::quotient: return (*this)[atom.right] == 0 ? 0 : (*this)[atom.left] / (*this)[atom.right];
    case dim_atom_kind::minimum: return std::min((*this)[atom.left], (*this)[atom.right]);
    case dim_atom_kind::processes: return over_processes(atom.left);
    }
    return 0;
  }
  [[noreturn]] static void throw_too_large(const plan_view& plan, int entry) {
    throw shape_error("an extent or a number of elements" + describe_extent(plan, dim::symbol(entry)) +
                      " is beyond 64 bits");
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::runtime
