// Which sections are graphs, on one device and on several, and which graphs a device keeps.
#include "cuda/programs/graph_programs.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace graph_limits_test {

namespace plx = parallax;
using namespace graph_programs;

TEST_CASE("a section without collectives is a graph of each device") {
  constexpr auto mapped = plx::pmap<"i">(
      [](auto x, auto w) {
        auto y = plx::dot(x, w);
        return y / plx::sum(y * y) + 0.5f * plx::axis_index<"i">();
      },
      plx::in_axes<0, plx::none>);
  under_seeds(20, 3, [&] {
    for (int call = 0; call < 4; ++call) {
      auto x = plx::array<float, 3>::uninitialised({3, 4, 5});
      for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = static_cast<float>((i + call) % 9) / 4.f;
      const auto w = matrix(5, 2, call);
      const std::vector<float> found = result_of(mapped, x, w);
      const plx::use_backend host(plx::backend::host);
      const plx::array<float, 3> expected = mapped(x, w);
      require_close(found, {expected.values().begin(), expected.values().end()});
    }
    REQUIRE(counting_api::captures == 3);
    REQUIRE(counting_api::graph_launches == 9);
  });
}

TEST_CASE("on one device, collectives are copies, and captured") {
  constexpr auto mapped = plx::pmap<"i">([](auto x) {
    auto y = x / plx::psum<"i">(plx::sum(x));
    auto gathered = plx::all_gather<"i">(y * 2.f);
    auto nothing = plx::ppermute<"i">(y, {});
    return std::tuple{plx::pmax<"i">(y), plx::sum(gathered, 0), plx::psum_scatter<"i">(gathered), nothing + 1.f,
                      plx::ppermute<"i">(y, {{0, 0}})};
  });
  under_seeds(20, 1, [&] {
    for (int call = 0; call < 4; ++call) {
      const auto x = matrix(1, 300, call);
      const std::vector<float> found = result_of(mapped, x);
      float sum = 0;
      for (float each : x.values()) sum += each;
      REQUIRE(found.size() == 5 * 300);
      for (std::size_t i = 0; i < 300; ++i) {
        const float y = x.values()[i] / sum;
        const float expected[] = {y, 2 * y, 2 * y, 1, y};
        for (std::size_t k = 0; k < 5; ++k) REQUIRE(found[k * 300 + i] == Approx(expected[k]));
      }
      REQUIRE(counting_api::captures == (call == 0 ? 0 : 1));
      REQUIRE(counting_api::graph_launches == call);
    }
  });
}

TEST_CASE("programs with collectives of several devices, or of much memory, are not captured") {
  under_seeds(2, 2, [] {
    constexpr auto summed = plx::pmap<"i">([](auto x) {
      auto y = x / plx::sum(x);
      return plx::psum<"i">(y) * 2.f;
    });
    constexpr auto normed = [](auto x) { return x / plx::sum(x); };
    const auto large = plx::array<float, 1>::filled({1 << 20}, 0.5f);
    for (int call = 0; call < 3; ++call) {
      REQUIRE(result_of(summed, plx::array<float, 2>::filled({2, 3}, 1.f))[5] == Approx(4.f / 3.f));
      REQUIRE(result_of(normed, large)[7] == Approx(1.f / (1 << 20)));
    }
    REQUIRE(counting_api::captures == 0);
    REQUIRE(counting_api::graph_launches == 0);
  });
}

TEST_CASE("a single step is launched by itself") {
  simulator::machine machine({.devices = 1});
  const running_backend running(plx::cuda::backend_options{});
  constexpr auto twice = [](auto x) { return x * 2.f; };
  for (int call = 0; call < 3; ++call) REQUIRE(result_of(twice, row(5, 1)).size() == 5);
  REQUIRE(counting_api::captures == 0);
  backend::shut_down();
  machine.finish();
}

TEST_CASE("a device keeps the graphs that were used last") {
  simulator::machine machine({.devices = 1});
  auto options = short_graphs();
  options.cached_sections = 2;
  const running_backend running(options);
  constexpr auto normed = [](auto x) { return x / plx::sum(x); };
  auto run = [&](std::int64_t size) {
    REQUIRE(result_of(normed, row(size, 1)).size() == static_cast<std::size_t>(size));
    return counting_api::captures;
  };
  run(3), run(4);
  REQUIRE(run(3) == 1);
  REQUIRE(run(4) == 2);
  REQUIRE(run(3) == 2);
  run(5); // instead of 4
  REQUIRE(run(3) == 2);
  run(4);
  REQUIRE(run(4) == 3);
  backend::shut_down();
  machine.finish(); // and nothing is left
}

TEST_CASE("a device's graphs have a bounded memory") {
  simulator::machine machine({.devices = 1});
  auto options = short_graphs();
  options.graph_memory = 8000; // for one of these
  const running_backend running(options);
  constexpr auto normed = [](auto x) { return x / plx::sum(x); };
  auto run = [&](std::int64_t size) {
    REQUIRE(result_of(normed, row(size, 1)).size() == static_cast<std::size_t>(size));
    return counting_api::captures;
  };
  run(500);
  REQUIRE(run(500) == 1);
  run(501);
  REQUIRE(run(501) == 2); // instead of the first
  REQUIRE(run(501) == 2);
  REQUIRE(run(500) == 3);
  REQUIRE(run(500) == 3);
  REQUIRE(counting_api::graph_launches == 5);
  backend::shut_down();
  machine.finish();
}

TEST_CASE("graphs can be switched off") {
  simulator::machine machine({.devices = 1});
  auto options = short_graphs();
  options.graphs = false;
  const running_backend running(options);
  constexpr auto normed = [](auto x) { return x / plx::sum(x); };
  for (int call = 0; call < 3; ++call) REQUIRE(result_of(normed, row(5, 1)).size() == 5);
  REQUIRE(counting_api::captures == 0);
  backend::shut_down();
  machine.finish();
}

} // namespace graph_limits_test
