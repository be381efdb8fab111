// Loops, branches, and elements at places that are data on CUDA devices as on the host: loops that are one kernel,
// loops that graphs decide, and such as have collectives.
#include "same_as_host.hpp"

#include <tuple>
#include <utility>

namespace gpu {
namespace {

// Bodies of static extents

template <auto Shape> plx::array<float, Shape> fixed(double scale = 2, unsigned seed = 1) {
  return plx::array<float, Shape>(samples<float, Shape.rank>(Shape.values, scale, seed));
}

constexpr auto products = plx::jit([](auto x, auto matrices) {
  return plx::scan([](auto sum, auto m) { return std::pair{plx::matmul(m, sum), plx::sum(sum)}; }, x, matrices);
});
constexpr auto energy = [](auto q) { return plx::sum(q * q * q * 0.1f + plx::exp(q * 0.1f)); };
constexpr auto leapfrogs = [](auto q, auto p, auto count) {
  auto step = [](auto, auto state) {
    auto [x, v] = state;
    auto midway = v - plx::grad(energy)(x) * 0.05f;
    auto moved = x + midway * 0.1f;
    return std::pair{moved, midway - plx::grad(energy)(moved) * 0.05f};
  };
  return plx::fori_loop(0, count, step, std::pair{q, p});
};
constexpr auto trajectories = plx::jit(leapfrogs);
constexpr auto chains = plx::jit(
    [](auto q, auto p, auto n) { return plx::vmap([n](auto x, auto v) { return leapfrogs(x, v, n); })(q, p); });
constexpr auto halving = [](auto x) {
  return plx::while_loop([](auto state) { return plx::sum(state.first) > 1.f; },
                         [](auto state) { return std::pair{state.first * 0.5f, state.second + 1.f}; },
                         std::pair{x, 0.f});
};
constexpr auto halved = plx::jit(halving);
constexpr auto batch_of_halved = plx::jit(plx::vmap(halving));
constexpr auto branching = [](auto x) {
  auto inner = [](auto i, auto y) {
    auto longer = [](auto z) {
      return plx::while_loop([](auto w) { return plx::max(w) > 2.f; }, [](auto w) { return w * 0.5f; }, z);
    };
    auto branches = std::tuple{[](auto z) { return z + 1.f; }, longer, [](auto z) { return plx::cumsum(z); }};
    return plx::switch_(i, branches, y);
  };
  auto outer = [&](auto, auto y) { return plx::fori_loop(0, 4, inner, y) - 0.25f; };
  return plx::fori_loop(0, 3, outer, x);
};
constexpr auto branches = plx::jit(branching);
constexpr auto mixed = plx::jit([](auto x) {
  auto step = [](auto i, auto y) {
    auto weights = plx::softmax(y);
    auto rows = plx::sum(y * weights, plx::axis<1>), columns = plx::sum(weights, plx::axis<0>);
    auto places = plx::argmax(y, plx::axis<1>);
    auto counted = plx::zeros({8}).at(places).add(rows);
    return y * 0.5f + plx::expand_dims(counted[places], plx::axis<1>) * columns + plx::sum(y) * 0.001f +
           plx::matmul(plx::matmul(y, plx::transpose(y)), y) * 0.0001f + plx::astype<float>(i);
  };
  return plx::fori_loop(0, 5, step, x);
});
constexpr auto recurrent = plx::jit(plx::value_and_grad([](auto w, auto xs) {
  auto [last, all] = plx::scan(
      [&](auto h, auto x) {
        auto next = plx::tanh(plx::matmul(w, h) + x);
        return std::pair{next, plx::sum(next * next)};
      },
      plx::zeros({16}), xs);
  return plx::sum(all) + plx::sum(last);
}));

void check_small() {
  same_as_host("products of matrices", 1e-4, products, fixed<plx::extents<3, 3>>(),
               fixed<plx::extents<100, 3, 3>>(0.9, 7));
  for (std::int64_t count : {0, 1, 20, 201})
    same_as_host("leapfrogs", 1e-4, trajectories, fixed<plx::extents<5>>(), fixed<plx::extents<5>>(1, 3),
                 plx::count(count));
  same_as_host("chains", 1e-4, chains, fixed<plx::extents<64, 5>>(), fixed<plx::extents<64, 5>>(1, 3), plx::count(20));
  for (double scale : {0.1, 3., 70.}) {
    same_as_host("while", 1e-5, halved, fixed<plx::extents<4>>(scale));
    same_as_host("while, a batch", 1e-5, batch_of_halved, fixed<plx::extents<50, 4>>(scale));
    same_as_host("branches", 1e-5, branches, fixed<plx::extents<6>>(scale));
  }
  same_as_host("steps of every kind", 1e-4, mixed, fixed<plx::extents<5, 7>>());
  same_as_host("steps of every kind, long rows", 1e-4, mixed, fixed<plx::extents<3, 130>>());
  same_as_host("a recurrent network and its gradient", 1e-4, recurrent, fixed<plx::extents<16, 16>>(0.3),
               fixed<plx::extents<64, 16>>(1, 9));
}

// Bodies whose extents the call knows

constexpr auto running = plx::jit([](auto xs) {
  auto step = [](auto sum, auto x) {
    auto next = sum * 0.5f + x;
    return std::pair{next, std::pair{plx::sum(next), next > 0.f}};
  };
  auto [last, forwards] = plx::scan(step, xs[0], xs);
  auto [first, backwards] = plx::scan(step, xs[0], xs, plx::in_reverse);
  return std::tuple{last, forwards, first, backwards};
});
constexpr auto chosen = plx::jit([](auto which, auto x) {
  return plx::cond(
      which > 0, [](auto y) { return plx::sin(y); }, [](auto y) { return plx::matmul(y, plx::transpose(y)); }, x);
});

void check_graphs() {
  for (std::int64_t rounds : {1, 3, 50, 1501}) same_as_host("slices", 1e-4, running, samples<float, 2>({rounds, 33}));
  for (double scale : {0.1, 3., 70.}) same_as_host("while", 1e-5, halved, samples<float, 1>({5000}, scale));
  for (int which : {0, 1}) same_as_host("cond", 1e-4, chosen, which, samples<float, 2>({40, 40}));
}

// Collectives inside

constexpr auto rounds_together = plx::pmap<"i">([](auto x) {
  return plx::fori_loop(0, 5, [](auto k, auto y) { return plx::pmean<"i">(y) * 0.5f + y + plx::astype<float>(k); }, x);
});
void check_collectives() { same_as_host("psum in a loop", 1e-5, rounds_together, samples<float, 2>({spread(), 70})); }

// Places that are data, and order

constexpr auto indexed = plx::jit([](auto x, auto places) {
  auto rows = x[places];
  return std::tuple{rows, plx::zeros_like(x).at(places).add(rows), x.at(places).max(rows * 2.f),
                    plx::segment_sum(rows, places, 40)};
});
constexpr auto ordered = plx::jit([](auto x) {
  return std::tuple{plx::cumsum(x, plx::axis<0>), plx::cumsum(x, plx::axis<1>), plx::cummax(x), plx::sort(x),
                    plx::argsort(x, plx::axis<0>)};
});
void check_places() {
  auto places = samples<std::int32_t, 1>({3000}, 60); // beyond both ends too
  same_as_host("gather, scatter", 1e-3, indexed, samples<float, 2>({40, 9}), places);
  for (std::int64_t n : {1, 33, 700, 5000}) same_as_host("order", 1e-3, ordered, samples<float, 2>({3, n}));
}

constexpr check all[] = {{"programs: loops that are one kernel", check_small},
                         {"programs: loops that graphs decide", check_graphs},
                         {"programs: loops with collectives", check_collectives},
                         {"programs: gather, scatter and order", check_places}};

} // namespace

std::span<const check> loop_programs() { return all; }

} // namespace gpu
