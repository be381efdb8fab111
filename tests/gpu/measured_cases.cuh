// The benchmarks' cases (bench/support) without a framework for benchmarks.
#pragma once

#include "support/gpu_timing.cuh"

#include "stage.hpp"

#include <cuda_profiler_api.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace gpu {

/// A line about a case: whose times these are, in microseconds of one call.
inline json_object times_line(const report& to, const bench::gpu_case& of, const std::string& who,
                              const bench::call_times& seconds) {
  return to.line()
      .text("case", of.name)
      .text("who", who)
      .number("minimum_us", seconds.minimum * 1e6)
      .number("median_us", seconds.median * 1e6)
      .number("p90_us", seconds.ninetieth * 1e6)
      .number("samples", static_cast<double>(seconds.samples))
      .text("unit", of.unit())
      .number("value", of.value_of(seconds.median));
}

inline void measure(const bench::gpu_case& each, report& to) {
  const double limit = each.limit();
  const auto show = [&](const std::string& who, const bench::call_times& seconds) {
    std::printf("  %-24s %10.2f %-8s %10.2f us, least %.2f, nine of ten within %.2f\n", who.c_str(),
                each.value_of(seconds.median), each.unit().c_str(), seconds.median * 1e6, seconds.minimum * 1e6,
                seconds.ninetieth * 1e6);
  };
  if (limit > 0) {
    to.write(times_line(to, each, each.limited_by, {limit, limit, limit, 1}));
    show(each.limited_by, {limit, limit, limit, 1});
  }
  if (!each.prepare) return;
  const bench::prepared_case prepared = each.prepare();
  prepared.check();
  const std::vector<bench::call_times> times = times_of(each, prepared.contenders);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string& who = prepared.contenders[i].name;
    json_object line = times_line(to, each, who, times[i]);
    if (i == 0) {
      std::vector<json_object> aims;
      for (const bench::aim& aim : each.aims)
        aims.push_back(json_object().text("of", aim.of).number("at_least", aim.at_least));
      line.list("aims", aims);
      if (prepared.digest) line.number("digest", prepared.digest());
    }
    to.write(line);
    show(who, times[i]);
  }
}

/// Shows a profiler one call of a case, behind a kernel that has as many blocks as the report says.
inline void show_to_profiler(const bench::gpu_case& each, unsigned blocks, report& to) {
  if (!each.prepare) return;
  const bench::contender ours = each.prepare().contenders.front();
  for (int i = 0; i < 3; ++i) ours.enqueue(); // the next one launches what those that follow do
  bench::wait();
  const auto marked = bench::uninitialised<float, 1>({32});
  const auto begin = [&] {
    parallax::cuda::check(bench::api::launch(bench::fill_kernel<float>{}, {blocks, 32, 0}, bench::stream(),
                                             {bench::data_of(marked), marked.size(), 1}));
  };
  to.write(to.line().text("profiled", each.name).number("blocks", blocks));
  bench::require(cudaProfilerStart() == cudaSuccess, "cudaProfilerStart");
  begin();
  ours.enqueue();
  bench::wait();
  bench::require(cudaProfilerStop() == cudaSuccess, "cudaProfilerStop");
}

/// Checks and times cases one after another, and returns how many failed. Each is in the report before the next begins.
inline int measured(const std::vector<bench::gpu_case>& cases, assignment& given) {
  int failed = 0;
  unsigned shown = 0;
  for (const bench::gpu_case& each : cases) {
    if (!given.wants(each.name)) continue;
    std::printf("%s\n", each.name.c_str());
    std::fflush(stdout);
    if (given.list) continue;
    const parallax::use_backend here(parallax::backend::cuda);
    try {
      if (given.profile) show_to_profiler(each, ++shown, given.to);
      else measure(each, given.to);
    } catch (const std::exception& failure) {
      ++failed;
      std::printf("  failed: %s\n", failure.what());
      given.to.write(given.to.line().text("case", each.name).text("who", "parallax").text("failure", failure.what()));
    }
  }
  return failed;
}

} // namespace gpu
