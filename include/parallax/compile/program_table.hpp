// The tables of numbers that a program has, as constant data.
#pragma once

#include <parallax/compile/program.hpp>
#include <parallax/core/support/ids.hpp>
#include <parallax/core/types/extents.hpp>
#include <parallax/core/version.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// A table of numbers in a program's function: an argument behind the user's. Its words begin at `first`.
struct table_record {
  element_type type = element_type::float32;
  int rank = 0;
  std::array<std::int64_t, max_rank> extents{};
  std::int64_t count = 0;
  std::size_t first = 0;
};

/// The tables of numbers in a program's function.
template <class Program>
inline constexpr auto tables_of = [] {
  std::array<table_record, Program::table_count> all{};
  std::size_t next = Program::first.first_of_tables;
  for (table_record& table : all) {
    table.type = static_cast<element_type>(Program::whole().words[next++]);
    table.rank = static_cast<int>(Program::whole().words[next++]);
    table.count = 1;
    for (int axis = 0; axis < table.rank; ++axis)
      table.count *= table.extents[index_of(axis)] = Program::whole().words[next++];
    table.first = next;
    next += index_of(table.count);
  }
  return all;
}();

/// Table number `K` of a program.
template <class Program, std::size_t K> struct program_table {
  static constexpr table_record record = tables_of<Program>[K];
  using value_type = element_t<record.type>;

  template <std::size_t... I> static constexpr auto extents_at(std::index_sequence<I...>) {
    return extents_t<record.extents[I]...>{};
  }
  using extents_type = decltype(extents_at(std::make_index_sequence<index_of(record.rank)>{}));

  static constexpr auto numbers = [] {
    std::array<value_type, index_of(record.count)> all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::int64_t word = Program::whole().words[record.first + k];
      if constexpr (has_double_literal(record.type)) all[k] = static_cast<value_type>(std::bit_cast<double>(word));
      else all[k] = static_cast<value_type>(word);
    }
    return all;
  }();
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
