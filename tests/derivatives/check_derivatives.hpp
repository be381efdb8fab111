// Holds all derivatives of a function against finite differences, and against one another. Programs are traced and run
// while the test runs, with interpreted kernels, so that many functions cost little to compile.
#pragma once

#include "support/interpreter/run_traced.hpp"
#include "support/test.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace derivatives {

namespace plx = parallax;
using plx::tracer;
using argument = properties::program_argument;
using arguments = std::vector<argument>;
using leaves = std::vector<std::vector<double>>;

/// Numbers between -1 and 1 that have no pattern.
inline double drawn(std::size_t number, unsigned seed) {
  return std::sin(12.9898 * static_cast<double>(number) + 78.233 * seed + 1);
}
inline std::vector<double> drawn_numbers(std::size_t count, unsigned seed) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(drawn(i, seed));
  return numbers;
}
/// Arrays like others, with drawn elements.
inline arguments directions(const arguments& like, unsigned seed) {
  arguments result = like;
  for (std::size_t k = 0; k < like.size(); ++k)
    result[k].elements = drawn_numbers(like[k].elements.size(), seed + 10 * static_cast<unsigned>(k));
  return result;
}
inline arguments moved(const arguments& from, const arguments& along, double step) {
  arguments result = from;
  for (std::size_t k = 0; k < from.size(); ++k)
    for (std::size_t i = 0; i < from[k].elements.size(); ++i) result[k].elements[i] += step * along[k].elements[i];
  return result;
}
inline arguments joined(arguments first, const arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
/// Each argument of two instances, along a new axis 0.
inline arguments two_of(const arguments& first, const arguments& second) {
  arguments both = first;
  for (std::size_t k = 0; k < both.size(); ++k) {
    both[k].shape.insert(both[k].shape.begin(), 2);
    both[k].elements.insert(both[k].elements.end(), second[k].elements.begin(), second[k].elements.end());
  }
  return both;
}

/// Each result of two instances.
inline leaves two_of(leaves first, const leaves& second) {
  for (std::size_t k = 0; k < first.size(); ++k) first[k].insert(first[k].end(), second[k].begin(), second[k].end());
  return first;
}

/// What is asked of the numbers of one type: of rounding, and of differences.
struct precision {
  double rounding, truncation, step;
  static precision of(plx::element_type type) {
    return type == plx::element_type::float32 ? precision{1e-4, 2e-2, 4e-3} : precision{1e-11, 1e-6, 1e-5};
  }
};

inline void check_alike(std::string_view what, const leaves& found, const leaves& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    REQUIRE(found[k].size() == expected[k].size());
    for (std::size_t i = 0; i < found[k].size(); ++i) {
      INFO(what << " of result " << k << ", element " << i);
      CHECK(found[k][i] == Approx(expected[k][i]).epsilon(tolerance).margin(tolerance));
    }
  }
}
inline double dot(const std::vector<double>& x, const std::vector<double>& y) {
  REQUIRE(x.size() == y.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Which primitives programs were made of, by number.
inline std::array<bool, plx::primitives::catalogue::size> used_primitives{};

/// A program of tracers, ready to be run.
class program {
 public:
  /// `f(inputs)` returns the tracers of all results.
  template <class F>
  program(const F& f, const arguments& like)
      : traced(
            [&](plx::detail::context& trace, const std::vector<tracer>& inputs) {
              std::vector<tracer> results;
              for (const tracer& y : plx::detail::tracers_of(f(inputs))) results.push_back(y);
              for (const plx::detail::graph& g : trace.graphs)
                for (plx::detail::node_id id : g.ids())
                  if (g.is_operation(id)) used_primitives[static_cast<std::size_t>(g.primitive(id))] = true;
              return results;
            },
            like) {}

  leaves run(const arguments& on) {
    return traced.run(on, [](auto&& values) {
      return plx::host::run<properties::program_of_the_moment>(std::forward<decltype(values)>(values));
    });
  }
  /// `(f(at + h) - f(at - h)) / 2h` along a direction.
  leaves difference(const arguments& at, const arguments& along, double step) {
    leaves above = run(moved(at, along, step)), below = run(moved(at, along, -step));
    for (std::size_t k = 0; k < above.size(); ++k)
      for (std::size_t i = 0; i < above[k].size(); ++i) above[k][i] = (above[k][i] - below[k][i]) / (2 * step);
    return above;
  }

 private:
  properties::traced_program traced;
};

/// Tracers number `First` and those behind it, as a tuple.
template <std::size_t Count> auto as_tuple(const std::vector<tracer>& inputs, std::size_t first = 0) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{inputs[first + I]...};
  }(std::make_index_sequence<Count>{});
}
inline plx::detail::growing_vector<tracer> behind(const std::vector<tracer>& inputs, std::size_t first) {
  return {inputs.begin() + static_cast<std::ptrdiff_t>(first), inputs.end()};
}

