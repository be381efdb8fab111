// Programs that are called again are CUDA graphs.
#include "cuda/programs/calls.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/every_failure.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphs_test {

namespace plx = parallax;

namespace {

using simulated::counting_api;
using backend = plx::cuda::backend<counting_api>;

using simulated::numbers_of;
template <class... Arguments> auto results_of(const Arguments&... given) {
  return simulated::results_of<counting_api>(given...);
}
template <class... Arguments> std::vector<float> result_of(const Arguments&... given) {
  return numbers_of(results_of(given...));
}

/// Programs become graphs however few steps they are.
plx::cuda::backend_options short_graphs() {
  plx::cuda::backend_options options;
  options.graph_steps = 1;
  return options;
}

struct running_backend : simulated::running_backend<counting_api> {
  explicit running_backend(const plx::cuda::backend_options& options = short_graphs())
      : simulated::running_backend<counting_api>(options) {
    counting_api::reset();
  }
};

/// Calls `body()` on new machines, under some seeds.
template <class Body> void under_seeds(std::uint64_t seeds, int devices, const Body& body, bool reuses = false) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simulator::machine machine({.devices = devices, .seed = seed, .reuses_addresses = reuses});
    {
      const running_backend running;
      body();
      backend::shut_down();
    }
    machine.finish();
  }
}

/// A product, sums and elementwise loops; a number, a small array and larger ones.
constexpr auto layer = [](auto x, auto w, auto bias, auto factor) {
  auto y = plx::tanh(plx::dot(x, w) + bias);
  auto shifted = plx::exp(y - plx::max(y));
  return std::pair{shifted / plx::sum(shifted) * factor, plx::sum(y)};
};

plx::array<float, 2> matrix(std::int64_t rows, std::int64_t columns, int first) {
  auto result = plx::array<float, 2>::uninitialised({rows, columns});
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<float>((i * 7 + first) % 11) / 8.f - 0.5f;
  return result;
}
plx::array<float, 1> row(std::int64_t size, int first) {
  auto result = plx::array<float, 1>::uninitialised({size});
  for (std::int64_t i = 0; i < size; ++i) result.mutable_data()[i] = static_cast<float>((i * 5 + first) % 7) / 4.f;
  return result;
}

template <class... Arguments> std::vector<float> expected_of_layer(const Arguments&... given) {
  const plx::use_backend host(plx::backend::host);
  const auto [weights, sum] = plx::jit(layer)(given...);
  std::vector<float> all(weights.values().begin(), weights.values().end());
  all.push_back(sum.values()[0]);
  return all;
}
/// Graphs of which some part cannot be made.
struct failing_captures : simulator::api {
  enum class place { nowhere, launch, body, inside_body, end, instantiation };
  static inline place where = place::nowhere;
  static inline int going_on = 0, bodies = 0, captures = 0, launched = 0;
  static plx::cuda::status refused() {
    return {plx::cuda::status::kind::failure, 901, "a test", "a capture", "is invalidated"};
  }

  static plx::cuda::status begin_capture(stream on) {
    ++going_on;
    ++captures;
    return simulator::api::begin_capture(on);
  }
  static plx::cuda::status end_capture(stream on, graph& made) {
    --going_on;
    const plx::cuda::status ended = simulator::api::end_capture(on, made);
    if (where != place::end || !ended.ok()) return ended;
    plx::cuda::check(simulator::api::destroy_graph(made));
    return refused();
  }
  static plx::cuda::status begin_body(plx::cuda::conditional_kind kind, plx::cuda::graph_condition condition, stream on,
                                      stream inner) {
    if (where == place::body) return refused();
    ++bodies;
    return simulator::api::begin_body(kind, condition, on, inner);
  }
  static plx::cuda::status end_body(stream inner) {
    --bodies;
    const plx::cuda::status ended = simulator::api::end_body(inner);
    return where == place::inside_body ? refused() : ended; // as of all that is part of a capture that has failed
  }
  static plx::cuda::status instantiate(graph& made) {
    return where == place::instantiation ? refused() : simulator::api::instantiate(made);
  }
  static plx::cuda::status launch_graph(graph of, stream on) {
    ++launched;
    return simulator::api::launch_graph(of, on);
  }
  template <class K>
  static plx::cuda::status launch(K kernel, const plx::cuda::launch_shape& shape, stream on,
                                  const typename K::arguments& arguments) {
    const bool refuses = where == place::launch ? going_on > 0 : where == place::inside_body && bodies > 0;
    if (refuses && !std::is_same_v<K, plx::cuda::copy_pieces>) return refused();
    return simulator::api::launch(kernel, shape, on, arguments);
  }
};

