// Shapes as records: abstract values, symbolic extents, and the guards that a call checks.
#pragma once

#include <parallax/core/trace/guard.hpp>
#include <parallax/core/version.hpp>
#include <parallax/program/record_members.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::compiled {

/// An abstract value.
struct value_record {
  element_type type = element_type::float32;
  record_list<dim> shape{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.type);
    field(r.shape);
  }
};

struct atom_record {
  dim_atom atom{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.atom.kind);
    field(r.atom.leaf);
    field(r.atom.axis);
    field(r.atom.left);
    field(r.atom.right);
  }
};
struct term_record {
  std::int64_t coefficient = 0;
  record_list<int> atoms{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.coefficient);
    field(r.atoms);
  }
};
/// A symbolic extent: the sum of its terms.
struct entry_record {
  record_list<term_record> terms{};
  static constexpr void describe(auto& r, auto& field) { field(r.terms); }
};

struct mapped_argument_record {
  int argument = 0, axis = 0;
  value_record value{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.argument);
    field(r.axis);
    field(r.value);
  }
};
/// See `guard`.
struct guard_record {
  guard_kind kind = guard_kind::equal_extents;
  record_list<char> operation{};
  dim left{}, right{};
  value_record left_value{}, right_value{};
  record_list<mapped_argument_record> mapped_arguments{};
  static constexpr void describe(auto& r, auto& field) {
    field(r.kind);
    field(r.operation);
    field(r.left);
    field(r.right);
    field(r.left_value);
    field(r.right_value);
    field(r.mapped_arguments);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::compiled
