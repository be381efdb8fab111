// Graphs work where arguments and results lie, if these come back to few places: given away, handed on, or elsewhere at
// each call.
#include "cuda/programs/graph_programs.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace graph_places_test {

namespace plx = parallax;
using namespace graph_programs;

TEST_CASE("state that is given away is changed where it lies, in graphs too, whatever its size") {
  constexpr auto step = [](auto weights, auto momentum, auto rate) {
    const auto next = momentum * .5f + weights;
    return std::pair{weights - next * rate, next};
  };
  using compiled =
      plx::detail::program<std::remove_const_t<decltype(step)>, plx::detail::abstract_t<plx::array<float, 1>>,
                           plx::detail::abstract_t<plx::array<float, 1>>, plx::detail::abstract_t<float>>;
  static constexpr auto donors = plx::compiled::donors_of<compiled>(std::array{true, true, false});
  static_assert(donors == std::array{0, 1});
  constexpr std::int64_t size = 1 << 18; // more for a step than is copied
  under_seeds(4, 1, [&] {
    auto state = results_of(step, row(size, 1), row(size, 2), 0.f); // on the device
    std::vector<float> weights = numbers_of(results_of(step, row(size, 1), row(size, 2), 0.f));
    std::vector<float> momentum(weights.begin() + size, weights.end());
    weights.resize(size);
    const auto memory = [&] { return std::pair{state[0].host.on_device(), state[1].host.on_device()}; };
    const auto before = memory();
    for (int call = 0; call < 4; ++call) {
      counting_api::reset();
      auto arguments = std::move(state);
      for (auto& each : arguments) each.is_donated = true;
      for (auto& each : simulated::values_of(.25f)) arguments.push_back(std::move(each));
      bool begun = false;
      state = plx::cuda::program_run<counting_api>(
                  compiled::plan, plx::cuda::kernel_table<counting_api, compiled>::launchers, std::move(arguments))
                  .run({plx::detail::plain_span<const int>(donors), begun});
      REQUIRE(begun);
      REQUIRE(memory() == before);
      REQUIRE(counting_api::allocations == (call == 0 ? 1 : 0)); // for the graph
      REQUIRE(counting_api::captures == (call == 0 ? 1 : 0));    // the program has been called before
      REQUIRE(counting_api::graph_launches == 1);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        momentum[k] = momentum[k] * .5f + weights[k];
        weights[k] -= momentum[k] * .25f;
      }
    }
    std::vector<float> expected = weights;
    expected.insert(expected.end(), momentum.begin(), momentum.end());
    require_close(numbers_of(std::move(state)), expected);
  });
}

TEST_CASE("what is given away and lies elsewhere at each call is copied once few graphs were made for it") {
  constexpr auto step = [](auto weights, auto rate) {
    return weights * rate + plx::sin(weights * .5f + plx::sum(weights));
  };
  using compiled = plx::detail::program<std::remove_const_t<decltype(step)>,
                                        plx::detail::abstract_t<plx::array<float, 1>>, plx::detail::abstract_t<float>>;
  static constexpr auto donors = plx::compiled::donors_of<compiled>(std::array{true, false});
  under_seeds(3, 1, [&] {
    int captures = 0;
    std::vector<simulated::values> kept; // so that no memory comes back
    for (int call = 0; call < 30; ++call) {
      const auto x = row(100, call);
      auto arguments = results_of([](auto given) { return given * 1.f; }, x);
      counting_api::reset();
      for (auto& each : arguments) each.is_donated = true;
      for (auto& each : simulated::values_of(.25f)) arguments.push_back(std::move(each));
      bool begun = false;
      kept.push_back(plx::cuda::program_run<counting_api>(compiled::plan,
                                                          plx::cuda::kernel_table<counting_api, compiled>::launchers,
                                                          std::move(arguments))
                         .run({plx::detail::plain_span<const int>(donors), begun}));
      captures += counting_api::captures;
      REQUIRE(counting_api::graph_launches == (call == 0 ? 0 : 1));
      require_close(numbers_of(kept.back()), numbers_of(simulated::results_on_host(step, x, .25f)));
    }
    REQUIRE(captures <= 9);
  });
}

