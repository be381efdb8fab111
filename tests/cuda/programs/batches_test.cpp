// Products over several batch dimensions: how many calls of the library they are, and where their results go.
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace batches_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;

/// Scores of attention: [example, position, head, feature] each, without a copy that brings heads before positions.
constexpr auto scores = [](auto queries, auto keys) {
  return plx::dot_general(queries, keys, {{3}, {3}, {0, 2}, {0, 2}});
};

/// What heads give, [example, head, position, feature], in the order in which the next product reads it.
constexpr auto joined = [](auto weights, auto values) {
  return plx::transpose(plx::matmul(weights, values), {0, 2, 1, 3});
};

plx::array<float, 4> numbers(std::int64_t examples, std::int64_t positions, std::int64_t heads, int first) {
  auto all = plx::array<float, 4>::uninitialised({examples, positions, heads, 2});
  for (std::int64_t i = 0; i < all.size(); ++i) all.mutable_data()[i] = static_cast<float>((i * 5 + first) % 7 - 3);
  return all;
}

template <class T> plx::array<T, 4> elements(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  auto all = plx::array<T, 4>::uninitialised({a, b, c, d});
  for (std::int64_t i = 0; i < all.size(); ++i) all.mutable_data()[i] = static_cast<T>(static_cast<int>(i * 5 % 7) - 3);
  return all;
}
struct placed_case {
  std::int64_t examples, heads;
  int products, copies; ///< along strides
};
/// What becomes of a call: how often which function is called.
using calls_made = std::map<std::string_view, int>;

/// Joins heads on a device; integers have kernels for products.
template <class T> void check_joined(const placed_case& each, bool has_addresses) {
  constexpr bool is_kernel = std::is_integral_v<T>;
  const auto& [examples, heads, products, copies] = each;
  INFO(examples << " examples of " << heads << " heads");
  simulator::machine machine({.devices = 1, .has_no_addresses = !has_addresses});
  backend::restart({});
  {
    const plx::use_backend here(plx::backend::cuda);
    const auto w = elements<T>(examples, heads, 9, 8), v = elements<T>(examples, heads, 8, 5);
    calls_made counts;
    machine.count_calls(&counts);
    const plx::array<T, 4> found = plx::jit(joined)(w, v);
    machine.count_calls(nullptr);
    const bool lie_apart = examples > 1 && heads > 1;
    const int multiplied = has_addresses ? 1 : products, others = has_addresses ? (lie_apart ? 1 : 0) : copies;
    CHECK(counts["multiply"] == (is_kernel ? 0 : multiplied));
    CHECK(counts["launch"] == others + (is_kernel ? multiplied : 0));
    for (std::int64_t b = 0; b < examples; ++b)
      for (std::int64_t i = 0; i < 9; ++i)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t d = 0; d < 5; ++d) {
            float sum = 0;
            for (std::int64_t k = 0; k < 8; ++k)
              sum += static_cast<float>(w(b, h, i, k)) * static_cast<float>(v(b, h, k, d));
            REQUIRE(static_cast<float>(found(b, i, h, d)) == sum);
          }
  }
  backend::shut_down();
  machine.finish();
}

struct scores_case {
  std::int64_t examples, heads;
  int strided, at_addresses; ///< calls
};
void check_scores(const scores_case& each, bool has_addresses) {
  const auto& [examples, heads, strided, at_addresses] = each;
  INFO(examples << " examples of " << heads << " heads");
  simulator::machine machine({.devices = 1, .has_no_addresses = !has_addresses});
  backend::restart({});
  {
    const plx::use_backend here(plx::backend::cuda);
    const auto q = numbers(examples, 3, heads, 1), k = numbers(examples, 4, heads, 2);
    calls_made counts;
    machine.count_calls(&counts);
    const plx::array<float, 4> s = plx::jit(scores)(q, k);
    machine.count_calls(nullptr);
    CHECK(counts["multiply"] == (has_addresses ? at_addresses : strided));
    bool agree = true;
    for (std::int64_t b = 0; b < examples; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < 3; ++i)
          for (std::int64_t j = 0; j < 4; ++j)
            agree = agree && s(b, h, i, j) == q(b, i, h, 0) * k(b, j, h, 0) + q(b, i, h, 1) * k(b, j, h, 1);
    CHECK(agree);
  }
  backend::shut_down();
  machine.finish();
}

