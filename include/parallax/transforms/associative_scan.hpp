// associative_scan: the combination of the elements up to each, by a tree of combinations.
#pragma once

#include <parallax/ops/assembling.hpp>
#include <parallax/transforms/scan.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace parallax {
namespace detail {

/// Combines a tree of arrays along an axis. The number of elements is known while compiling: a tree has as many levels
/// as it has binary digits.
template <class Function, class Elements> class prefix_tree {
 public:
  constexpr prefix_tree(context& owner, const Function& associative, const Elements& all, int along, bool from_end)
      : trace(owner), function(associative), elements(all), axis(along), reverse(from_end) {}

  constexpr growing_vector<tracer> run(const growing_vector<tracer>& x) const {
    const std::int64_t n = x[0].dimension(axis).number(), pairs = n / 2;
    if (n < 2 || trace.failed) return x;
    // of a pair, `first` is the element that comes earlier; going in reverse, the one of the larger index
    const std::int64_t offset = reverse ? n % 2 : 0;
    const auto first = part(x, offset + (reverse ? 1 : 0), n, 2), second = part(x, offset + (reverse ? 0 : 1), n, 2);
    const auto odd = run(combine(part(first, 0, pairs), part(second, 0, pairs)));
    if (trace.failed) return x;
    const bool whole = n % 2 == 1;
    const std::int64_t begin = reverse ? n - 1 : 0;
    growing_vector<tracer> even = part(x, begin, begin + 1);
    if (n > 2) {
      // the elements between, behind the combination of all before them
      const std::int64_t skipped = whole ? 0 : 1;
      if (reverse) even = joined(combine(part(odd, skipped, pairs), part(x, (n - 1) % 2, n - 1, 2)), even);
      else even = joined(even, combine(part(odd, 0, pairs - skipped), part(x, 2, n, 2)));
    }
    if (reverse && !whole) return interleaved(odd, even);
    return interleaved(even, odd);
  }

 private:
  context& trace;
  const Function& function;
  const Elements& elements;
  int axis;
  bool reverse;

  constexpr growing_vector<tracer> combine(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    const auto made = function(with_leaves(elements, a), with_leaves(elements, b));
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
  constexpr growing_vector<tracer> part(const growing_vector<tracer>& x, std::int64_t start, std::int64_t limit,
                                        std::int64_t stride = 1) const {
    return vector_of(x, [&](const tracer& leaf) {
      if (start == 0 && stride == 1 && dim{limit} == leaf.dimension(axis)) return leaf;
      return build::slice_axis(leaf, axis, dim{start}, dim{limit}, stride);
    });
  }
  constexpr tracer joined(tracer a, tracer b, int along) const {
    growing_vector<tracer> both;
    both.push_back(a);
    both.push_back(b);
    return join(trace, both, along);
  }
  constexpr growing_vector<tracer> joined(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    growing_vector<tracer> all;
    for (std::size_t k = 0; k < a.size(); ++k) all.push_back(joined(a[k], b[k], axis));
    return all;
  }
  /// a[0], b[0], a[1], b[1], ...; a may have one more.
  constexpr growing_vector<tracer> interleaved(const growing_vector<tracer>& a, const growing_vector<tracer>& b) const {
    const std::int64_t pairs = b[0].dimension(axis).number();
    growing_vector<tracer> all;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const tracer even = build::slice_axis(a[k], axis, dim{0}, dim{pairs});
      dims shape = even.extents();
      shape[axis] = dim{2 * pairs};
      const tracer both =
          joined(build::insert_axis(even, axis + 1, dim{1}), build::insert_axis(b[k], axis + 1, dim{1}), axis + 1);
      all.push_back(build::reshape(both, shape));
    }
    const std::int64_t n = a[0].dimension(axis).number();
    if (n > pairs) return joined(all, part(a, pairs, n));
    return all;
  }
};

template <class Function, int Axis, bool Reverse> struct associative_scanned {
  [[no_unique_address]] Function function;

  template <class Elements> constexpr auto operator()(const Elements& elements) const {
    if constexpr (!any_traced<Elements>()) return execute(*this, elements);
    else if constexpr (!is_callable<Function, traced_t<Elements>, traced_t<Elements>>())
      return refuse_call<Function, Elements, Elements>(trace_of_trees(elements), "associative_scan");
    else return trace(trace_of_trees(elements), elements);
  }

 private:
  template <class Elements> constexpr auto trace(context& owner, const Elements& elements) const {
    const auto tree = tree_map([&](const auto& leaf) { return leaf_to_tracer(owner, leaf); }, elements);
    const growing_vector<tracer> leaves = tracers_of(tree);
    if (leaves.empty()) return tree;
    const int along = normalize_axis(owner, "associative_scan", Axis, leaves[0].rank());
    if (owner.failed) return tree;
    for (const tracer& leaf : leaves) {
      if (leaf.rank() > along && is_static(leaf.dimension(along)) &&
          leaf.dimension(along) == leaves[0].dimension(along))
        continue;
      message text;
      text << "associative_scan: axis " << along << " of ";
      print_value(text, owner.extents, leaf.value());
      owner.fail(text << (leaf.rank() > along && !is_static(leaf.dimension(along))
                              ? " is known to the call only; use scan, or an array of static extents"
                              : " is not that of the first array; give arrays of as many elements"));
      return tree;
    }
    using traced_tree_type = std::remove_cvref_t<decltype(tree)>;
    return with_leaves(tree,
                       prefix_tree<Function, traced_tree_type>(owner, function, tree, along, Reverse).run(leaves));
  }
};
template <class Function, int Axis, bool Reverse>
inline constexpr bool is_transformed<associative_scanned<Function, Axis, Reverse>> = true;

template <class Option> inline constexpr int axis_option = 0;
template <int Axis> inline constexpr int axis_option<axis_t<Axis>> = Axis;

} // namespace detail

/// For each k the combination of elements 0 to k of a tree of arrays: `function(a, b)` combines them for many at once,
/// slice by slice along the axis, and must be associative. Options: `axis<k>`, 0 without it; `in_reverse`, which begins
/// with the last element. The number of elements is known while compiling; there are log2(n) levels of combinations,
/// each of which works on all of its elements in parallel. JAX: lax.associative_scan
template <class Function, class Elements, class... Options>
  requires(std::is_empty_v<Options> && ...)
constexpr auto associative_scan(Function function, const Elements& elements, Options...) {
  constexpr int along = (0 + ... + detail::axis_option<Options>);
  constexpr bool reverse = (false || ... || std::is_same_v<Options, in_reverse_t>);
  return detail::associative_scanned<Function, along, reverse>{function}(elements);
}

} // namespace parallax
