// The statements of a row kernel that each part of a pass consists of, so that no others are compiled.
#pragma once

#include <parallax/core/support/ids.hpp>
#include <parallax/core/version.hpp>
#include <parallax/host/names.hpp>
#include <parallax/host/simd/lanes/registers.hpp>
#include <parallax/program/row_schedule.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail {

/// The parts of a pass: `uniform` statements before its elements, statements for each of the `elements`, and the
/// reductions, `totals`.
enum class row_part { uniform, elements, totals };

template <class Kernel, row_part Part, int Pass> class row_statements {
  using schedule = row_schedule<Kernel>;
  static constexpr std::size_t size = index_of(schedule::size);

  static constexpr bool is_in(int i) {
    switch (Part) {
    case row_part::uniform: return schedule::in_round(i, Pass) && !schedule::is_reduction(i);
    case row_part::elements: return schedule::is_needed(i, Pass, false) && !schedule::is_reduction(i);
    case row_part::totals: return schedule::reduces_in(i, Pass);
    }
    return false;
  }
  struct list {
    std::size_t count = 0;
    std::array<std::size_t, size> numbers{};
  };
  static constexpr list make() {
    list all;
    for (std::size_t i = 0; i < size; ++i)
      if (is_in(static_cast<int>(i))) all.numbers[all.count++] = i;
    return all;
  }
  static constexpr list chosen = make();

 public:
  template <std::size_t... K> static auto sequence(std::index_sequence<K...>) {
    return std::index_sequence<chosen.numbers[K]...>{};
  }
  using numbers = decltype(sequence(std::make_index_sequence<chosen.count>{}));
};

/// The numbers of these statements in order, as a `std::index_sequence`.
template <class Kernel, row_part Part, int Pass>
using row_statement_numbers = typename row_statements<Kernel, Part, Pass>::numbers;

template <std::size_t I, class Statement> struct numbered_statement {
  using type = Statement;
};
template <class Indices, class... S> struct numbered_statements;
template <std::size_t... I, class... S>
struct numbered_statements<std::index_sequence<I...>, S...> : numbered_statement<I, S>... {};

template <std::size_t I, class Statement>
numbered_statement<I, Statement> statement_of(const numbered_statement<I, Statement>&);

/// Statement number `I`.
template <std::size_t I, class... S>
using numbered_statement_t = typename decltype(statement_of<I>(
    std::declval<const numbered_statements<std::make_index_sequence<sizeof...(S)>, S...>&>()))::type;

} // namespace parallax::PARALLAX_INLINE_VERSION::host::PARALLAX_INLINE_REGISTERS::detail
