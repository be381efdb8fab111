// Launches reductions: divides the work among the device's threads, and combines the results of pieces if there are
// several. The order in which elements are combined depends only on the loop and the device's size.
#pragma once

#include <parallax/core/version.hpp>
#include <parallax/cuda/kernels/loop/launch_context.hpp>
#include <parallax/cuda/kernels/reductions/reduce_columns.hpp>
#include <parallax/cuda/kernels/reductions/reduce_rows.hpp>
#include <parallax/cuda/names.hpp>

#include <tuple>

namespace parallax::PARALLAX_INLINE_VERSION::cuda {

/// Combines the accumulators of each result's pieces, a few threads of a warp together.
template <class Reduction, class T, bool Moves = false> struct combine_pieces {
  using R = reducer<Reduction, T>;
  using accumulator = typename R::accumulator;
  using loop_type = loop<1, 0, Moves>;
  static constexpr bool barriers = true;
  static constexpr int max_threads = detail::reduction_threads;

  struct arguments {
    loop_type results; ///< rows of one element
    const void* partial;
    std::uint32_t count;
    std::uint32_t pieces;
    thread_group group;
  };

  template <class Block> static PARALLAX_DEVICE void run(const Block& block, const arguments& a) {
    const std::uint32_t group = static_cast<std::uint32_t>(a.group.size), lane = a.group.rank(block);
    const std::uint32_t together = a.group.count(block);
    const accumulator* partial = static_cast<const accumulator*>(a.partial);
    for (std::uint32_t first = block_of(block) * together; first < a.count; first += blocks_of(block) * together) {
      const std::uint32_t result = first + a.group.number(block);
      accumulator total = R::neutral();
      if (result < a.count)
        for (std::uint32_t i = lane; i < a.pieces; i += group)
          total = R::combine(total, block.load(partial + i * a.count + result));
      total = detail::combine_group<R>(block, total, a.group.size);
      if (result >= a.count || lane != 0) continue;
      coordinates p;
      locate(a.results, 0, a.results.rank - 1, result, p);
      block.store(detail::address<typename R::result_type>(a.results, 0, row_offset(a.results, 0, p)),
                  R::result(total));
    }
  }
};

namespace detail {

/// A reduction's loop in the order of dimensions that kernels expect: kept ones, reduced ones, the innermost one.
struct reduction_loop {
  int kept_rank = 0;
  bool innermost_reduced = false;
  unsigned reduced_mask = 0;

  constexpr explicit reduction_loop(kernel_arguments& a) {
    if (a.rank == 0) { // one element
      a.rank = 1;
      a.extents[0] = 1;
      a.reduced = 1;
      for (int i = 0; i < a.operand_count; ++i) a.operands[i].strides[0] = 0;
    }
    int last = a.rank - 1, order[max_rank], count = 0;
    for (int d = 0; d < last; ++d)
      if (!(a.reduced >> d & 1U)) order[count++] = d;
    kept_rank = count;
    for (int d = 0; d < last; ++d)
      if (a.reduced >> d & 1U) order[count++] = d;
    order[last] = last;
    innermost_reduced = (a.reduced >> last & 1U) != 0;
    reorder(a, order);
    for (int d = kept_rank; d < last + (innermost_reduced ? 1 : 0); ++d) reduced_mask |= 1U << d;
    a.reduced = reduced_mask;
  }

  /// The elements of the kept dimensions, or of the reduced ones.
  constexpr std::int64_t results(const kernel_arguments& a) const { return product(a, ~reduced_mask, a.rank); }
  constexpr std::int64_t reduced(const kernel_arguments& a) const { return product(a, reduced_mask, a.rank); }
  /// The rows of one result, if the innermost dimension is reduced.
  constexpr std::int64_t reduced_rows(const kernel_arguments& a) const { return product(a, reduced_mask, a.rank - 1); }

