// Cumulative operations on a device: a thread goes along a line of elements by itself, or a block shares a long one.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/reductions/reduce.hpp>
#include <parallax/primitives/arrays/cumulative.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// The elements that a cumulative kernel combines in order: those of its expression.
template <class Kernel> struct cumulator {
  using P = typename Kernel::reduction;
  using evaluate = evaluator<Kernel>;
  using T = typename evaluate::value_type;
  using accumulator = T;
  using loop_type = typename evaluate::loop_type;
  /// Sums of pieces begin with 0 and are then added to the sum before: small numbers, added to a large sum one by one,
  /// would change nothing.
  static constexpr bool sums_in_pieces = std::is_same_v<P, primitives::cumsum> && std::is_floating_point_v<T>;

  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return P::template neutral<T>(); }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator load(const Block& block, const loop_type& l,
                                                          const coordinates& p) {
    return evaluate::template run<1>(block, l, p).value[0];
  }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator before, accumulator x) {
    return P::evaluate(before, x);
  }
  static PARALLAX_DEVICE PARALLAX_INLINE T result(accumulator x) { return x; }
};
/// The elements of a linear recurrence: accumulators are maps of the value before, which is 0 for the first element.
template <kernel_result Result, class Factor, class Term, class Last>
struct cumulator<kernel<Result, primitives::linear_recurrence, Factor, Term, Last>> {
  using T = typename Term::value_type;
  using loop_type = loop<3, 0>;
  static constexpr bool sums_in_pieces = false;
  struct accumulator {
    T factor, term;
  };

  static PARALLAX_DEVICE PARALLAX_INLINE accumulator neutral() { return accumulator{T{1}, T{}}; }
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator load(const Block& block, const loop_type& l,
                                                          const coordinates& p) {
    return accumulator{load_part(block, l, p, 1), load_part(block, l, p, 2)};
  }
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator combine(accumulator before, accumulator x) {
    return accumulator{math::mul(before.factor, x.factor),
                       primitives::linear_recurrence::evaluate(before.term, x.factor, x.term)};
  }
  static PARALLAX_DEVICE PARALLAX_INLINE T result(accumulator x) { return x.term; }

 private:
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE T load_part(const Block& block, const loop_type& l, const coordinates& p,
                                                     int operand) {
    const std::int32_t offset = row_offset(l, operand, p) + p.inner * l.operands[operand].strides[innermost];
    return block.load(static_cast<const T*>(detail::address<T>(l, operand, offset)));
  }
};

namespace detail {
inline constexpr int cumulative_threads = 256;
/// Neighbouring elements that a thread of a block takes.
inline constexpr int elements_of_thread = 4;
/// The elements of a piece for a thread with a line of its own.
inline constexpr std::uint32_t elements_of_piece = 64;
} // namespace detail

/// The lines of a loop. Dimensions: kept ones, then the one along the lines, then the innermost if it is kept.
template <class Kernel> struct cumulative_lines {
  using C = cumulator<Kernel>;
  using accumulator = typename C::accumulator;
  static constexpr bool reverse = Kernel::result == kernel_result::reverse_cumulative;

  typename C::loop_type loop;
  std::uint32_t count;
  std::uint32_t length;
  divisor width; ///< of the innermost dimension, if it is kept
  int kept_rank;
  bool along_innermost;

  /// Sets all coordinates but the one along the line.
  PARALLAX_DEVICE PARALLAX_INLINE void locate(std::uint32_t line, coordinates& p) const {
    if (!along_innermost) {
      const std::uint32_t rest = width.quotient(line);
      p.inner = static_cast<std::int32_t>(line - rest * width.value);
      line = rest;
    }
    cuda::locate(loop, 0, kept_rank, line, p);
  }
  /// Sets the coordinate along the line to that of element number `i` in the operation's direction.
  PARALLAX_DEVICE PARALLAX_INLINE void move(std::uint32_t i, coordinates& p) const {
    const std::int32_t at = static_cast<std::int32_t>(reverse ? length - 1 - i : i);
    if (along_innermost) p.inner = at;
    PARALLAX_DEVICE_UNROLL
    for (int d = 0; d < max_rank - 1; ++d)
      if (!along_innermost && d == kept_rank) p.outer[d] = at;
  }
  template <class Block>
  PARALLAX_DEVICE PARALLAX_INLINE void write(const Block& block, const coordinates& p, accumulator x) const {
    const std::int32_t offset = row_offset(loop, 0, p) + p.inner * loop.operands[0].strides[innermost];
    block.store(detail::address<typename C::T>(loop, 0, offset), C::result(x));
  }
};

