// What a round of a loop costs: scans and their gradients beside the same by hand, reads and updates at places that are
// data, cumulative sums and sorts beside the standard library's. Results are compared before anything is timed.
// `bench/loops_beside_python.py` runs it beside NumPy and JAX.
#include "support/loops_by_hand.hpp"
#include "support/matrix_chain.hpp"
#include "support/orbits.hpp"
#include "support/random_values.hpp"
#include "support/results.hpp"

#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

using bench::elements, bench::agree, bench::chain, bench::chain_gradient;
using bench::orbit, bench::orbit_gradient, bench::orbit_steps, bench::pull_of_all, bench::pull_of_pairs;

/// Times `call`, which returns what it computes.
template <class Call> void time(benchmark::State& state, const Call& call) {
  for (auto _ : state) {
    auto result = call();
    benchmark::DoNotOptimize(result);
    benchmark::ClobberMemory();
  }
}

// Products of 3 x 3 matrices.

constexpr std::int64_t chain_steps = 1000;
struct chain_case {
  std::vector<double> values = std::vector<double>(9 * chain_steps);
  bench::matrix_chain by_hand{std::size_t{chain_steps}};
  chain_case() { // near the unit matrix, so that their product neither grows nor vanishes
    const auto random = bench::random_values(9 * chain_steps, 1, 0.02f);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (i % 9 % 4 == 0 ? 1. : 0.) + static_cast<double>(random[i]);
  }
  template <int Extent> auto first() const {
    return plx::array<double, plx::extents<Extent, Extent>>({3, 3}, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  }
  template <int Extent> auto matrices() const {
    return plx::array<double, plx::extents<plx::dyn, Extent, Extent>>({chain_steps, 3, 3}, std::vector(values));
  }
};

template <int Extent> void chain_forward(benchmark::State& state) {
  chain_case c;
  const auto first = c.first<Extent>();
  const auto matrices = c.matrices<Extent>();
  if (!agree(elements(plx::jit(chain)(first, matrices)), c.by_hand.run(c.values.data()), 1e-12))
    return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(chain)(first, matrices); });
}
template <int Extent> void chain_backward(benchmark::State& state) {
  chain_case c;
  const auto first = c.first<Extent>();
  const auto matrices = c.matrices<Extent>();
  if (!agree(elements(plx::jit(chain_gradient)(first, matrices)), c.by_hand.gradient(c.values.data()), 1e-12))
    return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(chain_gradient)(first, matrices); });
}
BENCHMARK(chain_forward<3>)->Name("scan/1000 products 3x3/static");
BENCHMARK(chain_forward<plx::dyn>)->Name("scan/1000 products 3x3/dynamic");
BENCHMARK(chain_backward<3>)->Name("scan/1000 products 3x3, gradient/static");
BENCHMARK(chain_backward<plx::dyn>)->Name("scan/1000 products 3x3, gradient/dynamic");

void chain_forward_by_hand(benchmark::State& state) {
  chain_case c;
  double last[9];
  time(state, [&] { return c.by_hand.run_only(c.values.data(), last), &last; });
}
void chain_backward_by_hand(benchmark::State& state) {
  chain_case c;
  time(state, [&] { return c.by_hand.gradient(c.values.data()).data(); });
}
BENCHMARK(chain_forward_by_hand)->Name("by hand/1000 products 3x3");
BENCHMARK(chain_backward_by_hand)->Name("by hand/1000 products 3x3, gradient");

// Five bodies: each pair by itself, as by hand, or all of them by broadcasts.

struct orbit_case {
  std::vector<double> masses{1, 0.5, 0.25, 0.8, 0.4}, x, v;
  bench::five_bodies by_hand{std::size_t{orbit_steps}};
  orbit_case() {
    for (float each : bench::random_values(15, 2, 1.0f)) x.push_back(static_cast<double>(each));
    for (float each : bench::random_values(15, 3, 0.5f)) v.push_back(static_cast<double>(each));
  }
  template <bool Static> auto arrays() const {
    constexpr auto bodies = Static ? 5 : plx::dyn, axes = Static ? 3 : plx::dyn;
    using row = plx::array<double, plx::extents<bodies>>;
    using rows = plx::array<double, plx::extents<bodies, axes>>;
    return std::tuple{row({5}, std::vector(masses)), rows({5, 3}, std::vector(x)), rows({5, 3}, std::vector(v))};
  }
};

