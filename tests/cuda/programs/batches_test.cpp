// Products over several batch dimensions: how many calls of the library they are, and where their results go.
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <map>
#include <string_view>
#include <type_traits>

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
  int products, copies;
};
/// Joins heads on a device; integers have kernels for products.
template <class T> void check_joined(const placed_case& each) {
  constexpr bool is_kernel = std::is_integral_v<T>;
  const auto& [examples, heads, products, copies] = each;
  INFO(examples << " examples of " << heads << " heads");
  simulator::machine machine({.devices = 1});
  backend::restart({});
  {
    const plx::use_backend here(plx::backend::cuda);
    const auto w = elements<T>(examples, heads, 9, 8), v = elements<T>(examples, heads, 8, 5);
    std::map<std::string_view, int> counts;
    machine.count_calls(&counts);
    const plx::array<T, 4> found = plx::jit(joined)(w, v);
    machine.count_calls(nullptr);
    CHECK(counts["multiply"] == (is_kernel ? 0 : products));
    CHECK(counts["launch"] == copies + (is_kernel ? products : 0));
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

} // namespace

TEST_CASE("a product is written in the order of what alone reads it, where that is no more calls than a copy") {
  for (const placed_case& each :
       {placed_case{1, 4, 1, 0}, placed_case{4, 1, 1, 0}, placed_case{2, 5, 2, 0}, placed_case{3, 4, 1, 1}}) {
    check_joined<float>(each);
    check_joined<double>(each);
    check_joined<plx::float16>(each);
    check_joined<std::int32_t>(each);
  }
}

TEST_CASE("of several batch dimensions the longest is strided in one call") {
  struct shape {
    std::int64_t examples, heads;
    int calls;
  };
  for (const auto& [examples, heads, calls] : {shape{6, 2, 2}, shape{2, 5, 2}, shape{3, 3, 3}, shape{1, 4, 1}}) {
    INFO(examples << " examples of " << heads << " heads");
    simulator::machine machine({.devices = 1});
    backend::restart({});
    {
      const plx::use_backend here(plx::backend::cuda);
      const auto q = numbers(examples, 3, heads, 1), k = numbers(examples, 4, heads, 2);
      std::map<std::string_view, int> counts;
      machine.count_calls(&counts);
      const plx::array<float, 4> s = plx::jit(scores)(q, k);
      machine.count_calls(nullptr);
      CHECK(counts["multiply"] == calls);
      for (std::int64_t b = 0; b < examples; ++b)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < 4; ++j)
              REQUIRE(s(b, h, i, j) == q(b, i, h, 0) * k(b, j, h, 0) + q(b, i, h, 1) * k(b, j, h, 1));
    }
    backend::shut_down();
    machine.finish();
  }
}

} // namespace batches_test
