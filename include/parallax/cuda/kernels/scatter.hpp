// Scatters: kernels that change elements whose places are data. Updates of one element are made in their order, so that
// results are the same in each run.
#pragma once

#include <parallax/cuda/kernels/evaluate.hpp>
#include <parallax/cuda/kernels/launch_context.hpp>
#include <parallax/cuda/names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace parallax::cuda {

namespace detail {
inline constexpr int scatter_threads = 256;

template <class Kernel> struct scatter_combine;
/// What a scatter makes of an element and an update.
template <kernel_result Result, primitive_id Reduction, class... S>
struct scatter_combine<kernel<Result, Reduction, S...>> {
  static constexpr kernel_statement statements[sizeof...(S)] = {S::record...};
  static constexpr primitive_id primitive = statements[sizeof...(S) - 1].primitive;

  template <class T> static PARALLAX_DEVICE PARALLAX_INLINE T of(T element, T update) {
    if constexpr (primitive == primitives::id_of<primitives::stop_gradient>) return update;
    else return primitives::primitive_at<primitive>::evaluate(element, update);
  }
};
} // namespace detail

/// The positions of a scatter's loop. Dimensions: those along which updates never meet, then those gone along in order;
/// the innermost one, which may be of either kind, stays where it is.
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

/// A thread for each line.
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
        block.store(u.element, detail::scatter_combine<Kernel>::of(element, u.value));
      }
  }
};

/// Several blocks for each line: all of them look at all its updates, as many at a time as there are threads, and each
/// makes those of the elements that are its own. The first thread that has an update of an element makes the others'
/// of that time too.
template <class Kernel> struct scatter_line {
  using positions = scatter_positions<Kernel>;
  using T = typename positions::T;
  struct arguments {
    positions all;
    divisor parts; ///< blocks of a line
  };
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::scatter_threads;
  static constexpr std::size_t shared_bytes = detail::scatter_threads * (sizeof(T*) + sizeof(T));

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t work = a.all.lines * a.parts.value;
    for (std::uint32_t w = block_of(block); w < work; w += blocks_of(block)) {
      const std::uint32_t line = a.parts.quotient(w), part = w - line * a.parts.value;
      for (std::uint32_t first = 0; first < a.all.length; first += threads_of(block)) some(block, a, line, part, first);
    }
  }

 private:
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE void some(const Block& block, const arguments& a, std::uint32_t line,
                                                   std::uint32_t part, std::uint32_t first) {
    T** const elements = reinterpret_cast<T**>(block.shared());
    T* const values = reinterpret_cast<T*>(block.shared() + sizeof(T*) * static_cast<std::size_t>(block.threads()));
    const int own = block.thread(), threads = block.threads();
    update_of<T> u{nullptr, T{}};
    if (first + thread_of(block) < a.all.length) u = a.all.update(block, line, first + thread_of(block));
    if (u.element != nullptr && part_of(a, u.element) != part) u.element = nullptr;
    block.store(elements + own, u.element);
    block.store(values + own, u.value);
    block.barrier();
    if (u.element != nullptr && is_first(block, elements, own, u.element)) {
      T element = block.load(static_cast<const T*>(u.element));
      for (int i = own; i < threads; ++i)
        if (block.load(static_cast<T* const*>(elements + i)) == u.element)
          element = detail::scatter_combine<Kernel>::of(element, block.load(static_cast<const T*>(values + i)));
      block.store(u.element, element);
    }
    block.barrier(); // the shared memory may be used again
  }
  static PARALLAX_DEVICE PARALLAX_INLINE std::uint32_t part_of(const arguments& a, const T* element) {
    const T* const base = reinterpret_cast<const T*>(a.all.loop.operands[0].data);
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(element - base) % a.parts.value);
  }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE bool is_first(const Block& block, T** elements, int own, const T* element) {
    for (int i = 0; i < own; ++i)
      if (block.load(static_cast<T* const*>(elements + i)) == element) return false;
    return true;
  }
};

namespace detail {

/// Puts the dimensions first along which updates never meet, but for the innermost. Returns how many these are.
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

template <launch_api Api, class Kernel>
status launch_scatter(kernel_arguments& whole, const launch_context<Api>& where) {
  for (int d = 0; d < whole.rank; ++d)
    if (whole.extents[d] == 0) return {};
  const int kept_rank = independent_first(whole);
  auto done = [&](const kernel_arguments& a) { return fits(a, where.largest); };
  return for_each_part(whole, ~0U, done, [&](const kernel_arguments& a, std::int64_t) {
    std::int64_t lines = 1, length = 1;
    for (int d = 0; d < a.rank; ++d) ((a.reduced >> d & 1U) != 0 ? length : lines) *= a.extents[d];
    const scatter_positions<Kernel> positions{typename evaluator<Kernel>::loop_type(a),
                                              static_cast<std::uint32_t>(lines), static_cast<std::uint32_t>(length),
                                              kept_rank, a.rank > 0 && (a.reduced >> (a.rank - 1) & 1U) != 0};
    const std::int64_t blocks = std::int64_t{where.properties->multiprocessors} * 4;
    if (length <= warp_size || lines >= blocks * scatter_threads)
      return Api::launch(scatter_lines<Kernel>{}, {block_count(lines, scatter_threads, where), scatter_threads, 0},
                         where.stream, positions);
    const std::int64_t pieces = (length + scatter_threads - 1) / scatter_threads;
    const std::int64_t parts = std::clamp<std::int64_t>(blocks / lines, 1, pieces);
    using line = scatter_line<Kernel>;
    return Api::launch(line{}, {block_count(lines * parts, 1, where), scatter_threads, line::shared_bytes},
                       where.stream, typename line::arguments{positions, divisor::of(parts)});
  });
}

} // namespace detail

} // namespace parallax::cuda
