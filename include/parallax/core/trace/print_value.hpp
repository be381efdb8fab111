// Extents and values inside a program as messages print them.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/trace/graph.hpp>
#include <parallax/core/version.hpp>

#include <string_view>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

constexpr void print_extent(auto& out, const dim_table& table, dim extent);

constexpr void print_atom(auto& out, const dim_table& table, const dim_atom& atom) {
  auto both = [&](std::string_view before, std::string_view between) {
    out << before;
    print_extent(out, table, atom.left);
    out << between;
    print_extent(out, table, atom.right);
    out << ')';
  };
  switch (atom.kind) {
  case dim_atom_kind::argument:
  case dim_atom_kind::given: out << 'n' << atom.leaf << '_' << atom.axis; break;
  case dim_atom_kind::quotient: both("(", ")/("); break;
  case dim_atom_kind::minimum: both("min(", ","); break;
  case dim_atom_kind::processes:
    out << "all(";
    print_extent(out, table, atom.left);
    out << ')';
    break;
  }
}

/// Appends an extent. A symbolic one is written in terms of argument axes: in `2*n0_0+3`, n0_0 is the extent of axis 0
/// of argument 0.
constexpr void print_extent(auto& out, const dim_table& table, dim extent) {
  if (is_static(extent)) {
    out << extent.number();
    return;
  }
  bool first_term = true;
  for (const dim_term& term : table.polynomial_of(extent)) {
    if (term.coefficient < 0) out << '-';
    else if (!first_term) out << '+';
    first_term = false;
    const std::int64_t size = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    bool first = size == 1 && !term.atoms.empty();
    if (!first) out << size;
    for (int number : term.atoms) {
      if (!first) out << '*';
      first = false;
      print_atom(out, table, table.atoms[index_of(number)]);
    }
  }
}

/// Appends an abstract value as JAX prints it: `float32[3,4]`.
constexpr void print_value(auto& out, const dim_table& table, const abstract_value& value) {
  out << name_of(value.type) << '[';
  for (int i = 0; i < value.rank(); ++i) {
    if (i > 0) out << ',';
    print_extent(out, table, value.shape[i]);
  }
  out << ']';
}

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
