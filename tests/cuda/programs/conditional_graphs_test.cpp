// Loops and branches that values decide, and loops of many rounds, are nodes of CUDA graphs: from the second call on
// the host decides nothing and waits for nothing.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/conditional_programs.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/every_failure.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace conditional_graphs_test {

namespace plx = parallax;
using namespace conditional_programs;

namespace {

using simulated::counting_api;
using backend = plx::cuda::backend<counting_api>;
using simulated::numbers_of;

template <class... Arguments> std::vector<float> result_of(const Arguments&... given) {
  return numbers_of(simulated::results_of<counting_api>(given...));
}
template <class... Arguments> std::vector<float> on_host(const Arguments&... given) {
  return numbers_of(simulated::results_on_host(given...));
}
void require_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

struct running_backend : simulated::running_backend<counting_api> {
  explicit running_backend(bool conditional = true) : simulated::running_backend<counting_api>(chosen(conditional)) {
    counting_api::reset();
  }
  static plx::cuda::backend_options chosen(bool conditional) {
    plx::cuda::backend_options options;
    options.graph_steps = 1;
    options.conditional_graphs = conditional;
    return options;
  }
};

/// Calls `body()` on new machines, under some seeds.
template <class Body> void under_seeds(std::uint64_t seeds, int devices, const Body& body) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulator::machine machine({.devices = devices, .seed = seed});
    {
      const running_backend running;
      body();
      backend::shut_down();
    }
    machine.finish();
  }
}

} // namespace

TEST_CASE("while loops go round on the device, as often as values say at each launch") {
  under_seeds(10, 1, [] {
    for (float first : {3.f, 0.25f, 1.5f, 40.f, 100.f, 0.f, 9.f}) {
      const auto x = row({first, 0.125f, 0.f});
      require_close(result_of(halving, x), on_host(halving, x));
      const auto y = row({first * 0.01f, 0.5f, 2.f, -0.3f});
      require_close(result_of(filling, y), on_host(filling, y));
    }
    REQUIRE(counting_api::captures == 2);
    REQUIRE(counting_api::graph_launches == 12);
  });
}

TEST_CASE("branches are chosen on the device, and hold loops") {
  under_seeds(10, 1, [] {
    for (int which : {0, 1, 2, -3, 7, 0, 1}) {
      const auto x = row({1.f, 5.f, static_cast<float>(which)});
      require_close(result_of(choosing, which, x), on_host(choosing, which, x));
    }
    REQUIRE(counting_api::captures == 1);
    REQUIRE(counting_api::graph_launches == 6);
  });
}

