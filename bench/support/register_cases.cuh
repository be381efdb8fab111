// Cases as benchmarks of Google Benchmark.
#pragma once

#include "gpu_device.cuh"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace bench {

/// Checks a case, and times its first contender: an iteration is one call out of a sample of many. The others' rates,
/// and the limit, stand beside it.
inline void run_case(benchmark::State& state, const gpu_case& measured) {
  try {
    const prepared_case prepared = measured.prepare();
    prepared.check();
    const contender& ours = prepared.contenders.front();
    const int runs = runs_for(measured, ours);
    std::vector<double> samples;
    for (auto _ : state) {
      samples.push_back(sample_seconds(measured, ours, runs));
      state.SetIterationTime(samples.back());
    }
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    state.counters[measured.unit()] = measured.value_of(*middle);
    for (std::size_t i = 1; i < prepared.contenders.size(); ++i)
      state.counters[prepared.contenders[i].name] = measured.value_of(median_seconds(measured, prepared.contenders[i]));
    if (measured.least_seconds > 0) {
      state.counters["limit"] = measured.value_of(measured.least_seconds);
      state.SetLabel("limit: " + measured.limited_by);
    }
  } catch (const std::exception& failure) {
    state.SkipWithError(failure.what());
  }
}

/// Runs Google Benchmark on the cases that `make` gives; the exit status of a program.
template <class Make> int benchmark_main(int argument_count, char** arguments, Make make) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 1;
  std::vector<gpu_case> cases;
  try {
    cases = make();
  } catch (const std::exception& failure) { // no GPU
    std::fprintf(stderr, "%s: %s\n", arguments[0], failure.what());
    return 2;
  }
  const plx::use_backend here(plx::backend::cuda);
  for (const gpu_case& each : cases)
    benchmark::RegisterBenchmark(each.name.c_str(), [&each](benchmark::State& state) { run_case(state, each); })
        ->Iterations(9)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

} // namespace bench
