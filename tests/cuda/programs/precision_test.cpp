// Products in TF32 on simulated CUDA devices, which round operands as tensor cores do.
#include "support/simulator/api.hpp"
#include "support/simulator/machine.hpp"
#include "support/simulator/product.hpp"
#include "support/test.hpp"

#include <parallax/parallax.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace precision_test {

namespace {

namespace plx = parallax;
using backend = plx::cuda::backend<simulator::api>;

plx::array<float, 2> scattered(std::int64_t rows, std::int64_t columns, double seed) {
  auto result = plx::array<float, 2>::uninitialised({rows, columns});
  float* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    seed += 0.6180339887498949;
    out[i] = static_cast<float>(seed - std::floor(seed));
  }
  return result;
}

constexpr auto products = [](auto a, auto b) {
  constexpr auto loss = [](auto x, auto y) { return plx::sum(plx::dot(x, y, plx::precision::tf32)); };
  return std::tuple{plx::dot(a, b), plx::dot(a, b, plx::precision::tf32), plx::grad(loss)(a, b)};
};

/// The same with operands that are rounded first.
std::vector<float> rounded_product(const plx::array<float, 2>& a, const plx::array<float, 2>& b) {
  std::vector<float> result;
  for (int i = 0; i < a.shape(0); ++i)
    for (int j = 0; j < b.shape(1); ++j) {
      float sum = 0;
      for (int k = 0; k < a.shape(1); ++k)
        sum += simulator::detail::as_tf32(a(i, k)) * simulator::detail::as_tf32(b(k, j));
      result.push_back(sum);
    }
  return result;
}

} // namespace

TEST_CASE("products round their operands to TF32 where they are asked to, and their derivatives too") {
  const auto a = scattered(6, 20, 0), b = scattered(20, 5, 0.3);
  simulator::machine machine({.devices = 1});
  backend::restart({});
  {
    const plx::use_backend here(plx::backend::cuda);
    const auto [full, fast, slope] = plx::jit(products)(a, b);
    const std::vector<float> rounded = rounded_product(a, b);
    double difference = 0;
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      CHECK(std::abs(fast.values()[i] - rounded[i]) <= 1e-5f);
      difference += std::abs(static_cast<double>(full.values()[i]) - static_cast<double>(fast.values()[i]));
    }
    CHECK(difference > 1e-4);
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < 20; ++k) {
        float sum = 0;
        for (int j = 0; j < 5; ++j) sum += simulator::detail::as_tf32(b(k, j));
        CHECK(std::abs(slope(i, k) - sum) <= 1e-5f);
      }
  }
  backend::shut_down();
  machine.finish();
}

} // namespace precision_test