template <auto Pull, bool Static> void orbit_forward(benchmark::State& state) {
  orbit_case c;
  const auto [masses, x, v] = c.arrays<Static>();
  const auto last = plx::jit(orbit<Pull>)(masses, x, v);
  if (!agree(elements(last), c.by_hand.run(c.masses.data(), c.x.data(), c.v.data()), 1e-9))
    return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(orbit<Pull>)(masses, x, v); });
}
template <auto Pull, bool Static> void orbit_backward(benchmark::State& state) {
  orbit_case c;
  const auto [masses, x, v] = c.arrays<Static>();
  const auto [by_x, by_v] = plx::jit(orbit_gradient<Pull>)(masses, x, v);
  if (!agree(elements(by_x, by_v), c.by_hand.gradient(c.masses.data(), c.x.data(), c.v.data()), 1e-9))
    return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(orbit_gradient<Pull>)(masses, x, v); });
}
BENCHMARK((orbit_forward<pull_of_pairs, true>))->Name("fori_loop/five bodies, 1000 steps/static");
BENCHMARK((orbit_forward<pull_of_all, true>))->Name("fori_loop/five bodies by broadcasts, 1000 steps/static");
BENCHMARK((orbit_forward<pull_of_all, false>))->Name("fori_loop/five bodies by broadcasts, 1000 steps/dynamic");
BENCHMARK((orbit_backward<pull_of_pairs, true>))->Name("fori_loop/five bodies, 1000 steps, gradient/static");
BENCHMARK((orbit_backward<pull_of_all, true>))
    ->Name("fori_loop/five bodies by broadcasts, 1000 steps, gradient/static");
BENCHMARK((orbit_backward<pull_of_all, false>))
    ->Name("fori_loop/five bodies by broadcasts, 1000 steps, gradient/dynamic");

void orbit_forward_by_hand(benchmark::State& state) {
  orbit_case c;
  time(state, [&] { return c.by_hand.run(c.masses.data(), c.x.data(), c.v.data()); });
}
void orbit_backward_by_hand(benchmark::State& state) {
  orbit_case c;
  time(state, [&] { return c.by_hand.gradient(c.masses.data(), c.x.data(), c.v.data()).data(); });
}
BENCHMARK(orbit_forward_by_hand)->Name("by hand/five bodies, 1000 steps");
BENCHMARK(orbit_backward_by_hand)->Name("by hand/five bodies, 1000 steps, gradient");

// A recurrent network.

constexpr std::int64_t network_steps = 64;
constexpr auto network_gradient = plx::grad(
    [](auto weights, auto inputs) {
      auto cell = [&](auto h, auto x) { return std::pair{plx::tanh(plx::dot(weights, h) + x), plx::none}; };
      return plx::sum(plx::scan(cell, plx::zeros_like(plx::index_in_dim(weights, 0)), inputs).first);
    },
    plx::argnums<0, 1>);

template <int Width> struct network_case {
  std::vector<float> weights = bench::random_values(Width * Width, 4, 1.5f / std::sqrt(float{Width}));
  std::vector<float> inputs = bench::random_values(network_steps * Width, 5, 1.0f);
  bench::recurrent_network by_hand{std::size_t{network_steps}, std::size_t{Width}};
};
template <int Width, int Extent> void network(benchmark::State& state) {
  network_case<Width> c;
  const plx::array<float, plx::extents<Extent, Extent>> weights({Width, Width}, std::vector(c.weights));
  const plx::array<float, plx::extents<plx::dyn, Extent>> inputs({network_steps, Width}, std::vector(c.inputs));
  const auto [by_weights, by_inputs] = plx::jit(network_gradient)(weights, inputs);
  if (!agree(elements(by_weights, by_inputs), c.by_hand.gradient(c.weights.data(), c.inputs.data()), 1e-4))
    return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(network_gradient)(weights, inputs); });
}
template <int Width> void network_by_hand(benchmark::State& state) {
  network_case<Width> c;
  time(state, [&] { return c.by_hand.gradient(c.weights.data(), c.inputs.data()).data(); });
}
BENCHMARK((network<16, 16>))->Name("scan/network of 16, 64 steps, gradient/static");
BENCHMARK((network<16, plx::dyn>))->Name("scan/network of 16, 64 steps, gradient/dynamic");
BENCHMARK(network_by_hand<16>)->Name("by hand/network of 16, 64 steps, gradient");
BENCHMARK((network<64, 64>))->Name("scan/network of 64, 64 steps, gradient/static");
BENCHMARK((network<64, plx::dyn>))->Name("scan/network of 64, 64 steps, gradient/dynamic");
BENCHMARK(network_by_hand<64>)->Name("by hand/network of 64, 64 steps, gradient");