 private:
  static constexpr std::int64_t product(const kernel_arguments& a, unsigned mask, int rank) {
    std::int64_t result = 1;
    for (int d = 0; d < rank; ++d)
      if (mask >> d & 1U) result *= a.extents[d];
    return result;
  }
};

/// The launches of one reduction.
template <launch_api Api, class Kernel> class reduction_launch {
 public:
  using evaluate = evaluator<Kernel>;
  using R = reducer<typename Kernel::reduction, typename evaluate::value_type>;
  using accumulator = typename R::accumulator;

  reduction_launch(kernel_arguments& a, const launch_context<Api>& context) : where(context), shape(a) {}

  status run(kernel_arguments& whole) {
    if (shape.results(whole) == 0) return {};
    // Kept dimensions are cut first, since their parts are independent; reduced ones only if the pieces of results fit
    // the scratch memory.
    unsigned kept_mask = ~shape.reduced_mask;
    auto done = [&](kernel_arguments& a) {
      return fits(a, where.largest) || (fits(a, where.largest / 2, kept_mask) && has_room(a, part_count(a)));
    };
    return for_each_part(whole, kept_mask, done, [&](kernel_arguments& a, std::int64_t) { return run_results(a); });
  }

 private:
  const launch_context<Api>& where;
  reduction_loop shape;

  bool has_room(const kernel_arguments& a, std::int64_t pieces) const {
    return shape.results(a) * pieces * static_cast<std::int64_t>(sizeof(accumulator)) <=
           static_cast<std::int64_t>(where.scratch_bytes);
  }
  /// The number of pieces of each result that fit the scratch memory.
  std::int64_t most_pieces(const kernel_arguments& a) const {
    return static_cast<std::int64_t>(where.scratch_bytes / sizeof(accumulator)) / shape.results(a);
  }
  std::int64_t target_threads() const { return std::int64_t{where.properties->multiprocessors} * 2048; }

  template <class Part> status for_each_reduced_part(kernel_arguments& a, const Part& part) const {
    return for_each_part(
        a, shape.reduced_mask, [&](const kernel_arguments& each) { return fits(each, where.largest); }, part);
  }
  std::int64_t part_count(kernel_arguments& a) const {
    std::int64_t count = 0;
    std::ignore = for_each_reduced_part(a, [&](kernel_arguments&, std::int64_t) {
      ++count;
      return status{};
    });
    return count;
  }

  /// All reduced elements of some results.
  status run_results(kernel_arguments& a) {
    std::int64_t parts = part_count(a), pieces = 0, done = 0;
    if (parts > 1 && !has_room(a, parts))
      return {status::kind::out_of_memory, 0, "parallax", "launch_kernel", "too little scratch memory"};
    status result = for_each_reduced_part(a, [&](kernel_arguments& part, std::int64_t before) {
      plan p = shape.innermost_reduced ? plan_rows(part) : plan_columns(part);
      if (pieces == 0)
        pieces = std::clamp<std::int64_t>(p.pieces, 1, std::max<std::int64_t>(most_pieces(a) / parts, 1));
      bool several = parts * pieces > 1;
      p.items.pieces = divisor::of(pieces);
      p.items.position = before;
      p.items.partial = several ? static_cast<accumulator*>(where.scratch) + done * pieces * shape.results(a) : nullptr;
      ++done;
      return shape.innermost_reduced ? launch_rows(part, p) : launch_columns(part, p);
    });
    if (!result.ok() || parts * pieces == 1) return result;
    return launch_combination(a, parts * pieces);
  }

  /// Threads and pieces for a loop.
  struct plan {
    int group = 1;           ///< of each result, or side by side
    int threads = 1;         ///< of a block
    std::int64_t pieces = 1; ///< that would keep the device busy
    reduction_items items;
  };

  plan plan_rows(const kernel_arguments& a) const {
    plan p;
    cut_rows rows(shape.reduced_rows(a), a.extents[a.rank - 1], evaluate::vector_width(a));
    std::int64_t work = std::max(rows.vectors.count, rows.singles.count), results = shape.results(a);
    auto threads = [&] { return results * p.group; };
    p.group = power_of_two(work, warp_size);
    while (p.group < most_reduction_threads &&
           (work >= 16 * p.group || (work >= 2 * p.group && threads() < target_threads())))
      p.group *= 2;
    p.threads = p.group > warp_size ? p.group : reduction_threads;
    p.pieces = std::min(target_threads() / threads(), work / (4 * p.group));
    return p;
  }
  plan plan_columns(const kernel_arguments& a) const {
    plan p;
    std::int64_t columns = column_pieces(a).count, reduced = shape.reduced(a);
    int rows = 1;
    while (rows * power_of_two(columns, warp_size) < reduction_threads && 4 * rows <= reduced &&
           columns * rows < target_threads())
      rows *= 2;
    p.group = std::max(power_of_two(columns, reduction_threads / rows), warp_size / rows); // whole warps
    p.threads = p.group * rows;
    p.pieces = std::min(target_threads() / (columns * rows), reduced / (4 * rows));
    return p;
  }
  static bool has_vector_columns(const kernel_arguments& a) {
    int width = evaluate::vector_width(a);
    return width > 0 && a.extents[a.rank - 1] % width == 0;
  }
  row_pieces column_pieces(const kernel_arguments& a) const {
    std::int64_t length = a.extents[a.rank - 1];
    return row_pieces(shape.results(a) / length, has_vector_columns(a) ? length / evaluate::width : length, 0);
  }

  void count_items(plan& p, std::int64_t results, std::int64_t per_block) const {
    std::int64_t blocks = (results + per_block - 1) / per_block;
    p.items.kept_rank = shape.kept_rank;
    p.items.per_piece = divisor::of(blocks);
    p.items.count = static_cast<std::uint32_t>(blocks) * p.items.pieces.value;
  }
  status launch_rows(const kernel_arguments& a, plan& p) const {
    p.items.results = static_cast<std::uint32_t>(shape.results(a));
    count_items(p, shape.results(a), p.threads / p.group);
    typename reduce_rows<Kernel>::arguments arguments{
        typename evaluate::loop_type(a),
        cut_rows(shape.reduced_rows(a), a.extents[a.rank - 1], evaluate::vector_width(a)), p.items, p.group};
    launch_shape size{block_count(p.items.count, 1, where), static_cast<unsigned>(p.threads),
                      p.group > warp_size ? static_cast<std::size_t>(p.group / warp_size) * sizeof(accumulator) : 0};
    return Api::launch(reduce_rows<Kernel>{}, size, where.stream, arguments);
  }
  status launch_columns(const kernel_arguments& a, plan& p) const {
    row_pieces columns = column_pieces(a);
    bool vectors = has_vector_columns(a);
    p.items.results = static_cast<std::uint32_t>(shape.results(a));
    count_items(p, columns.count, p.group);
    typename reduce_columns<Kernel>::arguments arguments{typename evaluate::loop_type(a),
                                                         p.items,
                                                         columns,
                                                         static_cast<std::uint32_t>(shape.reduced(a)),
                                                         p.group,
                                                         vectors};
    std::size_t elements = static_cast<std::size_t>(vectors ? evaluate::width : 1);
    launch_shape size{block_count(p.items.count, 1, where), static_cast<unsigned>(p.threads),
                      p.threads > p.group ? static_cast<unsigned>(p.threads) * elements * sizeof(accumulator) : 0};
    return Api::launch(reduce_columns<Kernel>{}, size, where.stream, arguments);
  }

  status launch_combination(const kernel_arguments& a, std::int64_t pieces) const {
    operand result = a.operands[0];
    kernel_arguments kept;
    for (int d = 0; d < a.rank; ++d) {
      if (shape.reduced_mask >> d & 1U) continue;
      kept.extents[kept.rank] = a.extents[d];
      result.strides[kept.rank++] = a.operands[0].strides[d];
    }
    kept.extents[kept.rank] = 1;
    result.strides[kept.rank++] = 0;
    kept.operands = &result;
    kept.operand_count = 1;
    kept.round = a.round;
    int group = power_of_two(pieces, warp_size);
    std::int64_t count = shape.results(a);
    using combination = combine_pieces<typename Kernel::reduction, typename evaluate::value_type, is_moving<Kernel>>;
    typename combination::arguments arguments{typename combination::loop_type(kept), where.scratch,
                                              static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(pieces),
                                              group};
    launch_shape size{block_count(count, reduction_threads / group, where), reduction_threads};
    return Api::launch(combination{}, size, where.stream, arguments);
  }
};

} // namespace detail

} // namespace parallax::PARALLAX_INLINE_VERSION::cuda
