// Drawn programs as users' functions: what the library's own calls make of them.
#pragma once

#include "support/interpreter/drawn_program.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace properties {

namespace plx = parallax;
using plx::tracer;

class drawn_tracing {
 public:
  drawn_tracing(const drawn_program& drawn, plx::detail::context& owner)
      : p(drawn), trace(owner), known(drawn.types.size()) {}

  std::vector<tracer> call(const block& b, const std::vector<tracer>& arguments) {
    for (std::size_t k = 0; k < arguments.size(); ++k) set(b.parameters[k], arguments[k]);
    for (const statement& s : b.statements)
      if (!trace.failed) run(s);
    std::vector<tracer> results;
    for (variable v : b.results) results.push_back(trace.failed ? arguments[0] : of(v));
    return results;
  }

 private:
  using two = std::array<tracer, 2>;
  const drawn_program& p;
  plx::detail::context& trace;
  std::vector<tracer> known;

  void set(variable v, tracer x) { known[static_cast<std::size_t>(v)] = x; }
  tracer of(variable v) const { return known[static_cast<std::size_t>(v)]; }
  static plx::detail::dims dims_of(const std::vector<int>& shape) {
    plx::detail::dims dims;
    for (int extent : shape) dims.push_back(plx::detail::dim{extent});
    return dims;
  }
  two both(const block& b, const std::vector<tracer>& arguments) {
    const std::vector<tracer> results = call(b, arguments);
    return {results[0], results[1]};
  }
  /// Calls f with an axis' name as a constant.
  template <class F> static auto with_name(int axis, const F& f) {
    if (axis == 0) return f.template operator()<"first">();
    if (axis == 1) return f.template operator()<"second">();
    return f.template operator()<"third">();
  }

  void run(const statement& s) {
    std::vector<tracer> x;
    for (variable v : s.operands) x.push_back(of(v));
    auto two_results = [&](const two& y) { set(s.targets[0], y[0]), set(s.targets[1], y[1]); };
    if (s.what != operation::nest) return set(s.targets[0], compute(s, x));
    switch (s.nested) {
    case nesting::scan: return run_scan(s, x);
    case nesting::reverse_scan: return run_scan(s, x, plx::in_reverse);
    case nesting::fori_loop: {
      auto body = [&](tracer i, const two& carry) { return both(s.bodies[0], {i, carry[0], carry[1]}); };
      return two_results(
          plx::fori_loop(0, x.size() > 2 ? x[2].shape(0) : plx::extent(s.number), body, two{x[0], x[1]}));
    }
    case nesting::while_loop: {
      auto goes_on = [&](const two& carry) { return carry[1] < x[2]; };
      auto body = [&](const two& carry) { return two{call(s.bodies[0], {carry[0], carry[1]})[0], carry[1] + 1}; };
      return two_results(plx::while_loop(goes_on, body, two{x[0], x[1]}));
    }
    case nesting::map:
      return set(s.targets[0], plx::map([&](tracer slice) { return call(s.bodies[0], {slice})[0]; }, x[0]));
    case nesting::cond: {
      auto branch = [&](std::size_t number) {
        return [&, number](tracer a, tracer b) { return both(s.bodies[number], {a, b}); };
      };
      return two_results(plx::cond(x[0] < 2, branch(0), branch(1), x[1], x[2]));
    }
    case nesting::switched: {
      auto branch = [&](std::size_t number) {
        return [&, number](tracer a, tracer b) { return both(s.bodies[number], {a, b}); };
      };
      return two_results(plx::switch_(x[0], std::tuple{branch(0), branch(1), branch(2)}, x[1], x[2]));
    }
    case nesting::vmap:
    case nesting::pmap: return two_results(run_mapped(s, x));
    case nesting::checkpointed: {
      auto f = [&](tracer a, tracer b) { return both(s.bodies[0], {a, b}); };
      return two_results(plx::checkpoint(f)(x[0], x[1]));
    }
    case nesting::direction: {
      auto f = [&](tracer a, tracer b) { return call(s.bodies[0], {a, b})[0]; };
      const auto point = std::make_tuple(x[0], x[1]);
      return set(s.targets[0], plx::jvp(f, point, point).second);
    }
    case nesting::gradient: {
      auto f = [&](tracer a, tracer b) { return call(s.bodies[0], {a, b})[0]; };
      return set(s.targets[0], plx::grad(f)(x[0], x[1]));
    }
    case nesting::both_gradients: {
      auto f = [&](tracer a, tracer b) { return call(s.bodies[0], {a, b})[0]; };
      const auto [by_first, by_second] = plx::grad(f, plx::argnums<0, 1>)(x[0], x[1]);
      return two_results({by_first, by_second});
    }
    }
  }

