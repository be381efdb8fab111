// Collectives that need nothing of each other are one NCCL group.
#include "cuda/programs/calls.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace groups_test {

namespace plx = parallax;

namespace {

/// The simulator's functions, with a count of groups and of how cliques are made.
struct counting_api : simulator::api {
  static inline int groups = 0, cliques = 0, splits = 0, reached = 0;
  static inline bool peer_access = true;
  static inline std::uint64_t seed = 1; ///< of the machine
  static plx::cuda::status enable_peer_access(int device, int peer) {
    const plx::cuda::status result = simulator::api::enable_peer_access(device, peer);
    reached += result.ok();
    return result;
  }
  static plx::cuda::status create_clique(std::span<communicator> clique, std::span<const int> devices) {
    ++cliques;
    return simulator::api::create_clique(clique, devices);
  }
  static plx::cuda::status split_clique(std::span<communicator* const> children, std::span<const communicator> clique,
                                        std::span<const plx::cuda::clique_place> places) {
    ++splits;
    return simulator::api::split_clique(children, clique, places);
  }
  static plx::cuda::status group_start() {
    ++groups;
    return simulator::api::group_start();
  }
};

/// How many groups a program enqueues on four devices.
template <class Function, class... Arrays> int groups_of(const Function& f, const Arrays&... arrays) {
  simulator::machine machine({.devices = 4, .seed = counting_api::seed, .peer_access = counting_api::peer_access});
  counting_api::groups = counting_api::cliques = counting_api::splits = counting_api::reached = 0;
  plx::cuda::backend<counting_api>::restart({});
  simulated::results_of<counting_api>(f, arrays...);
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

// groups that recur, groups of which some are known, and a group of one
constexpr auto divided = plx::pmap<"i">([](auto x) {
  using plx::axis_index_groups;
  return std::tuple{plx::psum<"i">(x, axis_index_groups{{0, 1}, {2, 3}}),
                    plx::pmax<"i">(x, axis_index_groups{{0, 1}, {2, 3}}),
                    plx::psum<"i">(x, axis_index_groups{{0, 1}, {3, 2}}), plx::psum<"i">(x),
                    plx::pmin<"i">(x, axis_index_groups{{1}, {0, 2, 3}})};
});

// reductions that take their operands' memory, over all and over groups
constexpr auto reduced_in_turn = plx::pmap<"i">([](auto x) {
  auto sum = plx::psum<"i">(x + x);
  auto most = plx::pmax<"i">(sum - x);
  return plx::psum<"i">(most + 1.f, plx::axis_index_groups{{0, 3, 5}, {4, 2}, {1}, {6, 7}});
});

// a group's clique is made when that of all devices has work already
constexpr auto all_then_groups =
    plx::pmap<"i">([](auto x) { return plx::psum<"i">(plx::psum<"i">(x), plx::axis_index_groups{{0, 2}, {3, 1}}); });

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

TEST_CASE("a group asks each communicator until it is ready, once for all its collectives, and none where it is over") {
  const auto x = plx::array<float, 2>::filled({4, 4}, 1.f), y = plx::array<float, 2>::filled({4, 4}, 2.f);
  for (const bool background : {false, true})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::map<std::string_view, int> calls;
      simulator::machine machine({.devices = 4, .seed = seed, .background = background});
      {
        simulated::running_backend<simulator::api> running;
        simulated::results_of<simulator::api>(independent, x, y);
        machine.count_calls(&calls);
        simulated::results_of<simulator::api>(independent, x, y);
        machine.count_calls(nullptr);
      }
      REQUIRE(calls["group_end"] == 1);
      // three times at most, each of the four
      REQUIRE(calls["communicator_state"] <= (background ? 12 : 0));
    }
}

TEST_CASE("collectives along different axes are one group") {
  CHECK(groups_of(two_axes, plx::array<float, 4>::filled({2, 2, 3, 4}, 1.f)) == 1);
}

TEST_CASE("cliques of axes and groups are split from that of all devices") {
  groups_of(two_axes, plx::array<float, 4>::filled({2, 2, 3, 4}, 1.f));
  CHECK(counting_api::cliques == 1);
  CHECK(counting_api::splits == 2);
  for (counting_api::seed = 1; counting_api::seed <= 20; ++counting_api::seed) {
    CHECK(groups_of(all_then_groups, plx::array<float, 1>::filled({4}, 1.f)) == 2);
    CHECK(counting_api::splits == 1);
  }
  counting_api::seed = 1;
  CHECK(groups_of(divided, plx::array<float, 1>::filled({4}, 1.f)) == 1);
  CHECK(counting_api::splits == 3); // pairs once, the two others of which one is the pair that is known
}

TEST_CASE("a training step's gradients are reduced in one group") {
  const auto w = plx::array<float, 3>::filled({4, 5, 3}, 0.1f), v = plx::array<float, 3>::filled({4, 3, 2}, 0.2f),
             x = plx::array<float, 3>::filled({4, 6, 5}, 0.3f);
  CHECK(groups_of(training, w, v, x) == 1);
}

TEST_CASE("the GPUs of a clique reach one another's memory where they can") {
  const plx::array<float, 1> x{1, 2, 3, 4};
  CHECK(groups_of(dependent, x, x) == 2);
  CHECK(counting_api::reached == 4 * 3);
  counting_api::peer_access = false;
  CHECK(groups_of(dependent, x, x) == 2);
  counting_api::peer_access = true;
  CHECK(counting_api::reached == 0);
}

TEST_CASE("reductions that take their operands' memory are right between devices, and between those that share some") {
  constexpr std::int64_t devices = 8;
  for (const std::int64_t width : {1, 70, 1000}) {
    const auto number = [](std::int64_t p, std::int64_t i) { return static_cast<float>((p * 5 + i) % 7); };
    auto x = plx::array<float, 2>::uninitialised({devices, width});
    std::vector<float> expected;
    for (std::int64_t k = 0; k < x.size(); ++k) {
      x.mutable_data()[k] = number(k / width, k % width);
      float total = 0, smallest = 99;
      for (std::int64_t p = 0; p < devices; ++p) {
        total += number(p, k % width);
        smallest = std::min(smallest, number(p, k % width));
      }
      constexpr float group_sizes[devices] = {3, 1, 2, 3, 2, 3, 2, 2};
      expected.push_back(group_sizes[k / width] * (2 * total - smallest + 1));
    }
    for (const int devices_per_gpu : {1, 2, 8})
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(width, devices_per_gpu, seed);
        simulator::machine machine({.devices = static_cast<int>(devices) / devices_per_gpu, .seed = seed});
        plx::cuda::backend_options options;
        options.devices_per_gpu = devices_per_gpu;
        if (seed % 2 == 0) options.overlap_bytes = 0;
        {
          const simulated::running_backend<simulator::api> running(options);
          REQUIRE(simulated::numbers_of(simulated::results_of<simulator::api>(reduced_in_turn, x)) == expected);
        }
        machine.finish();
      }
  }
}

