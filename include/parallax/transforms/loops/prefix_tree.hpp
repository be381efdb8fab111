// The combinations of the elements up to each, of few elements: a tree of combinations.
#pragma once

#include <parallax/core/support/growing_vector.hpp>
#include <parallax/core/trace/print_value.hpp>
#include <parallax/core/version.hpp>
#include <parallax/ops/shapes/assembling.hpp>
#include <parallax/transforms/loops/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace parallax::PARALLAX_INLINE_VERSION::detail {

/// Combines trees of arrays, given as their leaves, element by element along an axis.
template <class Function, class Elements> class combination {
 public:
  context& trace;
  int axis;

  constexpr combination(context& owner, const Function& associative, const Elements& all, int along)
      : trace(owner), axis(along), function(associative), elements(all) {}

  /// Combines the elements `a` with as many elements `b`, which come behind them.
  constexpr growing_vector<tracer> operator()(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    const auto made = function(tree_of(a), tree_of(b));
    static_assert(same_structure<Elements, std::remove_cvref_t<decltype(made)>>(),
                  "parallax: associative_scan: the function returns another tree than those it is given; let it return "
                  "the same tree");
    growing_vector<tracer> leaves = tracers_of(made);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const abstract_value given = a[k].value();
      if (becomes(trace, "associative_scan", given, leaves[k])) continue;
      message text;
      text << "associative_scan: the function returns ";
      print_value(text, trace.extents, leaves[k].value());
      text << " for array " << static_cast<int>(k) << " where it is given two of ";
      print_value(text, trace.extents, given);
      trace.fail(text << "; let it return what it is given");
      return a;
    }
    return leaves;
  }
  constexpr Elements tree_of(const growing_vector<tracer>& leaves) const { return with_leaves(elements, leaves); }

 private:
  const Function& function;
  const Elements& elements;
};

/// The elements `start`, `start + stride`, ... below `limit` along an axis.
constexpr growing_vector<tracer> part_of(const growing_vector<tracer>& x, int axis, std::int64_t start,
                                         std::int64_t limit, std::int64_t stride = 1) {
  return vector_of(x, [&](const tracer& leaf) {
    if (start == 0 && stride == 1 && dim{limit} == leaf.dimension(axis)) return leaf;
    return build::slice_axis(leaf, axis, dim{start}, dim{limit}, stride);
  });
}
constexpr tracer joined_along(tracer a, tracer b, int axis) {
  growing_vector<tracer> both;
  both.push_back(a);
  both.push_back(b);
  return join(*a.owner, both, axis);
}
constexpr growing_vector<tracer> joined_along(const growing_vector<tracer>& a, const growing_vector<tracer>& b,
                                              int axis) {
  growing_vector<tracer> all;
  for (std::size_t k = 0; k < a.size(); ++k) all.push_back(joined_along(a[k], b[k], axis));
  return all;
}

/// A tree with as many levels as the number of elements has binary digits; each level is written out.
template <class Combination> class prefix_tree {
 public:
  constexpr prefix_tree(const Combination& of_two, bool from_end)
      : combine(of_two), axis(of_two.axis), reverse(from_end) {}

  constexpr growing_vector<tracer> run(const growing_vector<tracer>& x) const {
    const std::int64_t n = x[0].dimension(axis).number(), pairs = n / 2;
    if (n < 2 || combine.trace.failed) return x;
    // of a pair, `first` is the element that is combined first: in reverse, the one of the larger index
    const std::int64_t offset = reverse ? n % 2 : 0;
    const auto first = part(x, offset + (reverse ? 1 : 0), n, 2), second = part(x, offset + (reverse ? 0 : 1), n, 2);
    const auto odd = run(combine(part(first, 0, pairs), part(second, 0, pairs)));
    if (combine.trace.failed) return x;
    const bool whole = n % 2 == 1;
    const std::int64_t begin = reverse ? n - 1 : 0;
    growing_vector<tracer> even = part(x, begin, begin + 1);
    if (n > 2) {
      // the other elements, each behind the combination of all elements before it
      const std::int64_t skipped = whole ? 0 : 1;
      if (reverse) even = joined_along(combine(part(odd, skipped, pairs), part(x, (n - 1) % 2, n - 1, 2)), even, axis);
      else even = joined_along(even, combine(part(odd, 0, pairs - skipped), part(x, 2, n, 2)), axis);
    }
    if (reverse && !whole) return interleaved(odd, even);
    return interleaved(even, odd);
  }

 private:
  const Combination& combine;
  int axis;
  bool reverse;

  constexpr growing_vector<tracer> part(const growing_vector<tracer>& x, std::int64_t start, std::int64_t limit,
                                        std::int64_t stride = 1) const {
    return part_of(x, axis, start, limit, stride);
  }
  /// a[0], b[0], a[1], b[1], ...; a may have one more.
  constexpr growing_vector<tracer> interleaved(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    const std::int64_t pairs = b[0].dimension(axis).number();
    growing_vector<tracer> all;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const tracer even = build::slice_axis(a[k], axis, dim{0}, dim{pairs});
      dims shape = even.extents();
      shape[axis] = dim{2 * pairs};
      const tracer both = joined_along(build::insert_axis(even, axis + 1, dim{1}),
                                       build::insert_axis(b[k], axis + 1, dim{1}), axis + 1);
      all.push_back(build::reshape(both, shape));
    }
    const std::int64_t n = a[0].dimension(axis).number();
    if (n > pairs) return joined_along(all, part(a, pairs, n), axis);
    return all;
  }
};

} // namespace parallax::PARALLAX_INLINE_VERSION::detail
