// The extents of a direct call: each is computed by code of its own.
#pragma once

#include <parallax/core/support/checked_arithmetic.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/runtime/guards.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host {

/// The values of a program's symbolic extents.
template <class Program> class direct_extents {
  static constexpr std::size_t entry_count = Program::plan.template all<entry_record>().size();
  static constexpr std::size_t guard_count = Program::plan.template all<guard_record>().size();

 public:
  /// `shapes`: the extents of the arguments, by leaf. Throws `shape_error` if a guard does not hold, or an extent is
  /// beyond 64 bits.
  PARALLAX_INLINE explicit direct_extents(const std::int64_t* const* shapes) {
    // g++ warns of an object without a value that is passed on.
    if constexpr (entry_count == 0) entries[0] = 0;
    resolve_all(shapes, std::make_index_sequence<entry_count>{});
    check_all(shapes, std::make_index_sequence<guard_count>{});
  }
  PARALLAX_INLINE std::int64_t operator[](dim extent) const {
    if constexpr (entry_count == 0) return extent.number();
    else return is_static(extent) ? extent.number() : entries[index_of(extent.entry())];
  }

 private:
  std::int64_t entries[entry_count == 0 ? 1 : entry_count];

  template <std::size_t... E>
  PARALLAX_INLINE void resolve_all([[maybe_unused]] const std::int64_t* const* shapes, std::index_sequence<E...>) {
    const bool counted = (true & ... & resolve<E>(shapes, std::make_index_sequence<terms<E>>{}));
    if (!counted) throw_for_extents(Program::plan, shapes);
  }
  template <std::size_t E>
  static constexpr std::size_t terms =
      index_of(Program::plan.template at<entry_record>(static_cast<int>(E)).terms.count);
  template <std::size_t E, std::size_t... T>
  PARALLAX_INLINE bool resolve([[maybe_unused]] const std::int64_t* const* shapes, std::index_sequence<T...>) {
    std::int64_t sum = 0;
    const bool counted = (true & ... & add_term<E, T>(sum, shapes, std::make_index_sequence<atoms<E, T>>{}));
    entries[E] = sum;
    return counted;
  }
  template <std::size_t E, std::size_t T>
  static constexpr const term_record& term =
      Program::plan[Program::plan.template at<entry_record>(static_cast<int>(E)).terms][T];
  template <std::size_t E, std::size_t T> static constexpr std::size_t atoms = index_of(term<E, T>.atoms.count);
  template <std::size_t E, std::size_t T, std::size_t... A>
  PARALLAX_INLINE bool add_term(std::int64_t& sum, [[maybe_unused]] const std::int64_t* const* shapes,
                                std::index_sequence<A...>) const {
    std::int64_t product = term<E, T>.coefficient;
    const bool counted = (true & ... & checked_multiply(product, value_of<Program::plan[term<E, T>.atoms][A]>(shapes)));
    return checked_add(sum, product) & counted;
  }
  template <int Atom> PARALLAX_INLINE std::int64_t value_of([[maybe_unused]] const std::int64_t* const* shapes) const {
    constexpr dim_atom atom = Program::plan.template at<atom_record>(Atom).atom;
    if constexpr (atom.kind == dim_atom_kind::quotient) {
      const std::int64_t divisor = (*this)[atom.right];
      return divisor == 0 ? 0 : (*this)[atom.left] / divisor;
    } else if constexpr (atom.kind == dim_atom_kind::minimum) {
      const std::int64_t left = (*this)[atom.left], right = (*this)[atom.right];
      return left < right ? left : right;
    } else if constexpr (atom.kind == dim_atom_kind::processes) {
      return (*this)[atom.left]; // direct calls have no devices
    } else {
      static_assert(atom.kind == dim_atom_kind::argument || atom.kind == dim_atom_kind::given);
      return shapes[atom.leaf][atom.axis];
    }
  }

  template <std::size_t... G>
  PARALLAX_INLINE void check_all([[maybe_unused]] const std::int64_t* const* shapes, std::index_sequence<G...>) {
    const bool holds =
        (true & ... & guard_holds(Program::plan, *this, Program::plan.template at<guard_record>(static_cast<int>(G))));
    if (!holds) throw_for_extents(Program::plan, shapes);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::host
