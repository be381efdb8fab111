// Programs that are called again are CUDA graphs.
#include "cuda/programs/graph_programs.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace graphs_test {

namespace plx = parallax;
using namespace graph_programs;

TEST_CASE("a program is captured at its second call and replayed, with the arguments of each call") {
  under_seeds(30, 1, [] {
    for (int call = 0; call < 5; ++call) {
      const auto x = matrix(5, 70, call), w = matrix(70, 6, 2 * call);
      const auto bias = row(6, call);
      const float factor = static_cast<float>(call) + 1.5f;
      plx::reset_transfers();
      require_close(result_of(layer, x, w, bias, factor), expected_of_layer(x, w, bias, factor));
      REQUIRE(plx::transfers().host_to_device == (5 * 70 + 70 * 6 + 6 + 1) * 4);
      REQUIRE(counting_api::captures == (call == 0 ? 0 : 1));
      REQUIRE(counting_api::graph_launches == call);
      REQUIRE(counting_api::updates == call);
    }
  });
}

TEST_CASE("a replay is one update and one launch") {
  under_seeds(5, 1, [] {
    const auto a = row(6, 1), b = row(6, 3);
    constexpr auto f = [](auto x, auto y, auto z) {
      auto scale = plx::sum(x) * z;
      return plx::sum(x * scale - y);
    };
    for (int call = 0; call < 2; ++call) result_of(f, a, b, 2.f);
    counting_api::reset();
    const float sum_a = result_of([](auto x) { return plx::sum(x); }, a)[0];
    counting_api::reset();
    const float sum_b = [&] {
      float sum = 0;
      for (float each : b.values()) sum += each;
      return sum;
    }();
    REQUIRE(result_of(f, a, b, 3.f)[0] == Approx(sum_a * sum_a * 3.f - sum_b));
    REQUIRE(counting_api::launches == 0);
    REQUIRE(counting_api::copies == 0);
    REQUIRE(counting_api::captures == 0);
    REQUIRE(counting_api::updates == 1);
    REQUIRE(counting_api::graph_launches == 1);
  });
}

TEST_CASE("small results of a call are taken from the device at once") {
  under_seeds(5, 1, [] {
    constexpr auto f = [](auto x, auto large) {
      return std::tuple{x * 2.f, plx::sum(x), large + 1.f, x - plx::max(x)};
    };
    const auto x = row(6, 1), large = plx::array<float, 1>::filled({40'000}, 2.f);
    for (int call = 0; call < 3; ++call) {
      counting_api::reset();
      const auto results = results_of(f, x, large);
      if (call == 2) REQUIRE(counting_api::allocations == 2); // the large one by itself
      const std::vector<float> values = numbers_of(results);
      REQUIRE(values.size() == 6 + 1 + 40'000 + 6);
      for (std::size_t i = 0; i < 6; ++i) {
        REQUIRE(values[i] == 2 * x.values()[i]);
        REQUIRE(values[6 + 1 + 40'000 + i] == x.values()[i] - 1.5f);
      }
      REQUIRE(values[6 + 40'000] == 3.f);
    }
  });
}

namespace {

// Rounds of rounds: each multiplies, adds, and stacks what it has.
constexpr auto rounds = [](auto x, auto w, auto count) {
  return plx::scan(
      [=](auto carry, auto slice) {
        auto inner =
            plx::fori_loop(0, count, [&](auto i, auto y) { return plx::tanh(plx::dot(w, y)) + 0.1f * i; }, carry);
        return std::pair{inner + slice, plx::sum(inner)};
      },
      plx::index_in_dim(x, 0), x);
};
std::vector<float> expected_of_rounds(const plx::array<float, 2>& x, const plx::array<float, 2>& w, int count) {
  const plx::use_backend host(plx::backend::host);
  const auto [last, sums] = plx::jit(rounds)(x, w, plx::count(count));
  std::vector<float> all(last.values().begin(), last.values().end());
  all.insert(all.end(), sums.values().begin(), sums.values().end());
  return all;
}

} // namespace

TEST_CASE("the rounds of scans become one graph, other counts another one") {
  under_seeds(5, 1, [] {
    const auto w = matrix(6, 6, 2);
    for (int call = 0; call < 6; ++call) {
      const auto x = matrix(5, 6, call);
      require_close(result_of(rounds, x, w, plx::count(call < 3 ? 3 : 2)), expected_of_rounds(x, w, call < 3 ? 3 : 2));
    }
    REQUIRE(counting_api::captures == 2);
    REQUIRE(counting_api::graph_launches == 4);
  });
}

TEST_CASE("results of a replay stay what they are when the graph is launched again") {
  under_seeds(20, 1, [] {
    const auto w = matrix(6, 6, 1);
    const auto bias = row(6, 2);
    auto x = matrix(4, 6, 3);
    std::vector<simulated::values> kept;
    std::vector<std::vector<float>> expected;
    for (int call = 0; call < 6; ++call) {
      kept.push_back(results_of(layer, x, w, bias, 2.f));
      expected.push_back(expected_of_layer(x, w, bias, 2.f));
      x = matrix(4, 6, call);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) require_close(numbers_of(std::move(kept[i])), expected[i]);
  });
}

TEST_CASE("other extents are another graph, and the first stays") {
  under_seeds(10, 1, [] {
    for (int call = 0; call < 4; ++call)
      for (const std::int64_t rows : {3, 8}) {
        const auto x = matrix(rows, 6, call), w = matrix(6, 6, call + 1);
        const auto bias = row(6, call);
        require_close(result_of(layer, x, w, bias, 1.f), expected_of_layer(x, w, bias, 1.f));
      }
    REQUIRE(counting_api::captures == 2);
    REQUIRE(counting_api::graph_launches == 6);
  });
}

TEST_CASE("many arguments and results are several launches, and empty ones are none") {
  under_seeds(5, 1, [] {
    constexpr auto many = [](auto leaves, auto empty) {
      auto total = plx::sum(empty);
      for (std::size_t i = 0; i < 70; ++i) total = total + plx::sum(leaves[i]);
      return std::pair{plx::tree_map([&](auto leaf) { return leaf * total; }, leaves), empty * total};
    };
    std::array<plx::array<float, 1>, 70> leaves;
    const auto empty = plx::array<float, 1>::filled({0}, 1.f);
    float total = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i] = plx::array<float, 1>::filled({static_cast<std::int64_t>(1 + i % 5)}, static_cast<float>(i));
      total += static_cast<float>(i) * static_cast<float>(1 + i % 5);
    }
    for (int call = 0; call < 3; ++call) {
      const std::vector<float> found = result_of(many, leaves, empty);
      std::size_t at = 0;
      for (std::size_t i = 0; i < leaves.size(); ++i)
        for (std::size_t k = 0; k < 1 + i % 5; ++k) REQUIRE(found[at++] == Approx(static_cast<float>(i) * total));
      REQUIRE(at == found.size());
    }
    REQUIRE(counting_api::captures == 1);
    REQUIRE(counting_api::updates == 2 * 3); // of 32 pieces at most: 70 arguments, and where 70 results go
  });
}

} // namespace graphs_test
