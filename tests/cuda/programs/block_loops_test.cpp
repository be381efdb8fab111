// Loops of small bodies and static extents are one kernel each: from the first round to the last, with the loops and
// branches inside.
#include "cuda/programs/calls.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace block_loops_test {

namespace plx = parallax;

namespace {

template <class K> inline constexpr bool is_loop = false;
template <class Program> inline constexpr bool is_loop<plx::cuda::block_loop<Program>> = true;

/// Counts the kernels that are launched.
struct counting_api : simulator::api {
  static inline int loops = 0, others = 0;
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    ++(is_loop<K> ? loops : others);
    return simulator::api::launch(kernel, shape, on, arguments);
  }
};
using backend = plx::cuda::backend<counting_api>;
using simulated::numbers_of;

template <std::int64_t... N> plx::array<float, plx::extents<N...>> numbers(float scale = 1) {
  plx::array<float, plx::extents<N...>> x;
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = scale * static_cast<float>((i * 7 + 3) % 11 - 5);
  return x;
}

/// Runs a function as often as graphs need, under some seeds, and compares with the host. Its first call has to launch
/// so many loops as kernels, and a few kernels besides, for what comes before.
template <class Function, class... Arguments>
void require_kernels(int loops, const Function& function, const Arguments&... given) {
  const std::vector<float> expected = numbers_of(simulated::results_on_host(function, given...));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    simulator::machine machine({.devices = 4, .seed = seed});
    plx::cuda::backend_options options;
    options.graph_steps = 1;
    const simulated::running_backend<counting_api> running(options);
    for (int call = 0; call < 3; ++call) {
      counting_api::loops = counting_api::others = 0;
      const std::vector<float> found = numbers_of(simulated::results_of<counting_api>(function, given...));
      if (call == 0) REQUIRE(counting_api::loops == loops);
      if (call == 0) REQUIRE(counting_api::others <= 16);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
    }
    backend::shut_down();
    machine.finish();
  }
}

constexpr auto products = [](auto x, auto matrices) {
  return plx::scan([](auto sum, auto m) { return std::pair{plx::matmul(m, sum) * 0.25f, plx::sum(sum)}; }, x, matrices);
};
// Carries that alternate, one that stays, and stacked slices of other sizes, in both directions.
constexpr auto running = [](auto xs) {
  auto step = [](auto carry, auto x) {
    auto [sum, seen] = carry;
    auto next = sum * 0.5f + x;
    return std::pair{std::pair{next, seen.at(plx::argmax(next)).add(1.f)}, std::pair{plx::max(next), next > 0.f}};
  };
  auto [last, forwards] = plx::scan(step, std::pair{plx::zeros({5}), plx::zeros({5})}, xs);
  auto [first, backwards] = plx::scan(step, last, xs, plx::in_reverse);
  return std::tuple{last, std::get<0>(forwards), plx::astype<float>(std::get<1>(forwards)), first,
                    std::get<0>(backwards)};
};
constexpr auto halving = [](auto x) {
  return plx::while_loop([](auto state) { return plx::sum(std::get<0>(state)) > 1.f; },
                         [](auto state) { return std::pair{state.first * 0.5f, state.second + 1.f}; },
                         std::pair{x, 0.f});
};
constexpr auto nested = [](auto x) {
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

// Row sweeps, sums along rows and columns and of all, places of extremes, gathers, updates in order, products.
constexpr auto mixed = [](auto x) {
  auto step = [](auto i, auto y) {
    auto weights = plx::softmax(y);
    auto rows = plx::sum(y * weights, plx::axis<1>), columns = plx::sum(weights, plx::axis<0>);
    auto places = plx::argmax(y, plx::axis<1>);
    auto counted = plx::zeros({8}).at(places).add(rows);
    auto spread = plx::cumsum(y, plx::axis<0>) * 0.01f;
    return y * 0.5f + plx::expand_dims(counted[places], plx::axis<1>) * columns + plx::sum(y) * 0.001f + spread +
           plx::matmul(plx::matmul(y, plx::transpose(y)), y) * 0.0001f + plx::astype<float>(i);
  };
  return plx::fori_loop(0, 5, step, x);
};
constexpr auto drawn = [](auto x) {
  auto step = [](auto i, auto y) {
    auto key = plx::random::fold_in(plx::random::key(3), i);
    auto halved = plx::astype<float>(plx::astype<plx::float16>(y) * 0.5f);
    return halved + plx::random::normal(key, {6}) + plx::astype<float>(i % 3);
  };
  return plx::fori_loop(0, 7, step, x);
};
constexpr auto energy = [](auto q) { return plx::sum(q * q * q * 0.1f + plx::cos(q)); };
constexpr auto leapfrogs = [](auto q, auto p, auto count) {
  auto step = [](auto, auto state) {
    auto [x, v] = state;
    auto half = v - plx::grad(energy)(x) * 0.05f;
    auto moved = x + half * 0.1f;
    return std::pair{moved, half - plx::grad(energy)(moved) * 0.05f};
  };
  return plx::fori_loop(0, count, step, std::pair{q, p});
};
constexpr auto loss = [](auto w, auto xs) {
  auto [last, all] = plx::scan(
      [&](auto h, auto x) {
        auto next = plx::tanh(plx::matmul(w, h) + x);
        return std::pair{next, plx::sum(next * next)};
      },
      plx::zeros({4}), xs);
  return plx::sum(all) + plx::sum(last);
};

} // namespace

