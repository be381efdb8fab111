// Products over several batch dimensions: how many calls of the library they are.
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "test.hpp"

#include <parallax/parallax.hpp>

#include <cstdint>
#include <map>
#include <string_view>

namespace batches_test {

namespace plx = parallax;

namespace {

using backend = plx::cuda::backend<simulator::api>;

/// Scores of attention: [example, position, head, feature] each, without a copy that brings heads before positions.
constexpr auto scores = [](auto queries, auto keys) {
  return plx::dot_general(queries, keys, {{3}, {3}, {0, 2}, {0, 2}});
};

plx::array<float, 4> numbers(std::int64_t examples, std::int64_t positions, std::int64_t heads, int first) {
  auto all = plx::array<float, 4>::uninitialised({examples, positions, heads, 2});
  for (std::int64_t i = 0; i < all.size(); ++i) all.mutable_data()[i] = static_cast<float>((i * 5 + first) % 7 - 3);
  return all;
}

} // namespace

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