  tracer compute(const statement& s, const std::vector<tracer>& x) {
    switch (s.what) {
    case operation::literal: return literal(s);
    case operation::ramp: return ramp(s);
    case operation::of_whole: return plx::astype<double>(x[0]);
    case operation::one_hot: return plx::detail::one_hot_of<double>(x[0], 3);
    case operation::add: return x[0] + x[1];
    case operation::subtract: return x[0] - x[1];
    case operation::multiply: return x[0] * x[1];
    case operation::divide: return x[0] / (x[1] * x[1] + 1.5);
    case operation::maximum: return plx::maximum(x[0], x[1]);
    case operation::sine: return plx::sin(x[0]);
    case operation::hyperbolic: return plx::tanh(x[0]);
    case operation::select: return plx::where(x[0] < x[1], x[2], x[3]);
    case operation::sum_all: return plx::sum(x[0]);
    case operation::sum: return plx::sum(x[0], s.number);
    case operation::largest: return plx::max(x[0], s.number);
    case operation::broadcast: return plx::build::broadcast_to(x[0], dims_of(s.shape));
    case operation::transpose: return plx::transpose(x[0], {1, 0});
    case operation::flatten: return plx::build::reshape(x[0], {trace.extents.product(x[0].extents())});
    case operation::concatenate: return plx::concatenate({x[0], x[1]}, 0);
    case operation::slice: return plx::slice_in_dim(x[0], 1, x[0].shape(0), 1, 0);
    case operation::dot: return plx::dot(x[0], x[1]);
    case operation::cumulative_sum: return plx::cumsum(x[0], s.number);
    case operation::reverse_sum: return plx::cumsum(x[0], s.number, plx::in_reverse);
    case operation::cumulative_product: return plx::cumprod(x[0], s.number);
    case operation::cumulative_largest: return plx::cummax(x[0], s.number);
    case operation::cumulative_smallest: return plx::cummin(x[0], s.number);
    case operation::cumulative_logsumexp: return plx::cumlogsumexp(x[0], s.number);
    case operation::sort: return plx::sort(x[0], 0);
    case operation::argsort: return plx::argsort(x[0], 0);
    case operation::sort_with: return plx::sort_key_val(x[0], x[1], 0).second;
    case operation::top: return plx::top_k(x[0], 2).first;
    case operation::search: return plx::searchsorted(plx::sort(x[0], 0), x[1]);
    case operation::element:
    case operation::take: return x[0][x[1]];
    case operation::element_from_end: return x[0][-1 - x[1]];
    case operation::take_along: return plx::take_along_axis(x[0], x[1] % s.number, 0);
    case operation::window: return plx::dynamic_slice_in_dim(x[0], x[1], x[0].shape(0) - 1, 0);
    case operation::set_window: return plx::dynamic_update_slice_in_dim(x[0], x[2], x[1], 0);
    case operation::set_element: return x[0].at(x[1]).set(x[2]);
    case operation::add_element:
    case operation::add_elements: return x[0].at(x[1]).add(x[2]);
    case operation::multiply_element: return x[0].at(x[1]).multiply(x[2]);
    case operation::smaller_element: return x[0].at(x[1]).min(x[2]);
    case operation::larger_element: return x[0].at(x[1]).max(x[2]);
    case operation::segment_sums: return plx::segment_sum(x[0], x[1], 3);
    case operation::remainder: return x[0] % s.number;
    case operation::meet:
      return with_name(s.number, [&]<plx::detail::fixed_string Name>() { return over_axis<Name>(s, x); });
    case operation::nest: break;
    }
    return {};
  }
  tracer literal(const statement& s) {
    if (p.type_of(s.targets[0]).is_whole)
      return plx::build::integer_literal(trace, plx::element_type::int32, static_cast<std::int64_t>(s.constant));
    return plx::build::literal(trace, plx::element_type::float64, s.constant);
  }
  tracer ramp(const statement& s) {
    const plx::detail::dims row{plx::detail::dim{count_of_elements(s.shape)}};
    const tracer counted = plx::detail::emit<plx::primitives::iota>(trace, {plx::element_type::int32, 0, row}) + 1;
    if (p.type_of(s.targets[0]).is_whole) return plx::build::reshape(counted, dims_of(s.shape));
    return plx::build::reshape(plx::build::convert(counted, plx::element_type::float64) * s.constant, dims_of(s.shape));
  }
  template <plx::detail::fixed_string Name> tracer over_axis(const statement& s, const std::vector<tracer>& x) {
    switch (s.together) {
    case meeting::index: return plx::detail::materialize(trace, plx::axis_index<Name>());
    case meeting::sum: return plx::psum<Name>(x[0]);
    case meeting::mean: return plx::pmean<Name>(x[0]);
    case meeting::largest: return plx::pmax<Name>(x[0]);
    case meeting::rotate: return plx::ppermute<Name>(x[0], plx::rotate{});
    case meeting::shift: return plx::ppermute<Name>(x[0], plx::shift{});
    case meeting::gather: return plx::all_gather<Name>(x[0]);
    }
    return {};
  }

  template <class... Options> void run_scan(const statement& s, const std::vector<tracer>& x, Options... options) {
    auto body = [&](const two& carry, tracer slice) {
      const std::vector<tracer> results = call(s.bodies[0], {carry[0], carry[1], slice});
      return std::pair{two{results[0], results[1]}, results[2]};
    };
    const auto [carry, outputs] = plx::scan(body, two{x[0], x[1]}, x[2], options...);
    set(s.targets[0], carry[0]), set(s.targets[1], carry[1]), set(s.targets[2], outputs);
  }

  two run_mapped(const statement& s, const std::vector<tracer>& x) {
    auto body = [&](tracer a, tracer b) { return both(s.bodies[0], {a, b}); };
    return with_name(s.number, [&]<plx::detail::fixed_string Name>() {
      auto map = [&](auto axes) {
        if (s.nested == nesting::pmap) return plx::pmap<Name>(body, axes)(x[0], x[1]);
        return plx::vmap<Name>(body, axes)(x[0], x[1]);
      };
      if (s.layout == mapped_layout::both_first) return map(plx::in_axes<0, 0>);
      if (s.layout == mapped_layout::second_whole) return map(plx::in_axes<0, plx::none>);
      return map(plx::in_axes<1, 0>);
    });
  }
};

} // namespace properties
