// Products that do the work of the loops behind them, in graphs, in their branches, and on several devices.
#include "cuda/programs/noted_products.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace epilogues_in_graphs_test {

namespace plx = parallax;
using namespace noted_products;

TEST_CASE("graphs replay epilogues on new arguments") {
  plx::cuda::backend_options options;
  options.graph_steps = 2;
  noting_api::launched_graphs = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    simulator::machine on(simulator::machine_options{.devices = 1, .seed = seed});
    {
      const simulated::running_backend<noting_api> here(options);
      for (unsigned call = 0; call < 4; ++call)
        with_layers(
            [](const auto&... given) {
              check_close(on_devices(gradients<decltype(relu_loss)>, given...),
                          on_host(gradients<decltype(relu_loss)>, given...));
            },
            10 + call);
    }
    on.finish();
  }
  CHECK(noting_api::launched_graphs == 5 * 3);
}

TEST_CASE("a branch that is taken first in a graph may be the first to ask the library, and to use it") {
  constexpr auto train = [](auto goes, auto w, auto b, auto v, auto x) {
    return plx::cond(
        goes,
        plx::grad([](auto w1, auto b1, auto w2,
                     auto given) { return plx::sum(plx::square(plx::dot(plx::relu(plx::dot(given, w1) + b1), w2))); },
                  plx::argnums<0, 1, 2>),
        [](auto w1, auto b1, auto w2, auto) { return std::tuple(w1 * 0.f, b1 * 0.f, w2 * 0.f); }, w, b, v, x);
  };
  constexpr auto multiply = [](auto goes, auto w, auto x) {
    return plx::cond(
        goes, [](auto w1, auto given) { return plx::dot(given, w1); }, [](auto, auto given) { return given * 0.f; }, w,
        x);
  };
  const auto w = matrix(32, 32, 1), v = matrix(32, 32, 2), x = matrix(64, 32, 3);
  const auto b = vector(32, 4);
  const auto call_thrice = [](const char* in_the_branch, const auto& f, const auto&... given) {
    simulator::machine on({.devices = 1});
    {
      const simulated::running_backend<noting_api> here;
      noting_api::launched_graphs = 0;
      for (const bool goes : {false, false, true}) {
        const plx::array<bool, 0> chosen(goes);
        noting_api::calls.clear();
        check_close(on_devices(f, chosen, given...), on_host(f, chosen, given...));
        const bool is_captured = !goes && noting_api::launched_graphs == 1;
        CHECK(std::ranges::count(noting_api::calls, in_the_branch) == (is_captured ? 1 : 0));
      }
      CHECK(noting_api::launched_graphs == 2);
    }
    on.finish();
  };
  call_thrice("product bias relu auxiliary", train, w, b, v, x);
  call_thrice("product", multiply, w, x);
}

TEST_CASE("training steps on several devices reduce gradients that epilogues leave") {
  static constexpr auto step = plx::pmap<"i">(
      [](auto w1, auto b1, auto w2, auto b2, auto x, auto t) {
        auto [value, slopes] = plx::value_and_grad(gelu_loss, plx::argnums<0, 1, 2, 3>)(w1, b1, w2, b2, x, t);
        return std::pair(plx::pmean<"i">(value), plx::pmean<"i">(slopes));
      },
      plx::in_axes<plx::none, plx::none, plx::none, plx::none, 0, 0>);
  const auto x = plx::reshape(matrix(48, 20, 1), {4, 12, 20}), t = plx::reshape(matrix(48, 9, 2), {4, 12, 9});
  const plx::array<float, 3> images = x, targets = t;
  const auto w1 = matrix(20, 24, 3), w2 = matrix(24, 9, 4);
  const auto b1 = vector(24, 5), b2 = vector(9, 6);
  const auto host = on_host(step, w1, b1, w2, b2, images, targets);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    simulator::machine on(simulator::machine_options{.devices = 4, .seed = seed});
    {
      const simulated::running_backend<noting_api> here;
      noting_api::calls.clear();
      check_close(on_devices(step, w1, b1, w2, b2, images, targets), host);
      CHECK(std::ranges::count(noting_api::calls, "product gelu gradient auxiliary sums") == 4);
    }
    on.finish();
  }
}

} // namespace epilogues_in_graphs_test