TEST_CASE("scans of small products, and while loops of a few numbers, are one kernel") {
  require_kernels(1, products, numbers<3, 2>(), numbers<20, 3, 3>(0.3f));
  require_kernels(1, halving, numbers<4>(9.f));
  require_kernels(1, halving, numbers<4>(-9.f));
}

TEST_CASE("carries alternate or stay, slices are read and written in place") {
  require_kernels(2, running, numbers<7, 5>());
  require_kernels(2, running, numbers<8, 5>());
  require_kernels(2, running, numbers<1, 5>());
}

TEST_CASE("loops and branches inside are part of the kernel") { require_kernels(1, nested, numbers<6>(1.5f)); }

TEST_CASE("every kind of step runs in a block") {
  require_kernels(1, mixed, numbers<5, 7>());
  require_kernels(1, mixed, numbers<3, 130>(0.1f)); // rows that all threads share
  require_kernels(1, drawn, numbers<6>());
}

TEST_CASE("counts are known at the call, bodies are gradients, batches of them, or on several devices") {
  require_kernels(1, leapfrogs, numbers<5>(), numbers<5>(0.5f), plx::count(9));
  require_kernels(0, leapfrogs, plx::array<float, 1>(numbers<5>()), plx::array<float, 1>(numbers<5>(0.5f)),
                  plx::count(9)); // of extents that the call knows
  constexpr auto chains = [](auto q, auto p, auto n) {
    return plx::vmap([n](auto x, auto v) { return leapfrogs(x, v, n); })(q, p);
  };
  require_kernels(1, chains, numbers<12, 5>(), numbers<12, 5>(0.5f), plx::count(4));
  constexpr auto mapped = plx::pmap<"i">([](auto x) {
    return plx::fori_loop(0, 5, [](auto, auto y) { return y * 0.5f + plx::astype<float>(plx::axis_index<"i">()); }, x);
  });
  require_kernels(4, mapped, numbers<4, 3>());
  require_kernels(2, plx::value_and_grad(loss), numbers<4, 4>(0.2f), numbers<6, 4>(0.3f));
  require_kernels(1, plx::vmap(halving), numbers<6, 4>(9.f));
}

TEST_CASE("a loop of no rounds hands on what it began with") {
  require_kernels(1, leapfrogs, numbers<5>(), numbers<5>(0.5f), plx::count(0));
}

} // namespace block_loops_test