// Places that are data, and order.

constexpr std::int64_t many = 1'000'000;

struct places_case {
  std::vector<float> x = bench::random_values(many, 8, 1.0f);
  std::vector<std::int32_t> places;
  places_case() {
    for (float each : bench::random_values(many, 9, 1.0f))
      places.push_back(static_cast<std::int32_t>((each + 1) / 2 * float{many}) % std::int32_t{many});
  }
  plx::array<float, 1> values() const { return {{many}, std::vector(x)}; }
  plx::array<std::int32_t, 1> indices() const { return {{many}, std::vector(places)}; }
  std::vector<float> taken() const {
    std::vector<float> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[static_cast<std::size_t>(places[i])];
    return result;
  }
  std::vector<float> added() const {
    std::vector<float> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[static_cast<std::size_t>(places[i])] += x[i];
    return result;
  }
};
void gathered(benchmark::State& state) {
  places_case c;
  const auto values = c.values();
  const auto indices = c.indices();
  constexpr auto take = [](auto x, auto i) { return x[i]; };
  if (!agree(elements(plx::jit(take)(values, indices)), c.taken(), 0)) return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(take)(values, indices); });
}
void scattered(benchmark::State& state) {
  places_case c;
  const auto values = c.values();
  const auto indices = c.indices();
  constexpr auto add = [](auto x, auto i) { return plx::zeros_like(x).at(i).add(x); };
  if (!agree(elements(plx::jit(add)(values, indices)), c.added(), 0)) return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(add)(values, indices); });
}
void gathered_by_hand(benchmark::State& state) {
  places_case c;
  time(state, [&] { return c.taken(); });
}
void scattered_by_hand(benchmark::State& state) {
  places_case c;
  time(state, [&] { return c.added(); });
}
BENCHMARK(gathered)->Name("x[i]/10^6")->UseRealTime();
BENCHMARK(gathered_by_hand)->Name("by hand/x[i]/10^6")->UseRealTime();
BENCHMARK(scattered)->Name("x.at(i).add/10^6")->UseRealTime();
BENCHMARK(scattered_by_hand)->Name("by hand/x.at(i).add/10^6")->UseRealTime();

void cumulative_sum(benchmark::State& state) {
  const auto x = bench::random_values(many, 6, 1.0f);
  std::vector<double> right(x.begin(), x.end());
  std::partial_sum(right.begin(), right.end(), right.begin());
  const plx::array<float, 1> values({many}, std::vector(x));
  constexpr auto sum = [](auto v) { return plx::cumsum(v); };
  if (!agree(elements(plx::jit(sum)(values)), right, 1e-4)) return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(sum)(values); });
}
void partial_sum(benchmark::State& state) {
  const auto x = bench::random_values(many, 6, 1.0f);
  std::vector<float> result(x.size());
  time(state, [&] { return std::partial_sum(x.begin(), x.end(), result.begin()); });
}
BENCHMARK(cumulative_sum)->Name("cumsum/10^6")->UseRealTime();
BENCHMARK(partial_sum)->Name("std::partial_sum/10^6")->UseRealTime();

void sorted(benchmark::State& state) {
  auto x = bench::random_values(many, 7, 1.0f);
  const plx::array<float, 1> values({many}, std::vector(x));
  constexpr auto sort = [](auto v) { return plx::sort(v); };
  std::stable_sort(x.begin(), x.end());
  if (!agree(elements(plx::jit(sort)(values)), x, 0)) return state.SkipWithError("wrong result");
  time(state, [&] { return plx::jit(sort)(values); });
}
void stable_sort(benchmark::State& state) {
  const auto x = bench::random_values(many, 7, 1.0f);
  time(state, [&] {
    auto result = x;
    std::stable_sort(result.begin(), result.end());
    return result;
  });
}
BENCHMARK(sorted)->Name("sort/10^6")->UseRealTime();
BENCHMARK(stable_sort)->Name("std::stable_sort/10^6")->UseRealTime();

} // namespace
