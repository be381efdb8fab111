// Cases as benchmarks of Google Benchmark.
#pragma once

#include "gpu_timing.cuh"

#include <benchmark/benchmark.h>

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
    const std::vector<call_times> times = times_of(measured, prepared.contenders);
    const contender& ours = prepared.contenders.front();
    const sampling how = sampling_for(measured, ours);
    for (auto _ : state) state.SetIterationTime(seconds_of(measured, ours, {how.runs, 1})[0]);
    state.counters[measured.unit()] = measured.value_of(times[0].median);
    for (std::size_t i = 1; i < times.size(); ++i)
      state.counters[prepared.contenders[i].name] = measured.value_of(times[i].median);
    if (const double limit = measured.limit(); limit > 0) {
      state.counters["limit"] = measured.value_of(limit);
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
