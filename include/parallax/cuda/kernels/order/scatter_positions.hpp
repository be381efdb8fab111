// The common part of scatter kernels: the positions of their updates, and how these are combined.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/evaluate.hpp>
#include <parallax/cuda/names.hpp>

#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

namespace detail {
inline constexpr int scatter_threads = 256;

template <class Kernel> struct scatter_statement_of;
/// The last statement of a scatter.
template <kernel_result Result, class Reduction, class... S>
struct scatter_statement_of<kernel<Result, Reduction, S...>> {
  using statement = typename last_statement<S...>::type;
  using primitive = typename statement::primitive;
  /// Whether updates along the innermost dimension change elements along it.
  static constexpr bool is_row = statement::record.kind == statement_kind::scatter_row;
};

/// The combination of an element and an update, or of two updates in their order.
template <class Combining, class T> PARALLAX_DEVICE PARALLAX_INLINE T combined_by(T element, T update) {
  if constexpr (std::is_same_v<Combining, primitives::stop_gradient>) return update;
  else return Combining::evaluate(element, update);
}
} // namespace detail

/// The positions of a scatter's loop. Dimensions: first those along which updates never meet, then those that are gone
/// along in order. The innermost dimension, of either kind, stays the innermost.
template <class Kernel> struct scatter_positions {
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type;

  typename evaluate::loop_type loop;
  std::uint32_t lines;  ///< positions along which updates never meet
  std::uint32_t length; ///< of each: positions that are gone along in order
  int kept_rank;        ///< dimensions of the first kind before the innermost
  bool is_along_innermost;

  template <class Block>
  PARALLAX_DEVICE PARALLAX_INLINE update_of<T> update(const Block& block, std::uint32_t line, std::uint32_t i) const {
    std::uint32_t& number = is_along_innermost ? i : line;
    const std::uint32_t rest = loop.extents[innermost].quotient(number);
    coordinates p;
    p.inner = static_cast<std::int32_t>(number - rest * loop.extents[innermost].value);
    number = rest;
    locate(loop, 0, kept_rank, line, p);
    locate(loop, kept_rank, loop.rank - 1, i, p);
    return evaluate::update(block, loop, p);
  }
};

namespace detail {

/// Puts the dimensions along which updates never meet first, except for the innermost one. Returns their number.
constexpr int independent_first(kernel_arguments& a) {
  const int last = a.rank - 1;
  int order[max_rank] = {}, next = 0;
  for (int d = 0; d < last; ++d)
    if ((a.reduced >> d & 1U) == 0) order[next++] = d;
  const int independent = next;
  for (int d = 0; d < last; ++d)
    if ((a.reduced >> d & 1U) != 0) order[next++] = d;
  if (last >= 0) order[last] = last;
  reorder(a, order);
  const unsigned outer = last > 0 ? (1U << last) - (1U << independent) : 0;
  a.reduced = last >= 0 ? outer | (a.reduced & (1U << last)) : 0;
  return independent;
}

/// The positions of a loop whose dimensions `independent_first` has ordered.
template <class Kernel> constexpr scatter_positions<Kernel> positions_of(const kernel_arguments& a, int kept_rank) {
  std::int64_t lines = 1, length = 1;
  for (int d = 0; d < a.rank; ++d) ((a.reduced >> d & 1U) != 0 ? length : lines) *= a.extents[d];
  return {typename evaluator<Kernel>::loop_type(a), static_cast<std::uint32_t>(lines),
          static_cast<std::uint32_t>(length), kept_rank, a.rank > 0 && (a.reduced >> (a.rank - 1) & 1U) != 0};
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
