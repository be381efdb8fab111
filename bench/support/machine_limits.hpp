// What this machine can do at best, measured: the limits that benchmarks are compared with.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

/// As many floats as a vector register of this machine has.
#if defined(__AVX512F__)
using float_vector = float __attribute__((vector_size(64)));
#elif defined(__AVX__)
using float_vector = float __attribute__((vector_size(32)));
#else
using float_vector = float __attribute__((vector_size(16)));
#endif

/// Chains of fused multiply-adds that do not wait for each other, of at least so many floating-point operations;
/// returns their number.
inline double multiply_adds(double operations) {
  constexpr int chains = 12;
  constexpr double in_a_round = 2. * chains * static_cast<double>(sizeof(float_vector) / sizeof(float));
  const auto rounds = static_cast<std::int64_t>(std::ceil(operations / in_a_round));
  float_vector factor = float_vector{} + 0.999f, term = float_vector{} + 0.001f, sum[chains] = {};
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  for (std::int64_t i = 0; i < rounds; ++i)
    for (float_vector& each : sum) each = each * factor + term;
  for (float_vector& each : sum) benchmark::DoNotOptimize(each);
  return in_a_round * static_cast<double>(rounds);
}

/// Single-precision GFLOP/s of `threads` threads at once: the best of several runs.
inline double peak_gflops(int threads) {
  double best = 0;
  for (int repetition = 0; repetition < 9; ++repetition) {
    std::atomic<double> work{0};
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
      others.emplace_back([&work] {
        for (int k = 0; k < 10; ++k) work += multiply_adds(5e7);
      });
    for (int k = 0; k < 10; ++k) work += multiply_adds(5e7);
    for (std::thread& each : others) each.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, work.load() / seconds.count() * 1e-9);
  }
  return best;
}

} // namespace bench
