// The combinations of the elements up to each, of many elements: in loops, whose code does not grow with the number.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/version.hpp>
#include <parallax/transforms/loops/prefix_tree.hpp>
#include <parallax/transforms/loops/scan.hpp>

#include <cstdint>
#include <utility>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// The elements are seen as a matrix of about as many rows as columns, row behind row, and a rest of less than a row.
/// One loop goes along all rows at once, one down the combinations of whole rows, one along the rest. Each element is
/// combined twice.
template <class Combination> class prefix_loops {
 public:
  constexpr prefix_loops(const Combination& of_two, bool from_end)
      : combine(of_two), trace(of_two.trace), axis(of_two.axis), reverse(from_end) {}

  /// The combinations of four elements or more.
  constexpr growing_vector<tracer> run(const growing_vector<tracer>& x) const {
    const std::int64_t n = x[0].dimension(axis).number();
    std::int64_t columns = 2;
    while (columns * columns < n) ++columns;
    const std::int64_t rows = n / columns, count = rows * columns, rest = n - count;
    const auto matrix = vector_of(in_order(x, n, 0, count), [&](const tracer& leaf) {
      dims shape = leaf.extents();
      shape[axis] = dim{rows};
      shape.insert(axis + 1, dim{columns});
      return build::move_axis(build::reshape(leaf, shape), axis + 1, 0);
    });
    const auto in_row = prefixes(matrix, columns); // (columns, ..., rows, ...)
    if (trace.failed) return x;
    const auto whole_rows = prefixes(as_slices(slice_of(in_row, columns, columns - 1)), rows); // (rows, ..., 1, ...)
    if (trace.failed) return x;
    // the rows behind the first one, combined with all rows before them
    const auto before = vector_of(in_order(whole_rows, rows, 0, rows - 1, 0), [&](const tracer& leaf) {
      const tracer in_place = build::move_axis(leaf, 0, axis);
      dims shape = in_place.extents();
      shape[axis + 1] = dim{columns};
      return merged(build::broadcast_to(in_place, shape));
    });
    const auto behind = along_axis(in_order(in_row, rows, 1, rows, axis + 1));
    const auto first_row = along_axis(in_order(in_row, rows, 0, 1, axis + 1));
    auto all = appended(first_row, combine(before, behind));
    if (rest == 0 || trace.failed) return all;
    const auto last = slice_of(as_slices(all), count, count - 1);
    const auto behind_all = prefixes_behind(last, as_slices(in_order(x, n, count, n)));
    if (trace.failed) return x;
    return appended(all, along_axis(behind_all));
  }

 private:
  const Combination& combine;
  context& trace;
  int axis;
  bool reverse;

  /// Elements `start` to `limit` of `n`, counted from the element that the combinations begin with.
  constexpr growing_vector<tracer> in_order(const growing_vector<tracer>& x, std::int64_t n, std::int64_t start,
                                            std::int64_t limit, int along) const {
    return part_of(x, along, reverse ? n - limit : start, reverse ? n - start : limit);
  }
  constexpr growing_vector<tracer> in_order(const growing_vector<tracer>& x, std::int64_t n, std::int64_t start,
                                            std::int64_t limit) const {
    return in_order(x, n, start, limit, axis);
  }
  /// Slice `number` of `n` along axis 0, counted as for `in_order`.
  constexpr growing_vector<tracer> slice_of(const growing_vector<tracer>& x, std::int64_t n,
                                            std::int64_t number) const {
    return vector_of(in_order(x, n, number, number + 1, 0), [](const tracer& leaf) {
      dims shape = leaf.extents();
      shape.erase(0);
      return build::reshape(leaf, shape);
    });
  }
  constexpr growing_vector<tracer> appended(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    return joined_along(reverse ? b : a, reverse ? a : b, axis);
  }
  /// Elements as slices along a new axis 0, of one element each.
  constexpr growing_vector<tracer> as_slices(const growing_vector<tracer>& x) const {
    return vector_of(
        x, [&](const tracer& leaf) { return build::insert_axis(build::move_axis(leaf, axis, 0), axis + 1, dim{1}); });
  }
  /// The elements of a matrix in their order along the axis; on entry, axis 0 is the columns.
  constexpr growing_vector<tracer> along_axis(const growing_vector<tracer>& x) const {
    return vector_of(x, [&](const tracer& leaf) { return merged(build::move_axis(leaf, 0, axis + 1)); });
  }
  constexpr tracer merged(tracer x) const {
    dims shape = x.extents();
    shape[axis] = trace.extents.multiply(shape[axis], shape[axis + 1]);
    shape.erase(axis + 1);
    return build::reshape(x, shape);
  }

  /// The combinations of `n` slices along axis 0.
  constexpr growing_vector<tracer> prefixes(const growing_vector<tracer>& x, std::int64_t n) const {
    if (n == 1) return x;
    const auto first = in_order(x, n, 0, 1, 0);
    const auto others = prefixes_behind(slice_of(x, n, 0), in_order(x, n, 1, n, 0));
    if (trace.failed) return x;
    return joined_along(reverse ? others : first, reverse ? first : others, 0);
  }
  /// The combinations of `before` with each number of `slices` behind it.
  constexpr growing_vector<tracer> prefixes_behind(const growing_vector<tracer>& before,
                                                   const growing_vector<tracer>& slices) const {
    auto round = [&](const auto& carry, const auto& slice) {
      const auto next = combine.tree_of(combine(tracers_of(carry), tracers_of(slice)));
      return std::pair{next, next};
    };
    const auto made = trace_scan(trace, "associative_scan", round, {.count = 0, .reverse = reverse},
                                 combine.tree_of(before), combine.tree_of(slices));
    return tracers_of(made.second);
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