TEST_CASE("rows of few bytes that lie apart are copied by kernels, long ones by the copy engines") {
  for (const std::int64_t width : {1, 3, 128, 130}) { // of floats
    constexpr auto f = plx::pmap<"i">([](auto x) { return plx::all_gather<"i">(x, 1); });
    auto x = plx::array<float, 3>::uninitialised({4, 5, width});
    for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>(i);
    simulator::machine machine({.devices = 4});
    std::map<std::string_view, int> counts;
    plx::cuda::backend<counting_api>::restart({});
    {
      machine.count_calls(&counts);
      auto results = simulated::results_of<counting_api>(f, x);
      machine.count_calls(nullptr);
      const std::vector<float> y = simulated::numbers_of(std::move(results));
      for (std::int64_t p = 0; p < 4; ++p)
        for (std::int64_t i = 0; i < 5; ++i)
          for (std::int64_t q = 0; q < 4; ++q)
            for (std::int64_t k = 0; k < width; ++k)
              REQUIRE(y[static_cast<std::size_t>(((p * 5 + i) * 4 + q) * width + k)] == x(q, i, k));
    }
    plx::cuda::backend<counting_api>::shut_down();
    machine.finish();
    CHECK((counts["copy_rows"] == 0) == (width <= 128));
  }
}

} // namespace groups_test
