// Programs that become graphs however few steps they are, on new machines, and their results beside the host's.
#pragma once

#include "cuda/programs/calls.hpp"
#include "cuda/programs/counting_api.hpp"
#include "support/simulator/machine.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace graph_programs {

namespace plx = parallax;

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
inline plx::cuda::backend_options short_graphs() {
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
inline constexpr auto layer = [](auto x, auto w, auto bias, auto factor) {
  auto y = plx::tanh(plx::dot(x, w) + bias);
  auto shifted = plx::exp(y - plx::max(y));
  return std::pair{shifted / plx::sum(shifted) * factor, plx::sum(y)};
};

inline plx::array<float, 2> matrix(std::int64_t rows, std::int64_t columns, int first) {
  auto result = plx::array<float, 2>::uninitialised({rows, columns});
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data()[i] = static_cast<float>((i * 7 + first) % 11) / 8.f - 0.5f;
  return result;
}
inline plx::array<float, 1> row(std::int64_t size, int first) {
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

inline void require_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

} // namespace graph_programs
