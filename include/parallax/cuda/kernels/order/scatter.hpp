// Scatters: kernels that change elements whose positions are data. Updates of one element are combined in an order that
// depends only on the loop and the device, so that results are the same in each run.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/order/scatter_positions.hpp>
#include <parallax/cuda/kernels/order/sorted_updates.hpp>
#include <parallax/cuda/names.hpp>

#include <cstdint>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// A thread for each line carries out the line's updates in their order.
template <class Kernel> struct scatter_lines {
  using arguments = scatter_positions<Kernel>;
  using T = typename arguments::T;
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::scatter_threads;

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const std::uint32_t step = blocks_of(block) * threads_of(block);
    for (std::uint32_t line = block_of(block) * threads_of(block) + thread_of(block); line < a.lines; line += step)
      for (std::uint32_t i = 0; i < a.length; ++i) {
        const update_of<T> u = a.update(block, line, i);
        if (u.element == nullptr) continue;
        const T element = block.load(static_cast<const T*>(u.element));
        block.store(u.element,
                    detail::combined_by<typename detail::scatter_statement_of<Kernel>::primitive>(element, u.value));
      }
  }
};

namespace detail {

/// The longest lines that are not sorted: a thread for each is faster than the dozen launches of a sort.
inline constexpr std::int64_t short_line = 64;
/// So many lines are not sorted, since their threads keep the device busy, unless they are columns, which are sorted
/// together.
inline constexpr std::int64_t many_lines = 1024;

/// As `for_each_part`, but dimensions that are gone along in order stay in order: such a dimension is cut only if those
/// of its kind before it have one element.
template <class Done, class Part>
status for_each_part_in_order(kernel_arguments& a, const Done& done, const Part& part, int from = -1) {
  if (from == a.rank) return part(a);
  const unsigned mask = from < 0 ? ~a.reduced : a.reduced & 1U << from;
  return for_each_part(a, mask, done, [&](kernel_arguments& each, std::int64_t) {
    return for_each_part_in_order(each, done, part, from + 1);
  });
}

template <launch_api Api, class Kernel>
status launch_scatter(kernel_arguments& whole, const launch_context<Api>& where) {
  for (int d = 0; d < whole.rank; ++d)
    if (whole.extents[d] == 0) return {};
  whole.collapse();
  const int kept_rank = independent_first(whole);
  auto done = [&](const kernel_arguments& a) { return fits(a, where.largest); };
  return for_each_part_in_order(whole, done, [&](const kernel_arguments& a) {
    const scatter_positions<Kernel> positions = positions_of<Kernel>(a, kept_rank);
    const bool has_columns = scatter_statement_of<Kernel>::is_row && a.rank > 0 && !positions.is_along_innermost;
    const std::int64_t lines = positions.lines, columns = has_columns ? a.extents[a.rank - 1] : 1;
    const std::int64_t busy = std::int64_t{where.properties->multiprocessors} * 4 * scatter_threads;
    if (positions.length <= short_line || lines / columns >= many_lines || lines >= busy)
      return Api::launch(scatter_lines<Kernel>{}, {block_count(lines, scatter_threads, where), scatter_threads, 0},
                         where.stream, positions);
    return sorted_scatter<Api, Kernel>(positions, columns, where).run();
  });
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