TEST_CASE("loops of many rounds count them on the device") {
  under_seeds(3, 1, [] {
    for (std::int64_t rounds : {600, 601, 2000})
      for (int call = 0; call < 3; ++call) {
        const auto x = slices(rounds, call);
        require_close(result_of(both_ways, x, flags(rounds)), on_host(both_ways, x, flags(rounds)));
      }
    REQUIRE(counting_api::captures == 3);
    for (std::int64_t rounds : {1200, 1201, 1205, 1211})
      for (int call = 0; call < 2; ++call) {
        const auto x = slices(rounds, call);
        require_close(result_of(handing_on, x), on_host(handing_on, x));
      }
  });
  simulator::machine machine({.devices = 1});
  const running_backend running;
  constexpr auto many = [](auto x, auto count) {
    return plx::fori_loop(0, count, [](auto, auto y) { return y + 1.f; }, x);
  };
  for (int call = 0; call < 3; ++call) require_close(result_of(many, row({1}), plx::count(20'001)), {20'002});
  REQUIRE(counting_api::graph_launches == 2);
  backend::shut_down();
  machine.finish();
}

TEST_CASE("kernels read and write slices in place; what other steps use is copied") {
  // extents that the call says, so that a loop is no kernel of one block
  constexpr auto elements = [](auto xs) {
    return plx::scan(
        [](auto sum, auto x) {
          const auto next = 0.5f * sum + x;
          return std::pair{next, std::tuple{next * x, plx::sum(plx::exp(-x)), plx::max(x) - x, plx::softmax(x)}};
        },
        plx::zeros_like(xs[0]), xs);
  };
  constexpr auto from_behind = [](auto xs) {
    return plx::scan([](auto sum, auto x) { return std::pair{0.5f * sum + x, sum - x}; }, plx::zeros_like(xs[0]), xs,
                     plx::in_reverse);
  };
  constexpr auto swapped = [](auto xs) {
    return plx::scan(
        [](auto carry, auto x) {
          auto [a, b] = carry;
          return std::pair{std::pair{b, 0.5f * a + x}, a * x};
        },
        std::pair{plx::zeros_like(xs[0]), plx::ones_like(xs[0])}, xs);
  };
  constexpr auto sorts = [](auto xs) {
    return plx::scan([](auto sum, auto x) { return std::pair{0.5f * sum + x, plx::sort(x)}; }, plx::zeros_like(xs[0]),
                     xs);
  };
  constexpr auto cumulative = [](auto xs) {
    return plx::scan([](auto h, auto x) { return std::pair{plx::tanh(h + plx::cumsum(x)), plx::cumsum(h)}; },
                     plx::zeros_like(xs[0]), xs);
  };
  auto copies = [](const auto& program) {
    counting_api::reset();
    for (std::int64_t rounds : {1100, 1101})
      for (int call = 0; call < 2; ++call) {
        const auto x = slices(rounds, call);
        require_close(result_of(program, x), on_host(program, x));
      }
    REQUIRE(counting_api::captures == 2);
    return counting_api::slice_copies;
  };
  under_seeds(3, 1, [&] {
    CHECK(copies(elements) == 0);
    CHECK(copies(from_behind) == 0);
    CHECK(copies(swapped) == 0);
    CHECK(copies(sorts) > 0);
    CHECK(copies(cumulative) > 0);
  });
}

TEST_CASE("each device of a pmap goes round by itself") {
  under_seeds(5, 3, [] {
    constexpr auto mapped = plx::pmap(halving);
    for (float scale : {1.f, 3.f, 0.1f, 20.f}) {
      auto x = plx::array<float, 2>::uninitialised({3, 2});
      for (std::int64_t i = 0; i < 6; ++i) x.mutable_data()[i] = scale * static_cast<float>(i * i);
      require_close(result_of(mapped, x), on_host(mapped, x));
    }
    REQUIRE(counting_api::captures == 3);
    REQUIRE(counting_api::graph_launches == 9);
  });
}

TEST_CASE("batched loops, their selects among them, are nodes too") {
  under_seeds(3, 1, [] {
    constexpr auto batched = plx::vmap(halving);
    for (float scale : {1.f, 3.f, 0.1f, 20.f}) {
      auto x = plx::array<float, 2>::uninitialised({3, 2});
      for (std::int64_t i = 0; i < 6; ++i) x.mutable_data()[i] = scale * static_cast<float>(i * i);
      require_close(result_of(batched, x), on_host(batched, x));
    }
    REQUIRE(counting_api::captures == 1);
  });
}

TEST_CASE("a replay asks the device for nothing but results") {
  simulator::machine machine({.devices = 1});
  const running_backend running;
  for (int call = 0; call < 2; ++call) result_of(choosing, 2, row({9.f, 1.f}));
  std::map<std::string_view, int> calls;
  machine.count_calls(&calls);
  {
    const auto kept = simulated::results_of<counting_api>(choosing, 2, row({9.f, 1.f}));
    CHECK(calls["copy_to_host"] == 0);
    CHECK(calls["query_stream"] + calls["query_event"] == 0);
    CHECK(calls["launch"] == 0);
    CHECK(calls["launch_graph"] == 1);
  }
  machine.count_calls(nullptr);
  backend::shut_down();
  machine.finish();
}

TEST_CASE("where graphs cannot decide, the host does") {
  for (bool by_driver : {true, false}) {
    simulator::machine machine({.devices = 1, .conditional_graphs = !by_driver});
    const running_backend running(by_driver);
    for (float first : {3.f, 0.25f, 40.f}) {
      const auto x = row({first, 0.125f});
      require_close(result_of(halving, x), on_host(halving, x));
      require_close(result_of(choosing, 2, x), on_host(choosing, 2, x));
    }
    REQUIRE(counting_api::captures == 0);
    backend::shut_down();
    machine.finish();
  }
}

TEST_CASE("a failure of any call of a capture with loops is reported or done without, and the next call succeeds") {
  const auto calls = simulator::try_every_failure(
      {.devices = 1},
      [] {
        const running_backend running;
        for (int call = 0; call < 3; ++call) {
          const auto x = row({9.f, 1.f + static_cast<float>(call)});
          const std::vector<float> expected = on_host(choosing, 2, x);
          try {
            require_close(result_of(choosing, 2, x), expected);
          } catch (const plx::error&) {
            require_close(result_of(choosing, 2, x), expected);
            throw;
          }
        }
        backend::shut_down();
      },
      [] { return counting_api::graph_launches == 0; });
  REQUIRE(calls > 100);
}

} // namespace conditional_graphs_test