/// A thread for each line.
template <class Kernel> struct cumulate_lines {
  using arguments = cumulative_lines<Kernel>;
  using C = cumulator<Kernel>;
  static constexpr bool barriers = false;
  static constexpr int max_threads = detail::cumulative_threads;

  template <class Block> static PARALLAX_DEVICE PARALLAX_INLINE void run(const Block& block, const arguments& a) {
    const std::uint32_t step = blocks_of(block) * threads_of(block);
    for (std::uint32_t line = block_of(block) * threads_of(block) + thread_of(block); line < a.count; line += step) {
      coordinates p;
      a.locate(line, p);
      typename C::accumulator total = C::neutral(), before = C::neutral();
      for (std::uint32_t i = 0; i < a.length; ++i) {
        a.move(i, p);
        if (C::sums_in_pieces && i > 0 && i % detail::elements_of_piece == 0) {
          before = C::combine(before, total);
          total = C::neutral();
        }
        total = C::combine(total, C::load(block, a.loop, p));
        if constexpr (C::sums_in_pieces) a.write(block, p, C::combine(before, total));
        else a.write(block, p, total);
      }
    }
  }
};

/// A block for each line: its threads combine a few neighbouring elements each, and then add the combination of the
/// elements before.
template <class Kernel> struct cumulate_line {
  using arguments = cumulative_lines<Kernel>;
  using C = cumulator<Kernel>;
  using accumulator = typename C::accumulator;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::cumulative_threads;

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    constexpr std::uint32_t each = detail::elements_of_thread;
    const std::uint32_t together = threads_of(block) * each;
    for (std::uint32_t line = block_of(block); line < a.count; line += blocks_of(block)) {
      coordinates p;
      a.locate(line, p);
      accumulator carried = C::neutral();
      for (std::uint32_t first = 0; first < a.length; first += together) {
        const std::uint32_t own = first + thread_of(block) * each;
        accumulator totals[each], total = C::neutral();
        PARALLAX_DEVICE_UNROLL
        for (std::uint32_t k = 0; k < each; ++k) {
          if (own + k < a.length) {
            a.move(own + k, p);
            total = C::combine(total, C::load(block, a.loop, p));
          }
          totals[k] = total;
        }
        accumulator whole;
        const accumulator before = C::combine(carried, share(block, total, whole));
        PARALLAX_DEVICE_UNROLL
        for (std::uint32_t k = 0; k < each; ++k) {
          if (own + k >= a.length) continue;
          a.move(own + k, p);
          a.write(block, p, C::combine(before, totals[k]));
        }
        carried = C::combine(carried, whole);
      }
    }
  }

 private:
  /// The combination of the threads before this one; `whole` is that of all threads.
  template <class Block>
  static PARALLAX_DEVICE PARALLAX_INLINE accumulator share(const Block& block, accumulator mine, accumulator& whole) {
    accumulator* const shared = reinterpret_cast<accumulator*>(block.shared());
    const int thread = block.thread(), threads = block.threads();
    block.store(shared + thread, mine);
    block.barrier();
    for (int distance = 1; distance < threads; distance *= 2) {
      accumulator before = C::neutral();
      if (thread >= distance) before = block.load(shared + thread - distance);
      block.barrier();
      mine = C::combine(before, mine);
      block.store(shared + thread, mine);
      block.barrier();
    }
    const accumulator before = thread == 0 ? C::neutral() : block.load(shared + thread - 1);
    whole = block.load(shared + threads - 1);
    block.barrier(); // the shared memory may be used again
    return before;
  }
};

namespace detail {

/// Whether a block shares each line: if there are few lines, or threads with lines of their own would step far in
/// memory.
inline bool is_shared_line(std::int64_t lines, std::int64_t length, bool along_innermost) {
  return length > warp_size && (along_innermost ? lines < 1 << 20 : lines < 1 << 10);
}

template <launch_api Api, class Kernel>
status launch_cumulative(kernel_arguments& whole, const launch_context<Api>& where) {
  whole.reduced_dimension();
  const reduction_loop shape(whole);
  if (shape.results(whole) == 0 || shape.reduced(whole) == 0) return {};
  auto done = [&](const kernel_arguments& a) { return fits(a, where.largest); };
  return for_each_part(whole, ~shape.reduced_mask, done, [&](const kernel_arguments& a, std::int64_t) -> status {
    if (!fits(a, largest_loop))
      return {status::kind::failure, 0, "parallax", "launch_kernel", "more than 2^30 elements along a cumulative axis"};
    const std::int64_t lines = shape.results(a), length = shape.reduced(a);
    const cumulative_lines<Kernel> arguments{typename cumulator<Kernel>::loop_type(a),
                                             static_cast<std::uint32_t>(lines),
                                             static_cast<std::uint32_t>(length),
                                             divisor::of(shape.innermost_reduced ? 1 : a.extents[a.rank - 1]),
                                             shape.kept_rank,
                                             shape.innermost_reduced};
    if (is_shared_line(lines, length, shape.innermost_reduced)) {
      constexpr std::size_t shared = cumulative_threads * sizeof(typename cumulator<Kernel>::accumulator);
      return Api::launch(cumulate_line<Kernel>{}, {block_count(lines, 1, where), cumulative_threads, shared},
                         where.stream, arguments);
    }
    return Api::launch(cumulate_lines<Kernel>{}, {block_count(lines, cumulative_threads, where), cumulative_threads, 0},
                       where.stream, arguments);
  });
}

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
