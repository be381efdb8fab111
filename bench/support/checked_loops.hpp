// Arrays of random numbers, and times of what is computed of them, whose results are first compared with double
// precision.
#pragma once

#include "support/random_values.hpp"

#include <parallax/parallax.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

namespace plx = parallax;

inline plx::array<float, 1> random_vector(std::int64_t count, unsigned seed) {
  auto values = random_values(count, seed, 2);
  return {{count}, values};
}
inline plx::array<float, 2> random_matrix(std::int64_t rows, std::int64_t columns) {
  auto values = random_values(rows * columns, 1, 2);
  return {{rows, columns}, values};
}

/// Times `run`, which returns its results, after comparing them with those of `expected(i)`.
template <class Run, class Expected>
void time(benchmark::State& state, std::int64_t elements, std::int64_t bytes, double tolerance, Run run,
          Expected expected) {
  std::span<const float> result = run();
  for (std::size_t i = 0; i < result.size(); i += 1 + result.size() / 1000) {
    double right = expected(i), got = static_cast<double>(result[i]);
    if (!(std::abs(got - right) <= tolerance * (1 + std::abs(right)))) return state.SkipWithError("wrong result");
  }
  for (auto _ : state) benchmark::DoNotOptimize(run().data());
  state.counters["s_per_element"] = benchmark::Counter(static_cast<double>(state.iterations() * elements),
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * bytes);
}

} // namespace bench