/// A function of `Count` arrays that is to be checked.
template <std::size_t Count, class F> class checked_function {
 public:
  checked_function(const F& checked, arguments where)
      : f(checked), at(std::move(where)), along(directions(at, 1)), asked(precision::of(at[0].type)) {}

  /// Forward mode against differences. Returns the function's values.
  leaves check_forward() {
    program plain([&](const auto& x) { return std::apply(f, as_tuple<Count>(x)); }, at);
    const leaves value = plain.run(at);
    leaves found = values_and_tangents();
    const auto half = found.begin() + static_cast<std::ptrdiff_t>(value.size());
    check_alike("value", {found.begin(), half}, value, asked.rounding);
    check_alike("jvp", {half, found.end()}, plain.difference(at, along, asked.step), asked.truncation);
    return value;
  }

  /// Forward mode against differences, reverse mode against forward mode, second derivatives against differences.
  void check_both_modes() {
    const leaves value = check_forward();
    const leaves tangent = tangents();

    const arguments cotangents = like(value);
    program reverse([&](const auto& x) { return pulled(as_tuple<Count>(x), behind(x, Count)); },
                    joined(at, cotangents));
    const leaves gradient = reverse.run(joined(at, cotangents));
    double by_forward = 0, by_reverse = 0;
    for (std::size_t k = 0; k < tangent.size(); ++k) by_forward += dot(tangent[k], cotangents[k].elements);
    for (std::size_t k = 0; k < Count; ++k) by_reverse += dot(gradient[k], along[k].elements);
    CHECK(by_reverse == Approx(by_forward).epsilon(10 * asked.rounding).margin(10 * asked.rounding));

    program both(
        [&](const auto& x) {
          const auto w = behind(x, 2 * Count);
          const auto gradient_of = [&](const auto&... args) { return pulled(std::tuple{args...}, w); };
          return plx::jvp(gradient_of, as_tuple<Count>(x), as_tuple<Count>(x, Count)).second;
        },
        joined(joined(at, along), cotangents));
    arguments along_with_none = along;
    for (argument w : cotangents) {
      for (double& x : w.elements) x = 0;
      along_with_none.push_back(w);
    }
    check_alike("jvp of vjp", both.run(joined(joined(at, along), cotangents)),
                reverse.difference(joined(at, cotangents), along_with_none, asked.step), asked.truncation);
    program linear(
        [&](const auto& x) {
          const auto derivative =
              std::apply([&](auto... args) { return plx::linearize(f, args...); }, as_tuple<Count>(x));
          return std::apply(derivative.second, as_tuple<Count>(x, Count));
        },
        joined(at, along));
    check_alike("linearize", linear.run(joined(at, along)), tangent, asked.rounding);
  }

  /// Batches, by vmap and by pmap, against single calls.
  void check_batches() {
    const arguments other = moved(at, directions(at, 3), 0.05), other_along = directions(at, 4);
    const auto derivative = [&](const auto&... x) {
      const std::vector<tracer> all{x...};
      return plx::jvp(f, as_tuple<Count>(all), as_tuple<Count>(all, Count)).second;
    };
    const auto call = [&](const auto& g) {
      return [g](const std::vector<tracer>& x) { return std::apply(g, as_tuple<2 * Count>(x)); };
    };
    program single(call(derivative), joined(at, along));
    const leaves expected = two_of(single.run(joined(at, along)), single.run(joined(other, other_along)));
    const arguments batch = joined(two_of(at, other), two_of(along, other_along));
    auto check = [&](std::string_view what, const auto& g) {
      check_alike(what, program(call(g), batch).run(batch), expected, asked.rounding);
    };
    auto of_mapped = [&](const auto& mapped) {
      return [mapped](const auto&... x) {
        const std::vector<tracer> all{x...};
        return plx::jvp(mapped, as_tuple<Count>(all), as_tuple<Count>(all, Count)).second;
      };
    };
    check("vmap of jvp", plx::vmap(derivative));
    check("pmap of jvp", plx::pmap(derivative));
    check("jvp of vmap", of_mapped(plx::vmap(f)));
    check("jvp of pmap", of_mapped(plx::pmap(f)));
  }
  /// The same of gradients and of their tangents.
  void check_reverse_batches() {
    const arguments other = moved(at, directions(at, 3), 0.05), other_along = directions(at, 4),
                    w = like(program([&](const auto& x) { return std::apply(f, as_tuple<Count>(x)); }, at).run(at)),
                    other_w = directions(w, 5);
    const auto derivatives = [this](const auto& args, const auto& tangents, const auto& cotangents) {
      const auto gradient_of = [&](const auto&... each) { return plx::vjp(f, each...).second(cotangents); };
      return plx::jvp(gradient_of, args, tangents);
    };
    // `mapped` says how f is applied to arguments like those of `mapped_derivatives`
    const auto called = [](const auto& mapped, const auto& mapped_derivatives) {
      return [mapped, mapped_derivatives](const std::vector<tracer>& x) {
        const auto args = as_tuple<Count>(x);
        return mapped_derivatives(args, as_tuple<Count>(x, Count),
                                  plx::detail::with_leaves(std::apply(mapped, args), behind(x, 2 * Count)));
      };
    };
    program single(called(f, derivatives), joined(joined(at, along), w));
    const leaves expected =
        two_of(single.run(joined(joined(at, along), w)), single.run(joined(joined(other, other_along), other_w)));
    const arguments batch = joined(joined(two_of(at, other), two_of(along, other_along)), two_of(w, other_w));
    check_alike("vmap of vjp and of its jvp", program(called(plx::vmap(f), plx::vmap(derivatives)), batch).run(batch),
                expected, asked.rounding);
    check_alike("pmap of vjp and of its jvp", program(called(plx::pmap(f), plx::pmap(derivatives)), batch).run(batch),
                expected, asked.rounding);
  }

 private:
  F f;
  arguments at, along;
  precision asked;

  leaves values_and_tangents() const {
    program forward([&](const auto& x) { return plx::jvp(f, as_tuple<Count>(x), as_tuple<Count>(x, Count)); },
                    joined(at, along));
    return forward.run(joined(at, along));
  }
  leaves tangents() const {
    const leaves both = values_and_tangents();
    return {both.begin() + std::ssize(both) / 2, both.end()};
  }
  /// The cotangents of the arguments, given leaves like the results.
  template <class Args> auto pulled(const Args& args, const plx::detail::growing_vector<tracer>& cotangents) const {
    const auto made = std::apply([&](const auto&... each) { return plx::vjp(f, each...); }, args);
    return made.second(plx::detail::with_leaves(made.first, cotangents));
  }
  /// Drawn cotangents of the results, whose shapes the program says.
  arguments like(const leaves& values) const {
    arguments result;
    program(
        [&](const std::vector<tracer>& x) {
          const auto results = std::apply(f, as_tuple<Count>(x));
          for (const tracer& y : plx::detail::tracers_of(results)) {
            argument w{y.type(), {}, {}, false};
            for (int i = 0; i < y.rank(); ++i) w.shape.push_back(static_cast<int>(y.dimension(i).number()));
            result.push_back(w);
          }
          return results;
        },
        at);
    for (std::size_t k = 0; k < values.size(); ++k)
      result[k].elements = drawn_numbers(values[k].size(), 100 + static_cast<unsigned>(k));
    return result;
  }
};

} // namespace derivatives