/// Heads that attend to themselves, [example, position, head, feature] there and back.
constexpr auto attended = [](auto x) {
  auto seen = plx::tanh(plx::dot_general(x, x, {{3}, {3}, {0, 2}, {0, 2}}) * 0.25f);
  return plx::transpose(plx::dot_general(seen, x, {{3}, {1}, {0, 1}, {0, 2}}), {0, 2, 1, 3}) * 0.125f + x;
};
/// A loop that a graph decides, and a loop whose rounds follow one another.
constexpr auto attended_often = [](auto x) {
  auto [round, y] = plx::while_loop([](auto state) { return std::get<0>(state) < 3; },
                                    [](auto state) {
                                      auto [r, each] = state;
                                      return std::tuple{r + 1, attended(each)};
                                    },
                                    std::tuple{0, x});
  return plx::fori_loop(0, 2, [](auto, auto each) { return attended(each); }, y);
};
constexpr auto attended_apart = plx::pmap<"i">(attended_often);

template <class Function, class Array> void check_calls_agree(const Function& function, const Array& x, int devices) {
  const auto values_on = [&](plx::backend where) {
    const plx::use_backend here(where);
    const Array y = plx::jit(function)(x);
    return std::vector<float>(y.values().begin(), y.values().end());
  };
  const std::vector<float> expected = values_on(plx::backend::host);
  for (const auto& options : {simulator::machine_options{.devices = devices}, //
                              simulator::machine_options{.devices = devices, .refuses_epilogues = true},
                              simulator::machine_options{.devices = devices, .has_no_addresses = true}}) {
    simulator::machine machine(options);
    backend::restart({});
    for (int call = 0; call < 3; ++call) { // step by step, while it is captured, in a graph
      const std::vector<float> found = values_on(plx::backend::cuda);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(std::abs(found[i] - expected[i]) < 1e-4F);
    }
    backend::shut_down();
    machine.finish();
  }
}

} // namespace

TEST_CASE("a product is written in the order of what alone reads it, where that is no more calls than a copy") {
  for (const bool has_addresses : {false, true})
    for (const placed_case& each :
         {placed_case{1, 4, 1, 0}, placed_case{4, 1, 1, 0}, placed_case{2, 5, 2, 0}, placed_case{3, 4, 1, 1}}) {
      check_joined<float>(each, has_addresses);
      check_joined<double>(each, has_addresses);
      check_joined<plx::float16>(each, has_addresses);
      check_joined<std::int32_t>(each, has_addresses);
    }
}

TEST_CASE("several batch dimensions are one call, or the longest is strided in one") {
  for (const bool has_addresses : {false, true})
    for (const scores_case& each : {scores_case{6, 2, 2, 1}, scores_case{2, 5, 2, 1}, scores_case{3, 3, 3, 1},
                                    scores_case{1, 4, 1, 1}, scores_case{300, 300, 300, 300}})
      check_scores(each, has_addresses);
}

TEST_CASE("matrices lie at addresses in graphs, in loops and on several devices") {
  check_calls_agree(attended_often, numbers(3, 4, 2, 1), 1);
  auto both = plx::array<float, 5>::uninitialised({2, 3, 4, 2, 2});
  for (std::int64_t i = 0; i < both.size(); ++i) both.mutable_data()[i] = static_cast<float>(i * 5 % 7 - 3);
  check_calls_agree(attended_apart, both, 2);
}

} // namespace batches_test