TEST_CASE("results are arguments of the next call") {
  under_seeds(20, 1, [] {
    constexpr auto step = [](auto w, auto rate) {
      auto gradient = plx::tanh(w) - plx::sum(w * w) * 0.001f;
      return w - gradient * rate / (1.f + plx::max(w * w));
    };
    plx::array<float, 1> here = row(300, 1), there = here;
    for (int call = 0; call < 5; ++call) {
      auto results = results_of(step, there, 0.1f);
      there = plx::array<float, 1>::adopt(std::move(results[0].host), {300});
      const plx::use_backend host(plx::backend::host);
      here = plx::jit(step)(here, 0.1f);
    }
    require_close({there.values().begin(), there.values().end()}, {here.values().begin(), here.values().end()});
    REQUIRE(counting_api::graph_launches == 4);
    REQUIRE(counting_api::captures == 1);
  });
}

namespace {

constexpr auto turn = [](auto x, auto y) { return std::pair{x + plx::sum(y * y) * 1e-6f, y * .5f + x * .25f}; };
simulated::values turned(simulated::values pair) {
  pair = simulated::results_from<counting_api, decltype(turn), plx::array<float, 1>, plx::array<float, 1>>(
      std::move(pair));
  std::byte last{};
  pair[1].host.on_device()->copy_to_host(&last, 1); // what was released is free now
  return pair;
}
void expect_turn(std::vector<float>& x, std::vector<float>& y) {
  double sum = 0;
  for (float each : y) sum += double{each} * each;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = y[i] * .5f + x[i] * .25f;
    x[i] += static_cast<float>(sum * 1e-6);
  }
}

} // namespace

TEST_CASE("a loop that hands its results on copies nothing once memory comes back, whatever its size") {
  for (const std::int64_t size : {300, 1 << 18}) { // the second is more for a step than is copied
    auto loop = [&] {
      const auto first = row(size, 1), second = row(size, 2);
      std::vector<float> x(first.values().begin(), first.values().end()),
          y(second.values().begin(), second.values().end());
      auto state = simulated::values_of(first, second);
      int captures = 0;
      for (int call = 0; call < 14; ++call) {
        counting_api::reset();
        state = turned(std::move(state));
        expect_turn(x, y);
        captures += counting_api::captures;
        if (call < 10) continue;
        REQUIRE(counting_api::graph_launches == 1);
        REQUIRE(counting_api::launches == 0);
        REQUIRE(counting_api::updates == 0);
        REQUIRE(counting_api::copies == 0);
      }
      REQUIRE(captures <= 4);
      std::vector<float> expected = x;
      expected.insert(expected.end(), y.begin(), y.end());
      require_close(numbers_of(std::move(state)), expected);
    };
    under_seeds(4, 1, loop, true);
  }
}

TEST_CASE("arguments that lie elsewhere at each call are copied, and those that do so by turns have few graphs") {
  under_seeds(3, 1, [] {
    std::vector<simulated::values> there; // pairs on the device
    std::vector<std::pair<std::vector<float>, std::vector<float>>> here;
    std::vector<float> x(50, 1.f), y(50, -.5f);
    for (int i = 0; i < 12; ++i) {
      there.push_back(turned(i == 0 ? simulated::values_of(row(50, 1), row(50, 2)) : there.back()));
      std::vector<float> both = numbers_of(there.back());
      here.push_back({{both.begin(), both.begin() + 50}, {both.begin() + 50, both.end()}});
    }
    counting_api::reset();
    unsigned number = 1;
    auto call = [&](std::size_t first, std::size_t second) {
      auto expected = std::pair{here[first].first, here[second].second};
      expect_turn(expected.first, expected.second);
      expected.first.insert(expected.first.end(), expected.second.begin(), expected.second.end());
      require_close(numbers_of(turned({there[first][0], there[second][1]})), expected.first);
    };
    for (std::size_t i = 0; i < 40; ++i) call(i % 12, i % 12); // no place comes back within eight calls
    REQUIRE(counting_api::captures == 0);
    for (std::size_t i = 0; i < 20; ++i) call(i % 3, i % 2);
    REQUIRE(counting_api::captures == 6);
    REQUIRE(counting_api::graph_launches == 60);
    for (std::size_t i = 0; i < 60; ++i) {
      number = number * 1'664'525U + 1'013'904'223U;
      call(number >> 28U & 3U, number >> 24U & 3U);
    }
    REQUIRE(counting_api::graph_launches == 120);
    REQUIRE(counting_api::captures <= 10); // of 16 pairs
    std::map<std::string_view, int> calls;
    simulator::machine::current().count_calls(&calls);
    for (std::size_t pair = 4; pair < 12; ++pair)
      for (int k = 0; k < 70; ++k) call(pair, pair); // for long enough that each has a graph
    simulator::machine::current().count_calls(nullptr);
    REQUIRE(calls["instantiate"] >= 7);
    REQUIRE(calls["destroy_graph"] >= calls["instantiate"] - 1); // and others none any more
  });
}

} // namespace graph_places_test