void require_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

} // namespace

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
      for (auto& each : arguments) each.is_given_away = true;
      for (auto& each : simulated::values_of(.25f)) arguments.push_back(std::move(each));
      bool begun = false;
      state = plx::cuda::program_run<counting_api>(
                  compiled::plan, plx::cuda::kernel_table<counting_api, compiled>::launchers, std::move(arguments))
                  .run({plx::plain_span<const int>(donors), begun});
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
      for (auto& each : arguments) each.is_given_away = true;
      for (auto& each : simulated::values_of(.25f)) arguments.push_back(std::move(each));
      bool begun = false;
      kept.push_back(plx::cuda::program_run<counting_api>(compiled::plan,
                                                          plx::cuda::kernel_table<counting_api, compiled>::launchers,
                                                          std::move(arguments))
                         .run({plx::plain_span<const int>(donors), begun}));
      captures += counting_api::captures;
      REQUIRE(counting_api::graph_launches == (call == 0 ? 0 : 1));
      require_close(numbers_of(kept.back()), numbers_of(simulated::results_on_host(step, x, .25f)));
    }
    REQUIRE(captures <= 9);
  });
}

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

TEST_CASE("a section whose graph cannot be made is run step by step, in that call and later") {
  constexpr auto mapped =
      plx::pmap<"i">([](auto x, auto y) { return x / plx::sum(x) + y; }, plx::in_axes<0, plx::none>);
  constexpr auto looped = [](auto x) {
    return plx::while_loop([](auto v) { return plx::max(v) > 1.f; }, [](auto v) { return plx::exp(v * 0.5f) * 0.3f; },
                           x);
  };
  using failing = failing_captures;
  const auto x = matrix(2, 80, 3);
  const auto y = row(5000, 1); // too many for a kernel of one block
  for (const failing::place where : {failing::place::nowhere, failing::place::launch, failing::place::body,
                                     failing::place::inside_body, failing::place::end, failing::place::instantiation}) {
    simulator::machine machine({.devices = 2});
    {
      const simulated::running_backend<failing> running(short_graphs());
      failing::where = where;
      failing::captures = failing::launched = 0;
      for (int call = 0; call < 4; ++call) {
        require_close(numbers_of(simulated::results_of<failing>(mapped, x, 1.f)),
                      numbers_of(simulated::results_on_host(mapped, x, 1.f)));
        require_close(numbers_of(simulated::results_of<failing>(looped, y)),
                      numbers_of(simulated::results_on_host(looped, y)));
      }
      const bool of_body = where == failing::place::body || where == failing::place::inside_body; // of the loop
      const bool fails = where != failing::place::nowhere && !of_body;
      CHECK(failing::launched == (fails ? 0 : of_body ? 3 * 2 : 3 * 3));
      if (fails) CHECK(failing::captures <= 3); // once for each
      plx::cuda::backend<failing>::shut_down();
    }
    machine.finish();
  }
}

TEST_CASE("a failure of any call of a capture or a replay is reported or done without, and the next call succeeds") {
  simulator::machine_options options;
  options.devices = 2;
  constexpr auto mapped =
      plx::pmap<"i">([](auto x, auto y) { return x / plx::sum(x) + y; }, plx::in_axes<0, plx::none>);
  int without = 0;
  const auto calls = simulator::try_every_failure(
      options,
      [&] {
        const running_backend running;
        for (int call = 0; call < 3; ++call) {
          const auto x = plx::array<float, 2>::filled({2, 80}, 1.f + static_cast<float>(call));
          float found = 0;
          try {
            found = result_of(mapped, x, 1.f)[100];
          } catch (const plx::error&) {
            found = result_of(mapped, x, 1.f)[100];
            REQUIRE(found == Approx(1.f + 1.f / 80.f));
            throw;
          }
          REQUIRE(found == Approx(1.f + 1.f / 80.f));
        }
        backend::shut_down();
      },
      [&] {
        const bool ran_step_by_step = counting_api::graph_launches == 0;
        without += ran_step_by_step ? 1 : 0;
        return ran_step_by_step;
      });
  REQUIRE(without > 8);
  REQUIRE(calls > 100);
}

} // namespace graphs_test
