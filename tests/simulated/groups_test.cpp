// Collectives that need nothing of each other are one NCCL group.
#include "simulator/api.hpp"
#include "simulator/machine.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <tuple>
#include <utility>
#include <vector>

namespace plx = parallax;

namespace {

/// The simulator's functions, with a count of groups.
struct counting_api : simulator::api {
  static inline int groups = 0;
  static plx::cuda::status group_start() {
    ++groups;
    return simulator::api::group_start();
  }
};

/// How many groups a program enqueues on four devices.
template <class Function, class... Arrays> int groups_of(const Function&, const Arrays&... arrays) {
  using compiled = plx::detail::program<Function, plx::detail::abstract_t<Arrays>...>;
  simulator::machine machine({.devices = 4});
  plx::cuda::backend<counting_api>::restart({});
  counting_api::groups = 0;
  {
    std::vector<plx::detail::runtime_value> arguments;
    (plx::detail::append_values(arguments, arrays), ...);
    plx::cuda::program_run<counting_api>(
        compiled::table.data(), plx::cuda::kernel_table<counting_api, compiled>::functions.data(), std::move(arguments))
        .run();
  }
  plx::cuda::backend<counting_api>::shut_down();
  machine.finish();
  return counting_api::groups;
}

constexpr auto independent = plx::pmap<"i">([](auto x, auto y) {
  return std::tuple{plx::psum<"i">(x),          plx::pmax<"i">(y),
                    plx::all_gather<"i">(x),    plx::ppermute<"i">(y, plx::rotate{1}),
                    plx::pbroadcast<"i">(x, 2), plx::all_to_all<"i">(y, 0, 0)};
});
constexpr auto dependent = plx::pmap<"i">([](auto x, auto y) {
  auto first = plx::psum<"i">(x);
  return plx::psum<"i">(first * y);
});

// of different cliques, and with copies behind the group
constexpr auto two_axes = plx::pmap<"i">([](auto x) {
  return plx::pmap<"j">([](auto row) { return std::pair{plx::all_gather<"i">(row, 1), plx::all_gather<"j">(row, 1)}; })(
      x);
});

// the gradients of a step's parameters, as in data-parallel training
constexpr auto loss = [](auto params, auto x) {
  auto [w, v] = params;
  return plx::sum(plx::tanh(plx::dot(plx::tanh(plx::dot(x, w)), v)));
};
constexpr auto training = plx::pmap<"i">([](auto w, auto v, auto x) {
  auto gradients = plx::pmean<"i">(plx::grad(loss)(std::pair{w, v}, x));
  return plx::tree_map([](auto p, auto g) { return p - 0.5f * g; }, std::pair{w, v}, gradients);
});

} // namespace

TEST_CASE("independent collectives are one group, dependent ones are not") {
  const auto x = plx::array<float, 2>::filled({4, 4}, 1.f), y = plx::array<float, 2>::filled({4, 4}, 2.f);
  CHECK(groups_of(independent, x, y) == 1);
  CHECK(groups_of(dependent, x, y) == 2);
}

TEST_CASE("collectives along different axes are one group") {
  CHECK(groups_of(two_axes, plx::array<float, 4>::filled({2, 2, 3, 4}, 1.f)) == 1);
}

TEST_CASE("a training step's gradients are reduced in one group") {
  const auto w = plx::array<float, 3>::filled({4, 5, 3}, 0.1f), v = plx::array<float, 3>::filled({4, 3, 2}, 0.2f),
             x = plx::array<float, 3>::filled({4, 6, 5}, 0.3f);
  CHECK(groups_of(training, w, v, x) == 1);
}
