// A plain interpreter of drawn programs: loops over elements and over instances, one statement after another.
#pragma once

#include "support/interpreter/drawn_program.hpp"
#include "support/interpreter/dual.hpp"
#include "support/interpreter/interpret_operations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace properties {

template <class N> class interpreter : public operation_interpreter<N> {
 public:
  using base = operation_interpreter<N>;
  using typename base::row, typename base::values;

  /// Constants are multiplied by `factor`, which tells how much rounding may change.
  explicit interpreter(const drawn_program& drawn, work_left& limit, double factor = 1)
      : base(drawn, limit, factor), known(drawn.types.size()) {}

  std::vector<values> call(const block& b, const std::vector<values>& arguments) {
    for (std::size_t k = 0; k < arguments.size(); ++k) set(b.parameters[k], arguments[k]);
    for (const statement& s : b.statements) run(s);
    std::vector<values> results;
    for (variable v : b.results) results.push_back(here(v));
    return results;
  }

 private:
  template <class> friend class interpreter;
  using base::p, base::work, base::of_constants, base::axes, base::count, base::whole, base::compute;
  std::vector<std::optional<values>> known;

  void set(variable v, values x) {
    for (const row& r : x.elements)
      for (const N& number : r)
        if (!(std::abs(plain(number)) < 1e3)) throw no_test("numbers grow, and rounding errors with them");
    known[static_cast<std::size_t>(v)] = std::move(x);
  }
  /// The value of a variable for all instances that there are here.
  values here(variable v) {
    const values& x = *known[static_cast<std::size_t>(v)];
    values result{x.shape, {}};
    const std::size_t each = count / x.elements.size();
    for (std::size_t i = 0; i < count; ++i) result.elements.push_back(x.elements[i / each]);
    work.take(static_cast<std::int64_t>(count) * count_of_elements(x.shape));
    return result;
  }

  void run(const statement& s) {
    std::vector<values> x;
    for (variable v : s.operands) x.push_back(here(v));
    const std::vector<int> shape = p.type_of(s.targets[0]).shape;
    work.take(static_cast<std::int64_t>(count) * count_of_elements(shape));
    if (s.what != operation::nest) return set(s.targets[0], compute(s, x, shape));
    switch (s.nested) {
    case nesting::scan:
    case nesting::reverse_scan: return run_scan(s, x);
    case nesting::fori_loop: return run_fori_loop(s, x);
    case nesting::while_loop: return run_while(s, x);
    case nesting::map: return run_map(s, x);
    case nesting::cond:
    case nesting::switched: return run_branches(s, x);
    case nesting::vmap:
    case nesting::pmap: return run_mapped(s, x);
    case nesting::checkpointed: {
      const auto results = call(s.bodies[0], x);
      return set(s.targets[0], results[0]), set(s.targets[1], results[1]);
    }
    case nesting::direction: return run_direction(s, x);
    case nesting::gradient:
    case nesting::both_gradients: return run_gradient(s, x);
    }
  }

  values slice_of(const values& stacked, std::size_t number) {
    values result{{stacked.shape.begin() + 1, stacked.shape.end()}, {}};
    const auto size = static_cast<std::size_t>(count_of_elements(result.shape));
    for (const row& r : stacked.elements) {
      const auto first = r.begin() + static_cast<std::ptrdiff_t>(number * size);
      result.elements.push_back(row(first, first + static_cast<std::ptrdiff_t>(size)));
    }
    return result;
  }
  void set_stacked(variable target, const std::vector<values>& slices) {
    values all{p.type_of(target).shape, std::vector<row>(count)};
    for (const values& slice : slices)
      for (std::size_t i = 0; i < count; ++i)
        all.elements[i].insert(all.elements[i].end(), slice.elements[i].begin(), slice.elements[i].end());
    set(target, all);
  }
  values everywhere(double number) { return {{}, std::vector<row>(count, row{N(number)})}; }

  void run_scan(const statement& s, std::vector<values> x) {
    const auto rounds = static_cast<std::size_t>(x[2].shape[0]);
    std::vector<values> outputs(rounds);
    for (std::size_t r = 0; r < rounds; ++r) {
      const std::size_t number = s.nested == nesting::reverse_scan ? rounds - 1 - r : r;
      auto results = call(s.bodies[0], {x[0], x[1], slice_of(x[2], number)});
      x[0] = results[0], x[1] = results[1], outputs[number] = results[2];
    }
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
    set_stacked(s.targets[2], outputs);
  }
  void run_fori_loop(const statement& s, std::vector<values> x) {
    const int rounds = x.size() > 2 ? x[2].shape[0] : s.number;
    for (int i = 0; i < rounds; ++i) x = call(s.bodies[0], {everywhere(i), x[0], x[1]});
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
  }
  void run_while(const statement& s, std::vector<values> x) {
    while (true) {
      std::vector<bool> goes_on(count);
      for (std::size_t i = 0; i < count; ++i) goes_on[i] = whole(x[1].elements[i]) < whole(x[2].elements[i]);
      if (std::none_of(goes_on.begin(), goes_on.end(), std::identity{})) break;
      const auto results = call(s.bodies[0], {x[0], x[1]});
      for (std::size_t i = 0; i < count; ++i) {
        if (!goes_on[i]) continue;
        x[0].elements[i] = results[0].elements[i];
        x[1].elements[i] = {x[1].elements[i][0] + N(1.)};
      }
    }
    set(s.targets[0], x[0]), set(s.targets[1], x[1]);
  }
  void run_map(const statement& s, const std::vector<values>& x) {
    std::vector<values> outputs;
    for (std::size_t r = 0; r < static_cast<std::size_t>(x[0].shape[0]); ++r)
      outputs.push_back(call(s.bodies[0], {slice_of(x[0], r)})[0]);
    set_stacked(s.targets[0], outputs);
  }
  void run_branches(const statement& s, const std::vector<values>& x) {
    std::vector<std::vector<values>> all;
    for (const block& branch : s.bodies) all.push_back(call(branch, {x[1], x[2]}));
    for (std::size_t k = 0; k < s.targets.size(); ++k) {
      values chosen = all[0][k];
      for (std::size_t i = 0; i < count; ++i) {
        const int number = whole(x[0].elements[i]);
        const auto last = static_cast<int>(all.size()) - 1;
        const int branch = s.nested == nesting::cond ? (number < 2 ? 0 : 1) : std::min(number, last);
        chosen.elements[i] = all[static_cast<std::size_t>(branch)][k].elements[i];
      }
      set(s.targets[k], chosen);
    }
  }

  /// An operand's slices along an axis, as instances that follow each other.
  values spread(const values& x, int axis, int extent) {
    std::vector<values> slices;
    const values first = axis == 0 ? x : with_first(x);
    for (int k = 0; k < extent; ++k) slices.push_back(slice_of(first, static_cast<std::size_t>(k)));
    values result{slices[0].shape, {}};
    for (std::size_t i = 0; i < count; ++i)
      for (const values& slice : slices) result.elements.push_back(slice.elements[i]);
    return result;
  }
  /// A matrix with its axes exchanged.
  values with_first(const values& x) { return compute({.what = operation::transpose}, {x}, {x.shape[1], x.shape[0]}); }
  void run_mapped(const statement& s, const std::vector<values>& x) {
    const auto extent = static_cast<std::size_t>(s.extent);
    std::vector<values> arguments{spread(x[0], s.layout == mapped_layout::first_along_1 ? 1 : 0, s.extent)};
    if (s.layout != mapped_layout::second_whole) {
      arguments.push_back(spread(x[1], 0, s.extent));
    } else {
      arguments.push_back({x[1].shape, {}});
      for (std::size_t i = 0; i < count * extent; ++i) arguments[1].elements.push_back(x[1].elements[i / extent]);
    }
    axes.push_back({s.number, s.extent});
    count *= extent;
    const std::vector<values> results = call(s.bodies[0], arguments);
    axes.pop_back();
    count /= extent;
    for (std::size_t k = 0; k < results.size(); ++k) {
      values joined{p.type_of(s.targets[k]).shape, std::vector<row>(count)};
      for (std::size_t i = 0; i < results[k].elements.size(); ++i) {
        row& all = joined.elements[i / extent];
        all.insert(all.end(), results[k].elements[i].begin(), results[k].elements[i].end());
      }
      set(s.targets[k], joined);
    }
  }

  /// By each element of each instance: what all instances' results together change with it.
  void run_gradient(const statement& s, const std::vector<values>& x) {
    if constexpr (requires(N n) { n.tangent.tangent; }) {
      throw no_test("a third derivative");
    } else {
      for (std::size_t k = 0; k < s.targets.size(); ++k) {
        values slope{x[k].shape, x[k].elements};
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t e = 0; e < slope.elements[i].size(); ++e) slope.elements[i][e] = slope_by(s, x, k, i, e);
        set(s.targets[k], slope);
      }
    }
  }
  /// The tangents of what the function makes of operands whose tangents are their values.
  void run_direction(const statement& s, const std::vector<values>& x) {
    if constexpr (requires(N n) { n.tangent.tangent; }) {
      throw no_test("a third derivative");
    } else {
      interpreter<dual<N>> inner = with_tangents();
      std::vector<instances_of<dual<N>>> arguments;
      for (const values& operand : x) {
        arguments.push_back(lifted(operand));
        for (auto& r : arguments.back().elements)
          for (dual<N>& number : r) number.tangent = number.value;
      }
      values result{p.type_of(s.targets[0]).shape, {}};
      const auto results = inner.call(s.bodies[0], arguments);
      for (const auto& r : results[0].elements) {
        result.elements.emplace_back();
        for (const dual<N>& number : r) result.elements.back().push_back(number.tangent);
      }
      set(s.targets[0], result);
    }
  }
  interpreter<dual<N>> with_tangents() const {
    interpreter<dual<N>> inner(p, work, of_constants);
    inner.axes = axes;
    inner.count = count;
    for (std::size_t v = 0; v < known.size(); ++v)
      if (known[v]) inner.known[v] = lifted(*known[v]);
    return inner;
  }
  N slope_by(const statement& s, const std::vector<values>& x, std::size_t argument, std::size_t instance,
             std::size_t element) {
    interpreter<dual<N>> inner = with_tangents();
    std::vector<instances_of<dual<N>>> arguments;
    for (const values& each_one : x) arguments.push_back(lifted(each_one));
    arguments[argument].elements[instance][element].tangent = N(1.);
    N sum(0.);
    const auto results = inner.call(s.bodies[0], arguments);
    for (const auto& result : results[0].elements) sum = sum + result[0].tangent;
    return sum;
  }
  static instances_of<dual<N>> lifted(const values& x) {
    instances_of<dual<N>> result{x.shape, {}};
    for (const row& r : x.elements) {
      result.elements.emplace_back();
      for (const N& n : r) result.elements.back().push_back({n, N(0.)});
    }
    return result;
  }
};

} // namespace properties
