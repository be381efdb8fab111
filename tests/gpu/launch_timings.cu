// Measures what launches cost that are made by hand: of kernels, and of graphs of them.
#include "support/gpu_device.cuh"

#include "device_array.cuh"
#include "timing.hpp"

#include <functional>
#include <string>

namespace gpu {
namespace {

constexpr int launches = 500; // fewer than a stream holds, so that no call waits for the device

/// Microseconds of one call, of so many launches: of the host, or until the device has done it.
timing microseconds(const std::string& name, const std::function<void()>& work, int kernels, bool of_host) {
  const int runs = std::max(launches / kernels, 20);
  double best = 1;
  for (int i = 0; i < 9; ++i)
    best = std::min(best, of_host ? bench::host_seconds_of_runs(work, runs) : bench::seconds_of_runs(work, runs));
  return {name + (of_host ? ", host" : ", device"), best / runs * 1e6, "us", {}, ""};
}

} // namespace

std::vector<timing> measure_launches() {
  std::vector<timing> report;
  cudaStream_t on = bench::stream();
  const auto x = bench::uninitialised<float, 1>({32});
  auto tiny = [&] { ok(api::launch(bench::fill_kernel<float>{}, {1, 32, 0}, on, {bench::data_of(x), x.size(), 1})); };
  auto both = [&](const std::string& name, const std::function<void()>& work, int kernels) {
    work();
    report.push_back(microseconds(name, work, kernels, true));
    report.push_back(microseconds(name, work, kernels, false));
  };
  both("launch of a kernel", tiny, 1);
  for (int kernels : {1, 100}) {
    api::graph recorded;
    api::graph_node first{};
    ok(api::begin_capture(on));
    tiny();
    ok(api::last_captured(on, first));
    for (int i = 1; i < kernels; ++i) tiny();
    ok(api::end_capture(on, recorded));
    ok(api::instantiate(recorded));
    const std::string name = "graph of " + std::to_string(kernels) + (kernels > 1 ? " kernels" : " kernel");
    both(name, [&] { ok(api::launch_graph(recorded, on)); }, kernels);
    auto updated = [&] {
      ok(api::update_launch(recorded, first, bench::fill_kernel<float>{}, {1, 32, 0},
                            {bench::data_of(x), x.size(), 1}));
      ok(api::launch_graph(recorded, on));
    };
    both(name + " with an update", updated, kernels);
    ok(api::destroy_graph(recorded));
  }
  return report;
}

} // namespace gpu
