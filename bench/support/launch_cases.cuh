// What calls of the driver cost that are made by hand, of which all programs are made: launches, graphs, memory.
#pragma once

#include "gpu_limits.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A graph of what a function enqueues, which is destroyed with this.
class recorded_graph {
 public:
  template <class Enqueue> explicit recorded_graph(const Enqueue& enqueue) {
    plx::cuda::check(api::begin_capture(stream()));
    enqueue();
    plx::cuda::check(api::end_capture(stream(), handle_));
    plx::cuda::check(api::instantiate(handle_));
  }
  recorded_graph(const recorded_graph&) = delete;
  recorded_graph& operator=(const recorded_graph&) = delete;
  ~recorded_graph() { plx::cuda::kept_failure::keep(api::destroy_graph(handle_)); }

  void replay() const { plx::cuda::check(api::launch_graph(handle_, stream())); }
  api::graph get() const { return handle_; }

 private:
  api::graph handle_{};
};

/// A graph of so many kernels that do next to nothing.
class launch_graph {
 public:
  explicit launch_graph(int kernels) {
    launch(); // which loads the kernel
    recorded_.emplace([&] {
      launch();
      plx::cuda::check(api::last_captured(stream(), first_));
      for (int i = 1; i < kernels; ++i) launch();
    });
  }

  /// A kernel by itself, on the stream.
  void launch() const { plx::cuda::check(api::launch(fill_kernel<float>{}, {1, 32, 0}, stream(), arguments())); }
  void replay() const { recorded_->replay(); }
  void update() const {
    plx::cuda::check(api::update_launch(recorded_->get(), first_, fill_kernel<float>{}, {1, 32, 0}, arguments()));
  }

 private:
  fill_kernel<float>::arguments arguments() const { return {data_of(x_), x_.size(), 1}; }

  plx::array<float, 1> x_ = uninitialised<float, 1>({32});
  api::graph_node first_{};
  std::optional<recorded_graph> recorded_;
};

/// Waits for the kernel before it, which it may have been launched ahead of, from sm_90 on. A template, since a kernel
/// in a header cannot be inline.
template <int = 0> __global__ void wait_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Launches a kernel before the one that it waits for has ended.
inline void launch_ahead() {
  cudaLaunchAttribute ahead{};
  ahead.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  ahead.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = {1, 1, 1}, how.blockDim = {32, 1, 1};
  how.stream = stream(), how.attrs = &ahead, how.numAttrs = 1;
  require(cudaLaunchKernelEx(&how, wait_kernel<>) == cudaSuccess, "cudaLaunchKernelEx");
}

/// Each of the host's time, and of the device's.
inline std::vector<gpu_case> launch_cases() {
  std::vector<gpu_case> cases;
  auto add = [&](const std::string& name, int kernels, bool of_device, void (*call)(const launch_graph&)) {
    for (const auto what : {gpu_case::measure::host_time, gpu_case::measure::device_time}) {
      if (what == gpu_case::measure::device_time && !of_device) continue;
      gpu_case& added = cases.emplace_back();
      added.name = name + (what == gpu_case::measure::host_time ? ", host" : ", device");
      added.what = what;
      added.prepare = [=] {
        const auto graph = std::make_shared<launch_graph>(kernels);
        return prepared_case{{{"the driver", [=] { call(*graph); }}}, [] {}, {}};
      };
    }
  };
  add("launch of a kernel", 1, true, [](const launch_graph& g) { g.launch(); });
  for (int kernels : {1, 10, 100, 1000}) {
    const std::string name = "graph of " + std::to_string(kernels);
    add(name, kernels, true, [](const launch_graph& g) { g.replay(); });
    add(name + " with an update", kernels, true, [](const launch_graph& g) { g.update(), g.replay(); });
  }
  for (int kernels : {10, 100, 1000}) {
    gpu_case& added = cases.emplace_back();
    added.name = "graph of " + std::to_string(kernels) + " launched ahead, device";
    added.what = gpu_case::measure::device_time;
    added.prepare = [=] {
      launch_ahead(); // which loads the kernel
      const auto graph = std::make_shared<recorded_graph>([=] {
        for (int i = 0; i < kernels; ++i) launch_ahead();
      });
      return prepared_case{{{"the driver", [=] { graph->replay(); }}}, [] {}, {}};
    };
  }
  add("update of a graph's kernel", 1, false, [](const launch_graph& g) { g.update(); });
  add("allocation and release of 1 MiB", 1, false, [](const launch_graph&) {
    void* memory = nullptr;
    plx::cuda::check(api::allocate(memory, std::size_t{1} << 20, stream()));
    plx::cuda::check(api::release(memory, stream()));
  });
  add("cudaSetDevice", 1, false, [](const launch_graph&) { plx::cuda::check(api::set_device(device().physical)); });
  add("cudaStreamQuery", 1, false, [](const launch_graph&) { static_cast<void>(api::query_stream(stream())); });
  return cases;
}

/// Bytes per second of the device's own filling of 256 MiB.
inline double fill_bandwidth() {
  constexpr std::int64_t count = std::int64_t{1} << 28;
  const auto to = uninitialised<std::uint8_t, 1>({count});
  auto fill = [&] { plx::cuda::check(api::fill_zero(data_of(to), static_cast<std::size_t>(count), stream())); };
  return static_cast<double>(count) / times_of(device_seconds(fill, 5, 20)).median;
}

/// What all other cases are compared with, and what writing alone reaches.
inline std::vector<gpu_case> bandwidth_cases() {
  std::vector<gpu_case> cases;
  auto add = [&](const std::string& name, double bytes, double (*bandwidth)()) {
    gpu_case& added = cases.emplace_back();
    added.name = name, added.work = bytes, added.limited_by = name;
    added.least_seconds = [=] { return bytes / bandwidth(); };
  };
  add("copy bandwidth", 0x1p29, copy_bandwidth);
  add("read bandwidth", 0x1p28, read_bandwidth);
  add("fill bandwidth", 0x1p28, fill_bandwidth);
  return cases;
}

} // namespace bench
